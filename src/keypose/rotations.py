"""Pure functions on arrays of unit quaternions wxyz, which are the last axis.

Euler angles are in radians here and intrinsic: order ``"ZYX"`` means ``q = qz * qy * qx``, the rotation that a BVH file
with channels ``Zrotation Yrotation Xrotation`` describes. Arguments and results of every function are arrays with any
number of leading axes.
"""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import Floats

AXES = "XYZ"
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
IDENTITY: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


def multiply(a: Floats, b: Floats) -> Floats:
    """Return ``a * b``: rotate by ``b`` first, then by ``a``."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def conjugate(q: Floats) -> Floats:
    """Return the inverse rotation."""
    inverse: Floats = q * np.array((1.0, -1.0, -1.0, -1.0))
    return inverse


def rotate(q: Floats, v: Floats) -> Floats:
    """Return vectors ``v`` (..., 3) rotated by ``q`` (..., 4)."""
    u = q[..., 1:]
    c = 2.0 * _cross(u, v)
    rotated: Floats = v + q[..., :1] * c + _cross(u, c)
    return rotated


def _cross(a: Floats, b: Floats) -> Floats:
    """Return ``np.cross`` of vectors (..., 3), which is slower for few of them."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    product[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    product[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    product[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def normalise(q: Floats) -> Floats:
    """Return ``q`` scaled to length 1; a zero quaternion becomes the identity."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    safe = np.where(length > 0, length, 1.0)
    unit: Floats = np.where(length > 0, q / safe, np.array(IDENTITY))
    return unit


def angle_between(a: Floats, b: Floats) -> Floats:
    """Return the angle of the rotation from ``a`` to ``b`` in radians, 0 to pi, also accurate for small angles."""
    d = multiply(conjugate(a), b)
    angle: Floats = 2.0 * np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))
    return angle


def twist_angle(q: Floats, axis: Floats) -> Floats:
    """Return the angle of ``q`` about unit vectors ``axis`` (..., 3), in radians from -pi to pi.

    It is that of the second factor if ``q`` is divided into a rotation about an axis perpendicular to ``axis`` and one
    about ``axis``.
    """
    angle: Floats = 2.0 * np.arctan2((q[..., 1:] * axis).sum(axis=-1), q[..., 0])
    return np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi


def log(q: Floats) -> Floats:
    """Return the rotation vector (..., 3): axis times angle in radians, at most pi long."""
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    factor: Floats = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return factor * q[..., 1:]


def exp(v: Floats) -> Floats:
    """Return the quaternion of a rotation vector ``v`` (..., 3)."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half_sinc = 0.5 * np.sinc(angle / (2.0 * np.pi))
    return np.concatenate((np.cos(angle / 2.0), half_sinc * v), axis=-1)


def slerp(a: Floats, b: Floats, t: Floats) -> Floats:
    """Return the rotation at a fraction ``t`` (..., 1) of the shorter way from ``a`` to ``b``, at constant speed."""
    return multiply(a, exp(t * log(multiply(conjugate(a), b))))


def at_frames(q: Floats, frames: Floats) -> Floats:
    """Return ``q`` (T, ..., 4) at ``frames`` (N,), which may be fractional; whole frames are returned unchanged."""
    before = np.minimum(frames.astype(int), max(len(q) - 2, 0))
    after = np.minimum(before + 1, len(q) - 1)
    rotations: Floats = q[np.where(frames == after, after, before)]
    off_frame = np.flatnonzero((frames != before) & (frames != after))
    fraction = (frames - before)[off_frame].reshape(-1, *(1,) * (q.ndim - 1))
    rotations[off_frame] = normalise(slerp(q[before[off_frame]], q[after[off_frame]], fraction))
    return rotations


def align_signs(q: Floats) -> Floats:
    """Return ``q`` (T, ..., 4) with signs such that neighbours along the first axis have no negative dot product."""
    if len(q) < 2:
        return q.copy()
    flips = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True) < 0
    signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    return np.concatenate((q[:1], q[1:] * signs))


def from_euler(angles: Floats, order: str) -> Floats:
    """Return the quaternions of intrinsic Euler ``angles`` (..., len(order)) in radians."""
    half = 0.5 * np.asarray(angles)
    q = np.broadcast_to(np.array(IDENTITY), (*half.shape[:-1], 4))
    for k, axis in enumerate(order):
        rotation = np.zeros((*half.shape[:-1], 4))
        rotation[..., 0] = np.cos(half[..., k])
        rotation[..., 1 + AXES.index(axis)] = np.sin(half[..., k])
        q = multiply(q, rotation)
    return q


def to_euler(q: Floats, order: str) -> Floats:
    """Return intrinsic Euler angles (..., 3) in radians, the middle one within +-pi/2.

    Closed form after Bernardes & Viollet 2022, which is accurate near gimbal lock; at the lock itself, where only a sum
    of the outer angles is determined, the first one is 0.
    """
    i, j, k = (AXES.index(axis) for axis in reversed(order))  # extrinsic, first rotation first
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w, xi, xj, xk = q[..., 0], q[..., 1 + i], q[..., 1 + j], q[..., 1 + k] * sign
    a, b, c, d = w - xj, xi + xk, xj + w, xk - xi
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    first = half_sum - half_difference
    last = (half_sum + half_difference) * sign
    near_zero, near_pi = np.abs(middle) < 1e-7, np.abs(middle - np.pi) < 1e-7
    # At gimbal lock the last angle is the whole rotation and the first one 0.
    first = np.where(near_zero, 2.0 * half_sum, np.where(near_pi, -2.0 * half_difference, first))
    last = np.where(near_zero | near_pi, 0.0, last)
    angles = np.stack((last, middle - np.pi / 2.0, first), axis=-1)
    wrapped: Floats = (angles + np.pi) % (2.0 * np.pi) - np.pi
    return wrapped


def unwrap_euler(angles: Floats) -> Floats:
    """Return Euler ``angles`` (T, J, 3) in radians as curves without jumps.

    Two Euler triples, each plus any number of full rotations, describe the same rotation; each frame gets the one
    nearest to the frame before it. The first frame does not change.
    """
    return _core.unwrap_euler(np.ascontiguousarray(angles, dtype=np.float64))


def from_matrix(m: Floats) -> Floats:
    """Return the quaternions of rotation matrices (..., 3, 3), assumed to be proper rotations."""
    m = np.asarray(m, dtype=np.float64)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack((d0 + d1 + d2, d0 - d1 - d2, d1 - d0 - d2, d2 - d0 - d1), axis=-1) + 1.0
    x, y, z = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    rows = np.stack(  # four times the outer product q q^T; its longest row is used
        (
            np.stack((squares[..., 0], x, y, z), -1),
            np.stack((x, squares[..., 1], xy, xz), -1),
            np.stack((y, xy, squares[..., 2], yz), -1),
            np.stack((z, xz, yz, squares[..., 3]), -1),
        ),
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)[..., None, None]
    return normalise(np.take_along_axis(rows, np.broadcast_to(best, (*best.shape[:-1], 4)), -2)[..., 0, :])


def to_matrix(q: Floats) -> Floats:
    """Return the rotation matrices (..., 3, 3) of ``q``."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, -1) for row in rows], -2)
