"""Covariance windows: how the limbs move together within one second, and within four.

Each window is the covariance of nine joints' places and speeds and of the hips' travel; matrices like these are
compared by their logarithms (Arsigny et al. 2006), here as vectors whose Euclidean distance is that of the logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.library.canonical import FPS, INDEX, PARTNERS
from keypose.library.descriptors.posture import Posture


class Scale(NamedTuple):
    """How long windows are, and how long after one the next starts."""

    window_frames: int
    hop_frames: int


SCALES = {  # by the descriptor's name
    "covariance_1s": Scale(round(1.0 * FPS), round(0.5 * FPS)),
    "covariance_4s": Scale(round(4.0 * FPS), round(1.0 * FPS)),
}
LIMB_JOINTS = ("forearm", "hand", "shin", "foot")
SEEN = np.array([INDEX["head"], *(INDEX[f"{side}_{at}"] for side in ("left", "right") for at in LIMB_JOINTS)])
VELOCITY_WEIGHT = 0.2
TRAVEL_WEIGHT = 0.3
LEAST_VARIANCE = 0.01  # square metres: what varies less counts as still
BLOCK_WINDOWS = 128  # made together: 20 MB

N_NUMBERS = 6 * len(SEEN) + 4  # of a frame
_UPPER = np.triu_indices(N_NUMBERS)
_ROOT_TWO = np.where(_UPPER[0] == _UPPER[1], 1.0, np.sqrt(2.0))  # so that lengths of vectors are those of matrices
SIZE = len(_ROOT_TWO)


def starts(n_frames: int, scale: Scale) -> Ints:
    """Where windows start, (W,): the last one ends with the clip, a clip of less than a window is one."""
    last = max(n_frames - scale.window_frames, 0)
    return np.unique(np.append(np.arange(0, last + 1, scale.hop_frames), last)).astype(np.int32)


def covariance_windows(frames: Floats, scale: Scale) -> Floats:
    """(W, SIZE) of ``frame_numbers`` (T, N): the logarithm of each window's covariance, its upper triangle."""
    at = starts(len(frames), scale)
    length = min(scale.window_frames, len(frames))
    blocks = []
    for first in range(0, len(at), BLOCK_WINDOWS):
        some = frames[at[first : first + BLOCK_WINDOWS, None] + np.arange(length)]
        off = some - some.mean(axis=1, keepdims=True)
        blocks.append(logarithms(off.transpose(0, 2, 1) @ off / length))
    return np.concatenate(blocks)


def frame_numbers(body: Posture) -> Floats:
    """(T, N_NUMBERS): places, speeds and travel of each frame, weighted."""
    t = len(body.positions)
    places, speeds = body.positions[:, SEEN].reshape(t, -1), body.velocities[:, SEEN].reshape(t, -1)
    travel = np.column_stack((body.travel, body.turning))
    return np.concatenate((places, VELOCITY_WEIGHT * speeds, TRAVEL_WEIGHT * travel), axis=1)


def mirrored(vectors: Floats) -> Floats:
    """The vectors (..., SIZE) of the same windows seen in a mirror."""
    return vectors[..., _MIRROR_PLACES] * _MIRROR_SIGNS


def logarithms(covariances: Floats) -> Floats:
    """(W, SIZE) of covariance matrices (W, N_NUMBERS, N_NUMBERS)."""
    values, axes = np.linalg.eigh(covariances + LEAST_VARIANCE * np.eye(N_NUMBERS))
    matrices = (axes * np.log(np.maximum(values, LEAST_VARIANCE))[:, None, :]) @ axes.transpose(0, 2, 1)
    vectors: Floats = matrices[:, _UPPER[0], _UPPER[1]] * _ROOT_TWO
    return vectors


def _mirror() -> tuple[Ints, Floats]:
    """Where each number of a vector comes from in a mirror, and with which sign."""
    partner = [list(SEEN).index(PARTNERS[joint]) for joint in SEEN]
    places = (3 * np.array(partner)[:, None] + np.arange(3)).ravel()
    of_frame = np.concatenate((places, len(places) + places, 2 * len(places) + np.arange(4)))
    signs = np.concatenate((np.tile((-1.0, 1.0, 1.0), 2 * len(SEEN) + 1), (-1.0,)))
    place_of = np.zeros((N_NUMBERS, N_NUMBERS), np.int32)
    place_of[_UPPER] = np.arange(SIZE)
    place_of = np.maximum(place_of, place_of.T)
    rows, columns = _UPPER
    return place_of[of_frame[rows], of_frame[columns]], signs[rows] * signs[columns]


_MIRROR_PLACES, _MIRROR_SIGNS = _mirror()
