"""Fit the curves of a few joints to rotations given per frame, with the existing keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.edit.directions import nearest_angles
from keypose.curves.edit.poses import key_pose, set_pose
from keypose.model import Curves, KeyedMotion, Pose
from keypose.rotations import align_signs

ITERATIONS = 4
RIDGE = 1e-9  # relative to the weight of all samples; determines the tangents that the samples do not


def fit_rotations(
    keyed: KeyedMotion, joints: list[int], frames: Ints, rotations: Floats, differs: Bools
) -> KeyedMotion:
    """Return ``keyed`` with ``rotations`` (N, joints, 4) at its keys among ``frames`` (N,), which are consecutive.

    Between keys the tangents are fitted to the rotations. Keys and spans without a frame that ``differs`` (N,) from
    ``keyed`` do not change.
    """
    for n in np.flatnonzero(np.isin(frames, keyed.keys) & differs).tolist():
        key = keyed.key_index(int(frames[n]))
        pose = key_pose(keyed, key)
        pose_rotations = pose.rotations.copy()
        pose_rotations[joints] = rotations[n]
        keyed = set_pose(keyed, key, Pose(pose.translations, pose_rotations)).keyed
    return _fit_tangents(keyed, joints, frames, rotations, differs)


def _fit_tangents(
    keyed: KeyedMotion, joints: list[int], frames: Ints, rotations: Floats, differs: Bools
) -> KeyedMotion:
    curves = keyed.rotations
    if curves.in_tangents is None or curves.out_tangents is None:
        return keyed
    in_tangents, out_tangents = curves.in_tangents.copy(), curves.out_tangents.copy()
    rows = keyed.keys - frames[0]
    for a in np.flatnonzero((rows[:-1] >= 0) & (rows[1:] < len(frames)) & (np.diff(rows) > 1)).tolist():
        span = slice(int(rows[a]), int(rows[a + 1]) + 1)
        if not differs[span].any():
            continue
        for column, j in enumerate(joints):
            values = _channel_values(keyed, j, a, rotations[span, column])
            if np.abs(values[-1] - curves.values[a + 1, j]).max() < 1e-6:  # else the rotations turn the other way round
                # each span is fitted alone: the hips may have different tangents on both sides of a key, and so must
                # the leg
                cubic = fit_cubics(values[:, None], np.array([0, len(values) - 1], np.int32))
                assert cubic.out_tangents is not None and cubic.in_tangents is not None
                out_tangents[a, j], in_tangents[a + 1, j] = cubic.out_tangents[0, 0], cubic.in_tangents[1, 0]
    return replace(keyed, rotations=Curves(curves.values, freeze(in_tangents), freeze(out_tangents)))


def _channel_values(keyed: KeyedMotion, joint: int, key: int, rotations: Floats) -> Floats:
    """Return rotations (N, 4) from a key on as channel values (N, C) of a joint, continuous with those of the key."""
    values: Floats = keyed.rotations.values[key, joint]
    if keyed.rotation_orders is None:
        return align_signs(np.concatenate((values[None], rotations[1:])))
    rows = [values]
    for turn in rotations[1:]:
        rows.append(nearest_angles(turn[None], keyed.rotation_orders[joint], rows[-1][None])[0])
    return np.array(rows)


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
    for _ in range(ITERATIONS):
        projection = (np.eye(4) - unit[..., :, None] * unit[..., None, :]) / length[..., None]  # (N, J, 4, 4)
        matrix = np.einsum("an,bn,njcd->jacbd", tangent_basis, tangent_basis, projection / length[..., None]).reshape(
            -1, 8, 8
        )
        right = -np.einsum("an,njcd,njd->jac", tangent_basis, projection, errors).reshape(-1, 8, 1)
        weight = RIDGE * np.trace(matrix, axis1=1, axis2=2)[:, None, None] + 1e-300
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
