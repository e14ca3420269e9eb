"""Mean rotations."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.rotations import align_signs, normalise


def mean_rotation(rotations: Floats) -> Floats:
    """Return the mean (..., 4) of successive rotations (N, ..., 4): the normalised mean of their quaternions.

    Each has the sign nearest to the one before it, so that the mean of a rotation by more than half a turn is its
    middle.
    """
    total = align_signs(rotations).sum(axis=0)
    is_zero = np.linalg.norm(total, axis=-1, keepdims=True) < 1e-9 * len(rotations)  # full turns: they cancel out
    return normalise(np.where(is_zero, rotations[len(rotations) // 2], total))


def span_mean_rotations(rotations: Floats, joints: Ints, starts: Ints, ends: Ints) -> Floats:
    """Return the means (R, 4) of ``joints`` (R,) of rotations (T, J, 4) from frames ``starts`` to ``ends`` (R,)."""
    if not len(starts):
        return np.zeros((0, 4))
    lengths = ends - starts + 1
    offsets = np.cumsum(lengths) - lengths
    spans = rotations[np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths), np.repeat(joints, lengths)]
    flips = np.zeros(len(spans), int)
    flips[1:] = np.einsum("nk,nk->n", spans[1:], spans[:-1]) < 0
    flips[offsets] = 0  # each span starts with its own sign
    flip_counts = np.cumsum(flips)
    spans[(flip_counts - np.repeat(flip_counts[offsets], lengths)) % 2 == 1] *= -1.0
    return normalise(np.add.reduceat(spans, offsets))
