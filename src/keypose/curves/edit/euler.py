"""Euler angles and quaternions: the nearest angles of a quaternion, and tangents of one from those of the other.

A joint's rotation is ``q = q_a(x) q_b(y) q_c(z)``. Its angular velocity in the joint's own frame is
``w = M (x', y', z')``, where the columns of ``M`` are the three axes after the rotations that follow them.
That gives the tangent of the quaternion, ``q' = q w / 2``, and, inverted, the tangents of the angles.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import AXES, angle_between, conjugate, from_euler, multiply, rotate, to_euler, unwrap_euler

LOCK_COSINE = 1e-6  # of the middle angle: below it only a sum of the outer angles is determined
WEAK_COSINE = 0.05  # below it tangents are damped, since the outer angles would spin ever faster


def quaternion_tangents(angles: Floats, tangents: Floats, order: str) -> Floats:
    """Return the tangents (..., 4) of the quaternion of ``angles`` (..., 3) with ``tangents`` (..., 3)."""
    spin = np.einsum("...ij,...j->...i", _angular_velocity_matrix(angles, order), tangents)
    return np.asarray(0.5 * multiply(from_euler(angles, order), _pure_quaternion(spin)))


def angle_tangents(angles: Floats, quaternion_tangent: Floats, order: str) -> Floats:
    """Return the tangents (..., 3) of ``angles`` (..., 3) whose quaternion has ``quaternion_tangent`` (..., 4).

    Near gimbal lock, where no finite tangents exist, those of damped least squares.
    """
    spin = 2.0 * multiply(conjugate(from_euler(angles, order)), quaternion_tangent)[..., 1:]
    m = _angular_velocity_matrix(angles, order)
    weak = 1.0 - np.minimum(1.0, np.abs(np.cos(angles[..., 1])) / WEAK_COSINE) ** 2
    damped = np.swapaxes(m, -1, -2) @ m + (WEAK_COSINE**2 * weak)[..., None, None] * np.eye(3)
    tangents = np.linalg.solve(damped, np.swapaxes(m, -1, -2) @ spin[..., None])
    return np.asarray(tangents[..., 0])


def nearest_angles(q: Floats, order: str, near: Floats) -> Floats:
    """Return the Euler angles (N, 3) of ``q`` (N, 4) that are nearest to ``near`` (N, 3)."""
    angles: Floats = unwrap_euler(np.stack((near, to_euler(q, order))))[1]
    for n in np.flatnonzero(np.abs(np.cos(angles[:, 1])) < LOCK_COSINE).tolist():
        angles[n] = _nearest_at_lock(q[n], order, angles[n], near[n])
    return angles


def _nearest_at_lock(q: Floats, order: str, angles: Floats, near: Floats) -> Floats:
    """Return ``angles`` (3,) at gimbal lock, the sum of the outer two divided so that they are nearest to ``near``."""
    best = angles
    for sign in (1.0, -1.0):
        along = np.array((1.0, 0.0, sign))
        candidate = angles + along * ((near - angles) @ along) / 2.0
        same_turn = angle_between(from_euler(candidate, order), q) < 1e-5
        if same_turn and np.linalg.norm(candidate - near) < np.linalg.norm(best - near):
            best = candidate
    return best


def _angular_velocity_matrix(angles: Floats, order: str) -> Floats:
    """Return M (..., 3, 3), which maps tangents of the angles to the angular velocity in the joint's own frame."""
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


def _pure_quaternion(v: Floats) -> Floats:
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)
