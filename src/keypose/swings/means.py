"""Mean rotations."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.rotations import normalise, sign_continuous


def mean_of(rotations: Floats) -> Floats:
    """The mean (..., 4) of rotations (N, ..., 4) in a row: that of their quaternions, of length 1.

    Each counts on the side of the one before it, so that of a turn by more than half a circle it is the middle.
    """
    total = sign_continuous(rotations).sum(axis=0)
    none = np.linalg.norm(total, axis=-1, keepdims=True) < 1e-9 * len(rotations)  # whole turns: they cancel out
    return normalise(np.where(none, rotations[len(rotations) // 2], total))


def means_of(rotations: Floats, joints: Ints, starts: Ints, ends: Ints) -> Floats:
    """The same (R, 4) of some ``joints`` (R,) of rotations (T, J, 4) from frames ``starts`` to ``ends`` (R,)."""
    if not len(starts):
        return np.zeros((0, 4))
    lasts = ends - starts + 1
    before = np.cumsum(lasts) - lasts
    some = rotations[np.arange(lasts.sum()) + np.repeat(starts - before, lasts), np.repeat(joints, lasts)]
    flips = np.zeros(len(some), int)
    flips[1:] = np.einsum("nk,nk->n", some[1:], some[:-1]) < 0
    flips[before] = 0  # each span begins on its own side
    turned = np.cumsum(flips)
    some[(turned - np.repeat(turned[before], lasts)) % 2 == 1] *= -1.0
    return normalise(np.add.reduceat(some, before))
