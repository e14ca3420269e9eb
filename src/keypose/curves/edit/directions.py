"""Directions in space, Euler angles and quaternion curves, safe for degenerate values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints
from keypose.model import Curves, SpanPosition
from keypose.rotations import (
    AXES,
    angle_between,
    conjugate,
    exp,
    from_euler,
    from_matrix,
    multiply,
    rotate,
    to_euler,
    unwrap_euler,
)

SAME_SINE = 1e-9  # of the angle between two directions that are the same or opposite

LOCK_COSINE = 1e-6  # of the middle angle; below it only a sum of the outer angles is determined
WEAK_COSINE = 0.05  # below it tangents are damped, as those of the outer angles grow without limit

# A cubic between unit quaternions is normalised when it is sampled; where it is shorter than this, the rotation would
# be too fast.
MIN_LENGTH = 0.3
FIT_ITERATIONS = 4
FIT_RIDGE = 1e-9  # relative to the weight of all samples; determines the tangents that the samples do not
SAMPLES_PER_SPAN = 33  # number of samples at which its length is measured


def unit_vectors(v: Floats) -> Floats:
    """Return ``v`` (..., 3) scaled to length 1; zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    units: Floats = np.where(length > 0, v / np.where(length > 0, length, 1.0), 0.0)
    return units


def first_nonzero_direction(*candidates: Floats, min_length: float = 0.0) -> Floats:
    """Return for each row the first of the candidates (..., C) longer than ``min_length``, scaled to length 1."""
    chosen = np.zeros(np.broadcast_shapes(*(v.shape for v in candidates)))
    is_open: Bools = np.ones(chosen.shape[:-1], bool)
    for vectors in candidates:
        broadcast = np.broadcast_to(vectors, chosen.shape)
        length = np.linalg.norm(broadcast, axis=-1)
        is_chosen = is_open & (length > min_length)
        chosen[is_chosen] = broadcast[is_chosen] / length[is_chosen][..., None]
        is_open &= ~is_chosen
    return chosen


def orthogonal_part(v: Floats, along: Floats) -> Floats:
    """Return the part of ``v`` (..., 3) orthogonal to the unit vectors ``along`` (..., 3)."""
    remainder: Floats = v - np.sum(v * along, axis=-1, keepdims=True) * along
    return remainder


def any_orthogonal(along: Floats) -> Floats:
    """Return unit vectors (..., 3) orthogonal to ``along`` (..., 3), the same for the same direction."""
    return unit_vectors(orthogonal_part(np.eye(3)[np.argmin(np.abs(along), axis=-1)], along))


def shortest_rotation(start: Floats, goal: Floats, half_turn_about: Floats) -> Floats:
    """Return the shortest rotations (..., 4) between unit vectors (..., 3); between opposite ones about a given
    axis."""
    axis = np.cross(start, goal)
    sine, cosine = np.linalg.norm(axis, axis=-1, keepdims=True), np.sum(start * goal, axis=-1, keepdims=True)
    is_turn = sine > SAME_SINE
    turn = axis / np.where(is_turn, sine, 1.0) * np.arctan2(sine, cosine)
    return exp(np.where(is_turn, turn, half_turn_about * np.where(cosine < 0, np.pi, 0.0)))


def rotation_between(start: tuple[Floats, Floats], goal: tuple[Floats, Floats]) -> Floats:
    """Return the rotations (..., 4) that take two directions to two others: the first exactly, the second nearly."""
    return multiply(_orthonormal_frame(*goal), conjugate(_orthonormal_frame(*start)))


def _orthonormal_frame(along: Floats, beside: Floats) -> Floats:
    y = first_nonzero_direction(orthogonal_part(beside, along), any_orthogonal(along))
    return from_matrix(np.stack((along, y, np.cross(along, y)), axis=-1))


def quaternion_tangents(angles: Floats, tangents: Floats, order: str) -> Floats:
    """Return the tangents (..., 4) of the quaternion of ``angles`` (..., 3) with ``tangents`` (..., 3)."""
    spin = np.einsum("...ij,...j->...i", _angular_velocity_matrix(angles, order), tangents)
    return np.asarray(0.5 * multiply(from_euler(angles, order), _pure_quaternion(spin)))


