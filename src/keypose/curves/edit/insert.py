"""Insert a key without changing the curve.

A cubic of plain numbers splits exactly, and so does a rotation at constant speed. A cubic quaternion ``q(t)`` does
not: the new key must be a unit quaternion, ``q(f) / |q(f)|``, while both ends of the span keep theirs. A cubic ``r``
with the same rotations is ``r = c(t) q(t)`` with a scale ``c`` of 1 at the old key and ``1 / |q(f)|`` at the new one;
but the components of ``q`` have no common factor in general, so that ``c`` must be a polynomial, and one of degree 0,
since ``q`` has degree 3 already. Such a scale exists only where ``|q(f)| = 1``.

So the two halves are fitted: their four tangents are chosen so that ``r`` has the direction of ``q``, by least
squares over the span, starting from a scale that changes linearly. Curves fitted to a captured motion are close to
unit length everywhere, and the error is small (see docs/editing.md); a residual, if there is one, absorbs it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, freeze
from keypose.curves.edit.change import Change
from keypose.curves.edit.direction_fit import fit_directions
from keypose.curves.edit.residual import compensate_residual
from keypose.errors import OptionError
from keypose.model import Curves, KeyedMotion, SpanPosition
from keypose.rotations import normalise
from keypose.validation import check_int

MIN_SAMPLES = 24  # in each half, at which the two curves are compared
EXACT = 1e-13


def insert_key(keyed: KeyedMotion, frame: Any) -> Change:
    """Return the same motion with one more key at ``frame``, a breakdown."""
    at = check_int("frame", frame)
    if not 0 <= at < keyed.n_frames:
        raise OptionError(f"frame={at}, expected 0 to {keyed.n_frames - 1}")
    if at in keyed.keys:
        raise OptionError(f"there is a key at frame {at} already")
    key = int(np.searchsorted(keyed.keys, at))
    position = SpanPosition.locate(keyed.keys, np.array([float(at)]))
    are_quaternions = keyed.rotation_orders is None
    key_rotations = keyed.rotations.at(position)
    if are_quaternions:
        before, after = keyed.rotations.values[position.before], keyed.rotations.values[position.after]
        is_still = (key_rotations == before).all(axis=-1, keepdims=True) & (before == after).all(axis=-1, keepdims=True)
        key_rotations = np.where(is_still, before, keyed.sample(frames=[float(at)]).rotations)
    rotations = _split_curves(keyed.rotations, keyed.keys, at, key, key_rotations)
    if are_quaternions and 0 < key < keyed.n_keys:
        rotations = _refit_halves(keyed.rotations, rotations, keyed.keys, at, key)
    inserted = replace(
        keyed,
        keys=np.insert(keyed.keys, key, at).astype(np.int32),
        translations=_split_curves(keyed.translations, keyed.keys, at, key, keyed.translations.at(position)),
        rotations=rotations,
        extremes=np.insert(keyed.extremes, key, False),
    )
    first = int(keyed.keys[key - 1]) + 1 if key > 0 else 0
    last = int(keyed.keys[key]) - 1 if key < keyed.n_keys else keyed.n_frames - 1
    if are_quaternions and keyed.is_cubic:
        inserted = compensate_residual(inserted, keyed, first, last)
    return Change(inserted, first, last)


def _split_curves(curves: Curves, keys: Ints, at: int, key: int, value: Floats) -> Curves:
    """Return curves with one more key of ``value`` (1, J, C) and the tangent of the cubic there; 0 outside the keys."""
    values = freeze(np.insert(curves.values, key, value[0], axis=0))
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    is_inside = 0 < key < len(keys)
    tangent = _tangent_at(curves, keys, at, key) if is_inside else np.zeros(value[0].shape)
    in_tangents, out_tangents = (
        np.insert(curves.in_tangents, key, tangent, axis=0),
        np.insert(curves.out_tangents, key, tangent, axis=0),
    )
    if not is_inside:  # the pose holds up to the first key and after the last one
        in_tangents[key + 1 : key + 2], out_tangents[max(0, key - 1) : key] = 0.0, 0.0
    return Curves(values, freeze(in_tangents), freeze(out_tangents))


def _tangent_at(curves: Curves, keys: Ints, at: int, key: int) -> Floats:
    """Return the tangent (J, C) per frame inside a span."""
    assert curves.in_tangents is not None and curves.out_tangents is not None
    gap = float(keys[key] - keys[key - 1])
    s = (at - keys[key - 1]) / gap
    rise = (curves.values[key] - curves.values[key - 1]) / gap
    tangent: Floats = (
        6 * s * (1 - s) * rise
        + (1 - s) * (1 - 3 * s) * curves.out_tangents[key - 1]
        + s * (3 * s - 2) * curves.in_tangents[key]
    )
    return tangent


def _refit_halves(old: Curves, split: Curves, keys: Ints, at: int, key: int) -> Curves:
    """Return quaternion curves ``split`` at a key with the tangents of both halves fitted to ``old``."""
    if split.in_tangents is None or split.out_tangents is None:
        return split
    in_tangents, out_tangents = split.in_tangents.copy(), split.out_tangents.copy()
    length = np.linalg.norm(
        old.at(SpanPosition.locate(keys, np.array([float(at)])))[0], axis=-1, keepdims=True
    )  # (J, 1)
    inexact = np.abs(length - 1) > EXACT  # the others are split exactly, so that still joints stay still
    for start, stop, a in ((int(keys[key - 1]), at, key - 1), (at, int(keys[key]), key)):
        gap = float(stop - start)
        sample_frames = np.linspace(start, stop, max(MIN_SAMPLES, 2 * (stop - start)) + 2)[1:-1]
        targets = normalise(old.at(SpanPosition.locate(keys, sample_frames)))  # (N, J, 4)
        # start with a scale that changes linearly from one end of the half to the other
        scales = (np.ones(length.shape), 1 / length) if stop == at else (1 / length, np.ones(length.shape))
        rate = (scales[1] - scales[0]) / gap
        ends = np.stack((split.values[a], split.values[a + 1]))
        unscaled_ends = (ends[0] / scales[0], ends[1] / scales[1])  # on the old cubic
        tangents = np.stack(
            (
                scales[0] * split.out_tangents[a] + rate * unscaled_ends[0],
                scales[1] * split.in_tangents[a + 1] + rate * unscaled_ends[1],
            )
        )
        tangents = fit_directions(targets, ends, tangents, (sample_frames - start) / gap, gap)
        out_tangents[a] = np.where(inexact, tangents[0], out_tangents[a])
        in_tangents[a + 1] = np.where(inexact, tangents[1], in_tangents[a + 1])
    return Curves(split.values, freeze(in_tangents), freeze(out_tangents))
