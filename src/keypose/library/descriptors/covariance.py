"""Covariance windows: how the joints of one body region move together within one second, and within four.

Each window is the covariance of joint positions and velocities and of the travel of the hips; such matrices are
compared by their logarithms (Arsigny et al. 2006), here as vectors whose Euclidean distance is that of the logarithms.
Arms and legs are described separately: a kick is a kick, whatever the arms do.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.library.canonical import FPS, INDEX, PARTNERS
from keypose.library.descriptors.posture import Posture

VELOCITY_WEIGHT = 0.2
TRAVEL_WEIGHT = 0.3
MIN_VARIANCE = 0.01  # square metres: less counts as still
BLOCK_WINDOWS = 128  # computed together: 20 MB


class Scale(NamedTuple):
    """Length of windows, and distance between their starts."""

    window_frames: int
    hop_frames: int


class Kind(NamedTuple):
    """The joints and the time scale of a descriptor."""

    joints: Ints
    scale: Scale


def _both_sides(*limbs: str) -> list[int]:
    return [INDEX[f"{side}_{limb}"] for side in ("left", "right") for limb in limbs]


UPPER = np.array([INDEX["head"], *_both_sides("forearm", "hand")])
LOWER = np.array(_both_sides("shin", "foot"))
WHOLE = np.concatenate((UPPER, LOWER))
SECOND = Scale(round(1.0 * FPS), round(0.5 * FPS))
FOUR_SECONDS = Scale(round(4.0 * FPS), round(1.0 * FPS))
KINDS = {  # by descriptor
    "upper_1s": Kind(UPPER, SECOND),
    "lower_1s": Kind(LOWER, SECOND),
    "upper_4s": Kind(UPPER, FOUR_SECONDS),
    "lower_4s": Kind(LOWER, FOUR_SECONDS),
}


def window_starts(n_frames: int, scale: Scale) -> Ints:
    """Return the first frames of windows, (W,): the last one ends with the clip, a short clip is one window."""
    last = max(n_frames - scale.window_frames, 0)
    return np.unique(np.append(np.arange(0, last + 1, scale.hop_frames), last)).astype(np.int32)


def covariance_windows(body: Posture, kind: Kind) -> Floats:
    """Return (W, S): the upper triangle of the logarithm of each window's covariance."""
    frames = frame_features(body, kind.joints)
    firsts = window_starts(len(frames), kind.scale)
    length = min(kind.scale.window_frames, len(frames))
    blocks = []
    for first in range(0, len(firsts), BLOCK_WINDOWS):
        windows = frames[firsts[first : first + BLOCK_WINDOWS, None] + np.arange(length)]
        blocks.append(log_covariances(windows))
    return np.concatenate(blocks)


def frame_features(body: Posture, joints: Ints) -> Floats:
    """Return (T, N): weighted positions and velocities of ``joints`` and the travel of each frame."""
    t = len(body.positions)
    positions, velocities = body.positions[:, joints].reshape(t, -1), body.velocities[:, joints].reshape(t, -1)
    travel = np.column_stack((body.travel, body.turning))
    return np.concatenate((positions, VELOCITY_WEIGHT * velocities, TRAVEL_WEIGHT * travel), axis=1)


def log_covariances(windows: Floats) -> Floats:
    """Return (W, S) for windows (W, T, N): the logarithm of each covariance as a vector of the same norm."""
    offsets = windows - windows.mean(axis=1, keepdims=True)
    n = windows.shape[2]
    values, axes = np.linalg.eigh(offsets.transpose(0, 2, 1) @ offsets / windows.shape[1] + MIN_VARIANCE * np.eye(n))
    matrices = (axes * np.log(np.maximum(values, MIN_VARIANCE))[:, None, :]) @ axes.transpose(0, 2, 1)
    rows, columns = np.triu_indices(n)
    vectors: Floats = matrices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    return vectors


def mirror_vectors(vectors: Floats, joints: Ints) -> Floats:
    """Return the vectors (..., S) of the mirrored windows; ``joints`` must contain both sides."""
    indices, signs = mirror_permutation(tuple(joints.tolist()))
    return vectors[..., indices] * signs


@cache
def mirror_permutation(joints: tuple[int, ...]) -> tuple[Ints, Floats]:
    """Return the source index and the sign of each number of a vector in the mirror image."""
    partner = np.array([joints.index(PARTNERS[joint]) for joint in joints])
    indices = (3 * partner[:, None] + np.arange(3)).ravel()
    frame_indices = np.concatenate((indices, len(indices) + indices, 2 * len(indices) + np.arange(4)))
    signs = np.concatenate((np.tile((-1.0, 1.0, 1.0), 2 * len(joints) + 1), (-1.0,)))
    rows, columns = np.triu_indices(len(signs))
    index_of = np.zeros((len(signs), len(signs)), np.int32)
    index_of[rows, columns] = index_of[columns, rows] = np.arange(len(rows))
    return index_of[frame_indices[rows], frame_indices[columns]], signs[rows] * signs[columns]
