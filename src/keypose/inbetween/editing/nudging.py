"""One change of a key pose, alone or spread over the keys around it: what every operation on poses comes down to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, give_away
from keypose.inbetween.editing.change import Change, reach_of_keys
from keypose.inbetween.editing.continuity import continued
from keypose.inbetween.editing.euler import angle_slopes, nearest_angles, quaternion_slopes
from keypose.model import Curves, KeyedMotion
from keypose.options import number
from keypose.rotations import exp, from_euler, multiply, normalise

RECOMMENDED_SPREAD_S = 0.5

Indices = NDArray[np.intp]


def nudged(
    keyed: KeyedMotion,
    key: int,
    *,
    turns: Floats | None = None,
    shifts: Floats | None = None,
    in_parent: bool = False,
    spread_s: float = 0.0,
) -> Change:
    """``keyed`` with joints turned and shifted at one key and, in shares that fall off smoothly, at keys around it.

    ``turns`` (J, 3) are exponential maps in the joints' own frames or, with ``in_parent``, in their parents';
    ``shifts`` (J, 3) are added to local translations. With ``d(t)`` the share of the change at time t, curves become
    ``q(t) d(t)``: slopes turn with the values and gain those of the falloff. Joints with neither are left as they
    are.
    """
    keys, shares, rates = falloff(keyed, key, spread_s)
    rotations, translations = keyed.rotations, keyed.translations
    if turns is not None and turns.any():
        joints = np.flatnonzero(turns.any(axis=1))
        shared = exp(shares[:, None, None] * turns[joints])
        rate = multiply(_pure(0.5 * rates[:, None, None] * turns[joints]), shared)
        if keyed.rotation_orders is None:
            rotations = _turned(rotations, keys, joints, shared, rate, in_parent)
            rotations = continued(keyed.rotations, rotations, keyed.keys, keys, joints)
        else:
            rotations = _turned_angles(rotations, keyed.rotation_orders, keys, joints, shared, rate, in_parent)
    if shifts is not None and shifts.any():
        joints = np.flatnonzero(shifts.any(axis=1))
        translations = _shifted(translations, keys, joints, shares, rates, shifts[joints])
    first, last = reach_of_keys(keyed, int(keys[0]), int(keys[-1]))
    return Change(replace(keyed, rotations=rotations, translations=translations), first, last)


def falloff(keyed: KeyedMotion, key: int, spread_s: float) -> tuple[Indices, Floats, Floats]:
    """The keys (n,) nearer than ``spread_s`` to a key, the share (n,) of a change there, and its slope per frame (n,).

    The share is ``(1 - x^2)^2`` at the part x of the window: 1 at the key, flat there and at the ends of the window.
    """
    window = number("spread_s", spread_s, least=0.0) * keyed.fps
    away = (keyed.keys - keyed.keys[key]).astype(np.float64)
    if window <= 0:
        return np.array([key]), np.ones(1), np.zeros(1)
    keys = np.flatnonzero(np.abs(away) < window)
    x = away[keys] / window
    return keys, (1 - x * x) ** 2, -4 * x * (1 - x * x) / window


def _turned(curves: Curves, keys: Indices, joints: Indices, by: Floats, rate: Floats, in_parent: bool) -> Curves:
    """Quaternion curves times ``by`` (n, m, 4), which changes by ``rate`` (n, m, 4), at some keys of some joints."""
    some = np.ix_(keys, joints)
    old = curves.values[some]

    def times(a: Floats, b: Floats) -> Floats:
        return multiply(b, a) if in_parent else multiply(a, b)

    values = _with(curves.values, some, normalise(times(old, by)))
    if curves.arriving is None or curves.leaving is None:
        return Curves(values)
    sides = (
        _with(slopes, some, times(slopes[some], by) + times(old, rate)) for slopes in (curves.arriving, curves.leaving)
    )
    return Curves(values, *sides)


def _turned_angles(
    curves: Curves, orders: tuple[str, ...], keys: Indices, joints: Indices, by: Floats, rate: Floats, in_parent: bool
) -> Curves:
    """The same for curves of Euler angles, by way of quaternions; angles stay as near to what they were as they can."""
    values = curves.values
    arriving, leaving = curves.arriving, curves.leaving
    for column, j in enumerate(joints.tolist()):
        order, some = orders[j], np.ix_(keys, [j])
        old = curves.values[keys, j]
        slopes = [s if s is None else quaternion_slopes(old, s[keys, j], order)[:, None] for s in (arriving, leaving)]
        bare = Curves(from_euler(old, order)[:, None], *slopes)
        columns = slice(column, column + 1)
        turned = _turned(bare, np.arange(len(keys)), np.array([0]), by[:, columns], rate[:, columns], in_parent)
        angles = nearest_angles(turned.values[:, 0], order, old)
        values = _with(values, some, angles[:, None])
        if arriving is not None and turned.arriving is not None:
            arriving = _with(arriving, some, angle_slopes(angles, turned.arriving[:, 0], order)[:, None])
        if leaving is not None and turned.leaving is not None:
            leaving = _with(leaving, some, angle_slopes(angles, turned.leaving[:, 0], order)[:, None])
    return Curves(values, arriving, leaving)


def _shifted(curves: Curves, keys: Indices, joints: Indices, shares: Floats, rates: Floats, by: Floats) -> Curves:
    some = np.ix_(keys, joints)
    values = _with(curves.values, some, curves.values[some] + shares[:, None, None] * by)
    if curves.arriving is None or curves.leaving is None:
        return Curves(values)
    sides = (
        _with(slopes, some, slopes[some] + rates[:, None, None] * by) for slopes in (curves.arriving, curves.leaving)
    )
    return Curves(values, *sides)


def _with(array: Floats, where: tuple[Indices, ...], part: Floats) -> Floats:
    """A copy of ``array`` in which only ``where`` differs."""
    copy = array.copy()
    copy[where] = part
    return give_away(copy)


def _pure(v: Floats) -> Floats:
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)
