"""Covariance windows: how the joints of one part of the body move together within a second, and within four.

Each window is the covariance of the joints' places and speeds and of the hips' travel; matrices like these are compared
by their logarithms (Arsigny et al. 2006), here as vectors whose Euclidean distance is that of the logarithms. Arms and
legs are seen apart: who kicks, kicks, whatever the arms do.
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
LEAST_VARIANCE = 0.01  # square metres: what varies less counts as still
BLOCK_WINDOWS = 128  # made together: 20 MB


class Scale(NamedTuple):
    """How long windows are, and how long after one the next starts."""

    window_frames: int
    hop_frames: int


class Kind(NamedTuple):
    """What a descriptor sees: which joints, and how long."""

    joints: Ints
    scale: Scale


def _both(*limbs: str) -> list[int]:
    return [INDEX[f"{side}_{limb}"] for side in ("left", "right") for limb in limbs]


UPPER = np.array([INDEX["head"], *_both("forearm", "hand")])
LOWER = np.array(_both("shin", "foot"))
WHOLE = np.concatenate((UPPER, LOWER))
SECOND = Scale(round(1.0 * FPS), round(0.5 * FPS))
FOUR_SECONDS = Scale(round(4.0 * FPS), round(1.0 * FPS))
KINDS = {  # by the descriptor's name
    "upper_1s": Kind(UPPER, SECOND),
    "lower_1s": Kind(LOWER, SECOND),
    "upper_4s": Kind(UPPER, FOUR_SECONDS),
    "lower_4s": Kind(LOWER, FOUR_SECONDS),
}


def starts(n_frames: int, scale: Scale) -> Ints:
    """Where windows start, (W,): the last one ends with the clip, a clip of less than a window is one."""
    last = max(n_frames - scale.window_frames, 0)
    return np.unique(np.append(np.arange(0, last + 1, scale.hop_frames), last)).astype(np.int32)


def covariance_windows(body: Posture, kind: Kind) -> Floats:
    """(W, S): the logarithm of each window's covariance, its upper triangle."""
    frames = frame_numbers(body, kind.joints)
    at = starts(len(frames), kind.scale)
    length = min(kind.scale.window_frames, len(frames))
    blocks = []
    for first in range(0, len(at), BLOCK_WINDOWS):
        some = frames[at[first : first + BLOCK_WINDOWS, None] + np.arange(length)]
        blocks.append(log_covariances(some))
    return np.concatenate(blocks)


def frame_numbers(body: Posture, joints: Ints) -> Floats:
    """(T, N): places and speeds of ``joints`` and the travel of each frame, weighted."""
    t = len(body.positions)
    places, speeds = body.positions[:, joints].reshape(t, -1), body.velocities[:, joints].reshape(t, -1)
    travel = np.column_stack((body.travel, body.turning))
    return np.concatenate((places, VELOCITY_WEIGHT * speeds, TRAVEL_WEIGHT * travel), axis=1)


def log_covariances(windows: Floats) -> Floats:
    """(W, S) of windows (W, T, N): the logarithm of each one's covariance as a vector of the same length."""
    off = windows - windows.mean(axis=1, keepdims=True)
    n = windows.shape[2]
    values, axes = np.linalg.eigh(off.transpose(0, 2, 1) @ off / windows.shape[1] + LEAST_VARIANCE * np.eye(n))
    matrices = (axes * np.log(np.maximum(values, LEAST_VARIANCE))[:, None, :]) @ axes.transpose(0, 2, 1)
    rows, columns = np.triu_indices(n)
    vectors: Floats = matrices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    return vectors


def mirrored(vectors: Floats, joints: Ints) -> Floats:
    """The vectors (..., S) of the same windows seen in a mirror; ``joints`` are the same on either side."""
    places, signs = mirror(tuple(joints.tolist()))
    return vectors[..., places] * signs


@cache
def mirror(joints: tuple[int, ...]) -> tuple[Ints, Floats]:
    """Where each number of a vector comes from in a mirror, and with which sign."""
    partner = np.array([joints.index(PARTNERS[joint]) for joint in joints])
    places = (3 * partner[:, None] + np.arange(3)).ravel()
    of_frame = np.concatenate((places, len(places) + places, 2 * len(places) + np.arange(4)))
    signs = np.concatenate((np.tile((-1.0, 1.0, 1.0), 2 * len(joints) + 1), (-1.0,)))
    rows, columns = np.triu_indices(len(signs))
    place_of = np.zeros((len(signs), len(signs)), np.int32)
    place_of[rows, columns] = place_of[columns, rows] = np.arange(len(rows))
    return place_of[of_frame[rows], of_frame[columns]], signs[rows] * signs[columns]