def angle_tangents(angles: Floats, quaternion_tangent: Floats, order: str) -> Floats:
    """Return the tangents (..., 3) of ``angles`` (..., 3) whose quaternion has ``quaternion_tangent`` (..., 4).

    Near gimbal lock no finite tangents exist; there they are the solution of damped least squares.
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
    """Return ``angles`` (3,) at gimbal lock, with the sum of the outer two distributed such that they are nearest to
    ``near``."""
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


def make_continuous(
    old: Curves, new: Curves, keys: Ints, changed_keys: NDArray[np.intp], joints: NDArray[np.intp]
) -> Curves:
    """Return quaternion curves ``new``, made continuous at ``changed_keys`` (n,) of ``joints`` (m,).

    Elsewhere they equal ``old``. A changed key gets the sign with which the rotations to its neighbours are the shorter
    ones, if they were so before the edit; a rotation of more than half a turn between two keys is preserved. The signs
    of other keys do not change, since samples beside the edit must not change. A span with quaternions too near to zero
    gets the tangents of a rotation at constant speed.
    """
    values = new.values.copy()
    signs = np.ones((*values.shape[:2], 1))
    for k in changed_keys.tolist():
        score = np.zeros(len(joints))
        for neighbour in (k - 1, k + 1):
            if 0 <= neighbour < len(values):
                was_short = _dot_products(old.values, old.values, k, neighbour, joints) >= 0
                new_dots, same_sign = (
                    _dot_products(values, values, k, neighbour, joints),
                    _dot_products(values, old.values, k, k, joints),
                )
                score += np.where(was_short, new_dots, same_sign)
        flipped_joints = joints[score < 0]
        signs[k, flipped_joints] = -1.0
        values[k, flipped_joints] *= -1.0
    if new.in_tangents is None or new.out_tangents is None or old.in_tangents is None:
        return Curves(values)
    in_tangents, out_tangents = new.in_tangents * signs, new.out_tangents * signs
    spans = np.unique(np.concatenate((changed_keys - 1, changed_keys)))
    for a in spans[(spans >= 0) & (spans < len(values) - 1)].tolist():
        candidate = Curves(values, in_tangents, out_tangents)
        length = min_length(candidate, keys, a)[joints]
        short_joints = joints[(length < MIN_LENGTH) & (length < min_length(old, keys, a)[joints] - 1e-9)]
        if len(short_joints):
            tangents = _even_rotation_tangents(
                values[a, short_joints], values[a + 1, short_joints], out_tangents[a, short_joints]
            )
            gap = float(keys[a + 1] - keys[a])
            out_tangents[a, short_joints], in_tangents[a + 1, short_joints] = tangents[0] / gap, tangents[1] / gap
    return Curves(values, in_tangents, out_tangents)


def min_length(curves: Curves, keys: Ints, span: int) -> Floats:
    """Return the smallest length (J,) of the cubics of one span before normalisation."""
    frames = np.linspace(float(keys[span]), float(keys[span + 1]), SAMPLES_PER_SPAN)
    return np.asarray(np.linalg.norm(curves.at(SpanPosition.locate(keys, frames)), axis=-1).min(axis=0))


def _dot_products(a: Floats, b: Floats, k: int, other_key: int, joints: NDArray[np.intp]) -> Floats:
    return np.asarray(np.einsum("jc,jc->j", a[k, joints], b[other_key, joints]))


def _even_rotation_tangents(first: Floats, last: Floats, tangent: Floats) -> tuple[Floats, Floats]:
    """Return the start and end tangents (m, 4), per span, of rotations at constant speed from ``first`` to ``last``.

    Opposite quaternions do not determine an axis; for them the direction of ``tangent`` is used, if it is not zero.
    """
    cosine = np.clip(np.einsum("jc,jc->j", first, last), -1.0, 1.0)[:, None]
    about_x = multiply(first, np.broadcast_to((0.0, 1.0, 0.0, 0.0), first.shape))
    perpendicular = first_nonzero_direction(
        last - cosine * first, orthogonal_part(tangent, first), about_x, min_length=1e-6
    )
    angle = np.arccos(cosine)
    return angle * perpendicular, angle * (cosine * perpendicular - np.sin(angle) * first)


def fit_directions(targets: Floats, ends: Floats, tangents: Floats, s: Floats, gap: float) -> Floats:
    """Return the tangents (2, J, 4) with which normalised cubics between ``ends`` (2, J, 4) are nearest to ``targets``.

    Least squares over ``targets`` (N, J, 4) at fractions ``s`` (N,) of the span, by the Gauss-Newton method from
    ``tangents`` (2, J, 4); a step that does not improve a joint is rejected.
    """
    tangent_basis = np.stack((gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)))  # (2, N) of the two tangents
    rise = (s * s * (3 - 2 * s))[:, None, None]
    between = (1 - rise) * ends[0] + rise * ends[1]

    def evaluate(tangents: Floats) -> tuple[Floats, Floats, Floats]:
        values = between + np.einsum("an,ajc->njc", tangent_basis, tangents)
        length = np.maximum(np.linalg.norm(values, axis=-1, keepdims=True), 1e-6)
        errors = values / length - targets
        return values / length, length, errors

    unit, length, errors = evaluate(tangents)
    for _ in range(FIT_ITERATIONS):
        projection = (np.eye(4) - unit[..., :, None] * unit[..., None, :]) / length[..., None]  # (N, J, 4, 4)
        matrix = np.einsum("an,bn,njcd->jacbd", tangent_basis, tangent_basis, projection / length[..., None]).reshape(
            -1, 8, 8
        )
        right = -np.einsum("an,njcd,njd->jac", tangent_basis, projection, errors).reshape(-1, 8, 1)
        weight = FIT_RIDGE * np.trace(matrix, axis1=1, axis2=2)[:, None, None] + 1e-300
        step = np.moveaxis(np.linalg.solve(matrix + weight * np.eye(8), right).reshape(-1, 2, 4), 1, 0)
        candidate = evaluate(tangents + step)
        helps = np.einsum("njc,njc->j", candidate[2], candidate[2]) < np.einsum("njc,njc->j", errors, errors)
        if not helps.any():
            break
        is_taken = helps[:, None]
        tangents = np.where(is_taken, tangents + step, tangents)
        unit, length, errors = (
            np.where(is_taken, new, old) for new, old in zip(candidate, (unit, length, errors), strict=True)
        )
    return tangents
