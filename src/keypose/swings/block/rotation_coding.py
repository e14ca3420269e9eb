"""Code rotations at many keys in as few numbers as possible.

Fingers and toes mostly rotate about one axis, hands about two: one or two angles for each key then suffice, where a
free rotation takes three. The axes follow from the rotations: with ``R = exp(a u) B exp(b v)`` the number ``u . R v``
is the same for all ``R``, so the products of the components of ``u`` and ``v`` are the null space of the table of all
``R``. A result is used only if it reproduces every rotation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate, to_matrix

Floats32 = NDArray[np.float32]

ACCURACY_RAD = 1e-6  # of restored rotations
FREE = 3  # the number of angles of a rotation that is not bound to axes
MAX_SAMPLES = 512  # from which axes are found; all rotations are checked


def count_numbers(angles: int, keys: int) -> int:
    """Return the number of stored numbers: a fixed rotation, axes, and angles for each key."""
    return 3 * keys if angles == FREE else 3 + 3 * angles + angles * keys


def encode_rotations(rotations: Floats) -> tuple[int, Floats32]:
    """Return the number of angles (0 to 3) of rotations (K, 4), and the fewest numbers that restore them."""
    keys = len(rotations)
    for angles, find in enumerate((_fit_constant, _fit_one_axis, fit_two_axes)):
        if count_numbers(angles, keys) < count_numbers(FREE, keys) or not angles:
            numbers: Floats32 = find(rotations).astype(np.float32)
            if (
                angle_between(decode_rotations(angles, numbers.astype(np.float64), keys), rotations).max()
                <= ACCURACY_RAD
            ):
                return angles, numbers
    return FREE, log(rotations).astype(np.float32).ravel()


def decode_rotations(angles: int, numbers: Floats, keys: int) -> Floats:
    """Return the rotations (K, 4) of coded numbers."""
    if angles == FREE:
        return exp(numbers.reshape(keys, 3))
    base, axes = exp(numbers[:3]), numbers[3 : 3 + 3 * angles].reshape(angles, 3)
    if angles == 0:
        return np.tile(base, (keys, 1))
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0, lengths, 1.0)
    key_angles = numbers[3 + 3 * angles :].reshape(keys, angles)
    after = exp(key_angles[:, -1:] * axes[-1])
    if angles == 1:
        return normalise(multiply(base, after))
    return normalise(multiply(exp(key_angles[:, :1] * axes[0]), multiply(base, after)))


def _fit_constant(rotations: Floats) -> Floats:
    return log(rotations[0])


def _fit_one_axis(rotations: Floats) -> Floats:
    """Return base, axis, angles: ``R = B exp(a v)``."""
    rotation_vectors = log(multiply(conjugate(rotations[:1]), rotations))
    axis = np.linalg.svd(sample_rows(rotation_vectors), full_matrices=False)[2][0]
    return np.concatenate((log(rotations[0]), axis, rotation_vectors @ axis))


def fit_two_axes(rotations: Floats) -> Floats:
    """Return base, two axes, pairs of angles: ``R = exp(a u) B exp(b v)``."""
    matrices = to_matrix(sample_rows(rotations)).reshape(-1, 9)
    null = np.linalg.svd(np.column_stack((matrices, np.ones(len(matrices)))), full_matrices=False)[2][
        -1
    ]  # 10 rows or more
    u, _, v = np.linalg.svd(null[:9].reshape(3, 3))
    first, second = u[:, 0], v[0]
    base = rotations[0]
    rotated = rotate(rotations, np.broadcast_to(second, (len(rotations), 3)))
    back = rotate(conjugate(rotations), np.broadcast_to(first, (len(rotations), 3)))
    pairs = np.stack((angles_about(first, rotated[:1], rotated), angles_about(second, back, back[:1])), axis=1)
    return np.concatenate((log(base), first, second, pairs.ravel()))


def angles_about(axis: Floats, before: Floats, after: Floats) -> Floats:
    """Return angles (K,) about ``axis`` from ``before`` to ``after``, (K, 3) or one for all."""
    ahead, side = before - (before @ axis)[:, None] * axis, np.cross(axis, before)
    return np.asarray(np.arctan2(np.sum(after * side, axis=1), np.sum(after * ahead, axis=1)))


def sample_rows(rows: Floats) -> Floats:
    """Return up to ``MAX_SAMPLES`` evenly spaced rows."""
    return np.asarray(rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_SAMPLES)).astype(int)])
