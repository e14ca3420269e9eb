"""Offset a key pose, alone or spread over the keys around it: the basis of every operation on poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, freeze
from keypose.curves.edit.change import Change, affected_frames
from keypose.curves.edit.continuity import make_continuous
from keypose.curves.edit.euler import angle_tangents, nearest_angles, quaternion_tangents
from keypose.model import Curves, KeyedMotion
from keypose.rotations import exp, from_euler, multiply, normalise
from keypose.validation import check_number

RECOMMENDED_SPREAD_S = 0.5

Indices = NDArray[np.intp]


def offset_key(
    keyed: KeyedMotion,
    key: int,
    *,
    rotation_vectors: Floats | None = None,
    shifts: Floats | None = None,
    in_parent: bool = False,
    spread_s: float = 0.0,
) -> Change:
    """Return ``keyed`` with joints rotated and shifted at one key and, with a smooth falloff, at keys around it.

    ``rotation_vectors`` (J, 3) are in the joints' own frames or, with ``in_parent``, in their parents'; ``shifts``
    (J, 3) are added to local translations. With ``d(t)`` the share of the change at time t, curves become
    ``q(t) d(t)``: tangents rotate with the values and get those of the falloff added. Joints with neither are left
    unchanged.
    """
    keys, shares, share_rates = falloff(keyed, key, spread_s)
    rotations, translations = keyed.rotations, keyed.translations
    if rotation_vectors is not None and rotation_vectors.any():
        joints = np.flatnonzero(rotation_vectors.any(axis=1))
        offsets = exp(shares[:, None, None] * rotation_vectors[joints])
        offset_rates = multiply(_pure_quaternion(0.5 * share_rates[:, None, None] * rotation_vectors[joints]), offsets)
        if keyed.rotation_orders is None:
            rotations = _rotate_curves(rotations, keys, joints, offsets, offset_rates, in_parent)
            rotations = make_continuous(keyed.rotations, rotations, keyed.keys, keys, joints)
        else:
            rotations = _rotate_euler_curves(
                rotations, keyed.rotation_orders, keys, joints, offsets, offset_rates, in_parent
            )
    if shifts is not None and shifts.any():
        joints = np.flatnonzero(shifts.any(axis=1))
        translations = _shift_curves(translations, keys, joints, shares, share_rates, shifts[joints])
    first, last = affected_frames(keyed, int(keys[0]), int(keys[-1]))
    return Change(replace(keyed, rotations=rotations, translations=translations), first, last)


def falloff(keyed: KeyedMotion, key: int, spread_s: float) -> tuple[Indices, Floats, Floats]:
    """Return the keys (n,) within ``spread_s`` of a key, the share (n,) of a change there, and its derivative (n,).

    The share is ``(1 - x^2)^2`` at the fraction x of the window: 1 at the key, with zero derivative there and at the
    ends of the window. The derivative is per frame.
    """
    window = check_number("spread_s", spread_s, min_value=0.0) * keyed.fps
    distance = (keyed.keys - keyed.keys[key]).astype(np.float64)
    if window <= 0:
        return np.array([key]), np.ones(1), np.zeros(1)
    keys = np.flatnonzero(np.abs(distance) < window)
    x = distance[keys] / window
    return keys, (1 - x * x) ** 2, -4 * x * (1 - x * x) / window


def _rotate_curves(
    curves: Curves, keys: Indices, joints: Indices, offsets: Floats, offset_rates: Floats, in_parent: bool
) -> Curves:
    """Return quaternion curves times ``offsets`` (n, m, 4), with ``offset_rates`` (n, m, 4), at some keys of joints."""
    selected = np.ix_(keys, joints)
    old_values = curves.values[selected]

    def compose(a: Floats, b: Floats) -> Floats:
        return multiply(b, a) if in_parent else multiply(a, b)

    values = _copy_with(curves.values, selected, normalise(compose(old_values, offsets)))
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    sides = (
        _copy_with(tangents, selected, compose(tangents[selected], offsets) + compose(old_values, offset_rates))
        for tangents in (curves.in_tangents, curves.out_tangents)
    )
    return Curves(values, *sides)


def _rotate_euler_curves(
    curves: Curves,
    orders: tuple[str, ...],
    keys: Indices,
    joints: Indices,
    offsets: Floats,
    offset_rates: Floats,
    in_parent: bool,
) -> Curves:
    """Return the same for curves of Euler angles, by way of quaternions; the nearest angles are chosen."""
    values = curves.values
    in_tangents, out_tangents = curves.in_tangents, curves.out_tangents
    for column, j in enumerate(joints.tolist()):
        order, selected = orders[j], np.ix_(keys, [j])
        old_angles = curves.values[keys, j]
        tangents = [
            s if s is None else quaternion_tangents(old_angles, s[keys, j], order)[:, None]
            for s in (in_tangents, out_tangents)
        ]
        quaternions = Curves(from_euler(old_angles, order)[:, None], *tangents)
        columns = slice(column, column + 1)
        rotated = _rotate_curves(
            quaternions, np.arange(len(keys)), np.array([0]), offsets[:, columns], offset_rates[:, columns], in_parent
        )
        angles = nearest_angles(rotated.values[:, 0], order, old_angles)
        values = _copy_with(values, selected, angles[:, None])
        if in_tangents is not None and rotated.in_tangents is not None:
            in_tangents = _copy_with(
                in_tangents, selected, angle_tangents(angles, rotated.in_tangents[:, 0], order)[:, None]
            )
        if out_tangents is not None and rotated.out_tangents is not None:
            out_tangents = _copy_with(
                out_tangents, selected, angle_tangents(angles, rotated.out_tangents[:, 0], order)[:, None]
            )
    return Curves(values, in_tangents, out_tangents)


def _shift_curves(
    curves: Curves, keys: Indices, joints: Indices, shares: Floats, rates: Floats, shifts: Floats
) -> Curves:
    selected = np.ix_(keys, joints)
    values = _copy_with(curves.values, selected, curves.values[selected] + shares[:, None, None] * shifts)
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    sides = (
        _copy_with(tangents, selected, tangents[selected] + rates[:, None, None] * shifts)
        for tangents in (curves.in_tangents, curves.out_tangents)
    )
    return Curves(values, *sides)


def _copy_with(array: Floats, indices: tuple[Indices, ...], values: Floats) -> Floats:
    """Return a copy of ``array`` with ``values`` at ``indices``."""
    copy = array.copy()
    copy[indices] = values
    return freeze(copy)


def _pure_quaternion(v: Floats) -> Floats:
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)
