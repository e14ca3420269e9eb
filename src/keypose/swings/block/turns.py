"""Rotations at many keys in as few numbers as they need.

Fingers and toes mostly turn about one axis, hands about two: one or two angles for each key then say everything, where
a free rotation takes three. Which axes these are shows in the rotations themselves: with ``R = exp(a u) B exp(b v)``
the number ``u . R v`` is the same for all ``R``, so the products of the components of ``u`` and ``v`` are the null
space of the table of all ``R``. What is found counts only if it gives every rotation back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate, to_matrix

Floats32 = NDArray[np.float32]

ACCURACY_RAD = 1e-6  # rotations come back as near as this
FREE = 3  # the number of angles of a rotation that is not bound to axes
LOOKED_AT = 512  # rotations that axes are found from: all are tried on them


def n_numbers(angles: int, keys: int) -> int:
    """How many numbers it takes: a fixed rotation, axes, and angles for each key."""
    return 3 * keys if angles == FREE else 3 + 3 * angles + angles * keys


def folded(rotations: Floats) -> tuple[int, Floats32]:
    """How many angles (0 to 3) rotations (K, 4) have, and the fewest numbers that give them back."""
    keys = len(rotations)
    for angles, find in enumerate((_still, _one_axis, two_axes)):
        if n_numbers(angles, keys) < n_numbers(FREE, keys) or not angles:
            found: Floats32 = find(rotations).astype(np.float32)
            if angle_between(unfolded(angles, found.astype(np.float64), keys), rotations).max() <= ACCURACY_RAD:
                return angles, found
    return FREE, log(rotations).astype(np.float32).ravel()


def unfolded(angles: int, numbers: Floats, keys: int) -> Floats:
    """The rotations (K, 4) of these numbers."""
    if angles == FREE:
        return exp(numbers.reshape(keys, 3))
    base, axes = exp(numbers[:3]), numbers[3 : 3 + 3 * angles].reshape(angles, 3)
    if angles == 0:
        return np.tile(base, (keys, 1))
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0, lengths, 1.0)
    turns = numbers[3 + 3 * angles :].reshape(keys, angles)
    after = exp(turns[:, -1:] * axes[-1])
    if angles == 1:
        return normalise(multiply(base, after))
    return normalise(multiply(exp(turns[:, :1] * axes[0]), multiply(base, after)))


def _still(rotations: Floats) -> Floats:
    return log(rotations[0])


def _one_axis(rotations: Floats) -> Floats:
    """Base, axis, angles: ``R = B exp(a v)``."""
    turns = log(multiply(conjugate(rotations[:1]), rotations))
    axis = np.linalg.svd(some_of(turns), full_matrices=False)[2][0]
    return np.concatenate((log(rotations[0]), axis, turns @ axis))


def two_axes(rotations: Floats) -> Floats:
    """Base, two axes, pairs of angles: ``R = exp(a u) B exp(b v)``."""
    some = to_matrix(some_of(rotations)).reshape(-1, 9)
    null = np.linalg.svd(np.column_stack((some, np.ones(len(some)))), full_matrices=False)[2][-1]  # 10 rows or more
    u, _, v = np.linalg.svd(null[:9].reshape(3, 3))
    first, second = u[:, 0], v[0]
    base = rotations[0]
    swung = rotate(rotations, np.broadcast_to(second, (len(rotations), 3)))
    back = rotate(conjugate(rotations), np.broadcast_to(first, (len(rotations), 3)))
    pairs = np.stack((angles_about(first, swung[:1], swung), angles_about(second, back, back[:1])), axis=1)
    return np.concatenate((log(base), first, second, pairs.ravel()))


def angles_about(axis: Floats, before: Floats, after: Floats) -> Floats:
    """Angles (K,) about ``axis`` from ``before`` to ``after``, (K, 3) or one for all."""
    ahead, side = before - (before @ axis)[:, None] * axis, np.cross(axis, before)
    return np.asarray(np.arctan2(np.sum(after * side, axis=1), np.sum(after * ahead, axis=1)))


def some_of(rows: Floats) -> Floats:
    """Rows of the whole, evenly chosen."""
    return np.asarray(rows[np.linspace(0, len(rows) - 1, min(len(rows), LOOKED_AT)).astype(int)])
