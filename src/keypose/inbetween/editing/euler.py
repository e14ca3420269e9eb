"""Euler angles that change together with a turn: the nearest ones of a quaternion, and their slopes.

A joint's turn is ``q = q_a(x) q_b(y) q_c(z)``. In the joint's own frame it spins at ``w = M (x', y', z')``, where the
columns of ``M`` are the three axes as seen after the turns that follow them. That gives the slope of the quaternion,
``q' = q w / 2``, and back: the slopes of the angles from that of the quaternion.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import AXES, angle_between, conjugate, from_euler, multiply, rotate, to_euler, unwrap_euler

LOCK_COSINE = 1e-6  # of the middle angle: below it only a sum of the outer angles is determined
WEAK_COSINE = 0.05  # below it slopes are damped, since the outer angles would spin ever faster


def quaternion_slopes(angles: Floats, slopes: Floats, order: str) -> Floats:
    """Slopes (..., 4) of the quaternion of ``angles`` (..., 3) that change by ``slopes`` (..., 3)."""
    spin = np.einsum("...ij,...j->...i", _spin_per_slope(angles, order), slopes)
    return np.asarray(0.5 * multiply(from_euler(angles, order), _pure(spin)))


def angle_slopes(angles: Floats, quaternion_slope: Floats, order: str) -> Floats:
    """Slopes (..., 3) of ``angles`` (..., 3) whose quaternion changes by ``quaternion_slope`` (..., 4).

    Near the gimbal lock, where no finite slopes do, those of damped least squares.
    """
    spin = 2.0 * multiply(conjugate(from_euler(angles, order)), quaternion_slope)[..., 1:]
    m = _spin_per_slope(angles, order)
    weak = 1.0 - np.minimum(1.0, np.abs(np.cos(angles[..., 1])) / WEAK_COSINE) ** 2
    damped = np.swapaxes(m, -1, -2) @ m + (WEAK_COSINE**2 * weak)[..., None, None] * np.eye(3)
    slopes = np.linalg.solve(damped, np.swapaxes(m, -1, -2) @ spin[..., None])
    return np.asarray(slopes[..., 0])


def nearest_angles(q: Floats, order: str, near: Floats) -> Floats:
    """The Euler angles (N, 3) of ``q`` (N, 4) that are nearest to ``near`` (N, 3)."""
    found: Floats = unwrap_euler(np.stack((near, to_euler(q, order))))[1]
    for n in np.flatnonzero(np.abs(np.cos(found[:, 1])) < LOCK_COSINE).tolist():
        found[n] = _nearest_at_lock(q[n], order, found[n], near[n])
    return found


def _nearest_at_lock(q: Floats, order: str, angles: Floats, near: Floats) -> Floats:
    """``angles`` (3,) at the gimbal lock with what the outer two share divided so that they are nearest to ``near``."""
    best = angles
    for sign in (1.0, -1.0):
        along = np.array((1.0, 0.0, sign))
        tried = angles + along * ((near - angles) @ along) / 2.0
        same_turn = angle_between(from_euler(tried, order), q) < 1e-5
        if same_turn and np.linalg.norm(tried - near) < np.linalg.norm(best - near):
            best = tried
    return best


def _spin_per_slope(angles: Floats, order: str) -> Floats:
    """M (..., 3, 3): how a joint spins in its own frame for slopes of its angles."""
    first, middle, last = (np.eye(3)[AXES.index(axis)] for axis in order)
    after_middle = conjugate(from_euler(angles[..., 2:], order[2]))
    after_first = multiply(after_middle, conjugate(from_euler(angles[..., 1:2], order[1])))
    shape = (*angles.shape[:-1], 3)
    columns = (
        rotate(after_first, np.broadcast_to(first, shape)),
        rotate(after_middle, np.broadcast_to(middle, shape)),
        np.broadcast_to(last, shape),
    )
    return np.stack(columns, axis=-1)


def _pure(v: Floats) -> Floats:
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)
