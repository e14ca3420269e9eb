"""Insert a key without changing the curve.

A cubic in numbers splits exactly, and so does an even turn. A cubic quaternion ``q(t)`` does not: the new key must be
a unit quaternion, ``q(f) / |q(f)|``, while both ends of the span keep theirs. A cubic ``r`` that shows the same turns
is ``r = c(t) q(t)`` with a scale ``c`` of 1 at the old key and ``1 / |q(f)|`` at the new one; but the parts of ``q``
have no common factor in general, so that ``c`` must be a polynomial, and one of degree 0, since ``q`` has degree 3
already. Such a scale exists only where ``|q(f)| = 1``.

So the two halves are fitted: their four slopes are chosen so that ``r`` points where ``q`` points, by least squares
over the span, starting from a scale that changes evenly. Curves that follow a captured motion are close to unit
length everywhere, and what remains is small (see docs/editing.md); the residual, where there is one, takes it in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.detail import with_detail_of
from keypose.inbetween.editing.pointing import pointing
from keypose.model import Curves, KeyedMotion, Place
from keypose.options import whole
from keypose.rotations import normalise

LEAST_LOOKS = 24  # places in each half at which the two curves are compared
EXACT = 1e-13


def insert_key(keyed: KeyedMotion, frame: Any) -> Change:
    """The same motion with one more key at ``frame``, a breakdown."""
    at = whole("frame", frame)
    if not 0 <= at < keyed.n_frames:
        raise OptionError(f"frame={at}, expected 0 to {keyed.n_frames - 1}")
    if at in keyed.keys:
        raise OptionError(f"there is a key at frame {at} already")
    key = int(np.searchsorted(keyed.keys, at))
    place = Place.of(keyed.keys, np.array([float(at)]))
    are_quaternions = keyed.rotation_orders is None
    turn = keyed.rotations.at(place)
    if are_quaternions:
        before, after = keyed.rotations.values[place.before], keyed.rotations.values[place.after]
        stays = (turn == before).all(axis=-1, keepdims=True) & (before == after).all(axis=-1, keepdims=True)
        turn = np.where(stays, before, keyed.sample(frames=[float(at)]).rotations)
    rotations = _split(keyed.rotations, keyed.keys, at, key, turn)
    if are_quaternions and 0 < key < keyed.n_keys:
        rotations = _refitted(keyed.rotations, rotations, keyed.keys, at, key)
    more = replace(
        keyed,
        keys=np.insert(keyed.keys, key, at).astype(np.int32),
        translations=_split(keyed.translations, keyed.keys, at, key, keyed.translations.at(place)),
        rotations=rotations,
        extremes=np.insert(keyed.extremes, key, False),
    )
    first = int(keyed.keys[key - 1]) + 1 if key > 0 else 0
    last = int(keyed.keys[key]) - 1 if key < keyed.n_keys else keyed.n_frames - 1
    if are_quaternions and keyed.is_cubic:
        more = with_detail_of(more, keyed, first, last)
    return Change(more, first, last)


def _split(curves: Curves, keys: Ints, at: int, key: int, value: Floats) -> Curves:
    """Curves with one more key of ``value`` (1, J, C) and the slopes of the cubic there; none where a pose holds."""
    values = give_away(np.insert(curves.values, key, value[0], axis=0))
    if curves.arriving is None or curves.leaving is None:
        return Curves(values)
    inside = 0 < key < len(keys)
    slope = _slope(curves, keys, at, key) if inside else np.zeros(value[0].shape)
    arriving, leaving = np.insert(curves.arriving, key, slope, axis=0), np.insert(curves.leaving, key, slope, axis=0)
    if not inside:  # the pose holds up to the first key and after the last one
        arriving[key + 1 : key + 2], leaving[max(0, key - 1) : key] = 0.0, 0.0
    return Curves(values, give_away(arriving), give_away(leaving))


def _slope(curves: Curves, keys: Ints, at: int, key: int) -> Floats:
    """(J, C) the slope per frame inside a span."""
    assert curves.arriving is not None and curves.leaving is not None
    gap = float(keys[key] - keys[key - 1])
    s = (at - keys[key - 1]) / gap
    climb = (curves.values[key] - curves.values[key - 1]) / gap
    slope: Floats = (
        6 * s * (1 - s) * climb
        + (1 - s) * (1 - 3 * s) * curves.leaving[key - 1]
        + s * (3 * s - 2) * curves.arriving[key]
    )
    return slope


def _refitted(old: Curves, split: Curves, keys: Ints, at: int, key: int) -> Curves:
    """Quaternion curves ``split`` at a key with the slopes of both halves fitted to what ``old`` shows there."""
    if split.arriving is None or split.leaving is None:
        return split
    arriving, leaving = split.arriving.copy(), split.leaving.copy()
    length = np.linalg.norm(old.at(Place.of(keys, np.array([float(at)])))[0], axis=-1, keepdims=True)  # (J, 1)
    inexact = np.abs(length - 1) > EXACT  # the others are split exactly, and joints that are still stay so
    for start, stop, a in ((int(keys[key - 1]), at, key - 1), (at, int(keys[key]), key)):
        gap = float(stop - start)
        looks = np.linspace(start, stop, max(LEAST_LOOKS, 2 * (stop - start)) + 2)[1:-1]
        shown = normalise(old.at(Place.of(keys, looks)))  # (N, J, 4)
        # an even change of scale from one end of the half to the other, as a start
        scales = (np.ones(length.shape), 1 / length) if stop == at else (1 / length, np.ones(length.shape))
        rate = (scales[1] - scales[0]) / gap
        ends = np.stack((split.values[a], split.values[a + 1]))
        raw = (ends[0] / scales[0], ends[1] / scales[1])  # on the old cubic
        slopes = np.stack(
            (scales[0] * split.leaving[a] + rate * raw[0], scales[1] * split.arriving[a + 1] + rate * raw[1])
        )
        slopes = pointing(shown, ends, slopes, (looks - start) / gap, gap)
        leaving[a] = np.where(inexact, slopes[0], leaving[a])
        arriving[a + 1] = np.where(inexact, slopes[1], arriving[a + 1])
    return Curves(split.values, give_away(arriving), give_away(leaving))
