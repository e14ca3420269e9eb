"""Fit the curves of a few joints to rotations given per frame, with the existing keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.edit.directions import nearest_angles
from keypose.curves.edit.keys import add_joint_keys
from keypose.curves.edit.poses import key_pose, set_pose
from keypose.model import KeyedMotion, Pose
from keypose.rotations import align_signs


def fit_rotations(
    keyed: KeyedMotion, joints: list[int], frames: Ints, rotations: Floats, differs: Bools
) -> KeyedMotion:
    """Return ``keyed`` with ``rotations`` (N, joints, 4) at its keys among ``frames`` (N,), which are consecutive.

    Between keys the tangents are fitted to the rotations. Keys and spans without a frame that ``differs`` (N,) from
    ``keyed`` do not change.
    """
    if keyed.is_per_joint:  # the spans beside a frame that differs have keys of these joints at both ends
        for frame in _span_ends(keyed.keys, frames[differs]):
            keyed = add_joint_keys(keyed, frame, joints, ()).keyed
    for n in np.flatnonzero(np.isin(frames, keyed.keys) & differs).tolist():
        key = keyed.key_index(int(frames[n]))
        pose = key_pose(keyed, key)
        pose_rotations = pose.rotations.copy()
        pose_rotations[joints] = rotations[n]
        keyed = set_pose(keyed, key, Pose(pose.translations, pose_rotations)).keyed
    return _fit_tangents(keyed, joints, frames, rotations, differs)


def _span_ends(keys: Ints, frames: Ints) -> list[int]:
    """Return the keys at, just before and just after ``frames``."""
    at = np.searchsorted(keys, frames)
    before = np.searchsorted(keys, frames, side="right") - 1
    rows = np.unique(np.concatenate((before, at)))
    return [int(keys[row]) for row in rows if 0 <= row < len(keys)]


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
    fitted = replace(curves, in_tangents=freeze(in_tangents), out_tangents=freeze(out_tangents))
    return replace(keyed, rotations=fitted)


def _channel_values(keyed: KeyedMotion, joint: int, key: int, rotations: Floats) -> Floats:
    """Return rotations (N, 4) from a key on as channel values (N, C) of a joint, continuous with those of the key."""
    values: Floats = keyed.rotations.values[key, joint]
    if keyed.rotation_orders is None:
        return align_signs(np.concatenate((values[None], rotations[1:])))
    rows = [values]
    for turn in rotations[1:]:
        rows.append(nearest_angles(turn[None], keyed.rotation_orders[joint], rows[-1][None])[0])
    return np.array(rows)
