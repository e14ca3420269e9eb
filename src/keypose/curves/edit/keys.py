"""Insert, delete and move keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.edit.change import (
    Change,
    JointCurve,
    JointCurves,
    affected_frames,
    compensate_residual,
    find_key,
    retime_joints,
    retime_residual,
)
from keypose.curves.edit.directions import MIN_LENGTH, fit_directions, min_length
from keypose.errors import OptionError
from keypose.model import Curves, KeyedMotion, SpanPosition
from keypose.model.motion import MAX_POSES
from keypose.rotations import normalise, slerp
from keypose.validation import check_bool, check_int

MIN_SAMPLES = 24  # in each half, at which the two curves are compared
EXACT = 1e-13
MIN_FITTED_LENGTH = 0.6  # of a cubic quaternion that is fitted by direction


def insert_key(keyed: KeyedMotion, frame: Any) -> Change:
    """Return the same motion with one more key at ``frame``, a breakdown."""
    at = check_int("frame", frame)
    if not 0 <= at < keyed.n_frames:
        raise OptionError(option="frame", value=at, expected=f"0 to {keyed.n_frames - 1}")
    if at in keyed.keys:
        raise OptionError("has a key already", option="frame", value=at)
    if keyed.is_per_joint:
        return add_joint_keys(keyed, at, range(keyed.n_joints), range(keyed.n_joints))
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


def add_joint_keys(
    keyed: KeyedMotion, frame: int, rotation_joints: Iterable[int], translation_joints: Iterable[int]
) -> Change:
    """Return the same motion in which these joints, with keys of their own, have one at ``frame``."""
    before = JointCurves.of(keyed)
    missing_rotations, missing_translations = (
        [j for j in joints if frame not in curves[j].frames]
        for joints, curves in ((rotation_joints, before.rotations), (translation_joints, before.translations))
    )
    are_quaternions = keyed.rotation_orders is None
    after = before.map(lambda curve: _add_joint_key(curve, frame, quaternions=are_quaternions), missing_rotations, ())
    after = after.map(lambda curve: _add_joint_key(curve, frame, quaternions=False), (), missing_translations)
    added = after.build(keyed, keyed.keys[keyed.extremes])
    changed = [before.rotations[j] for j in missing_rotations] + [before.translations[j] for j in missing_translations]
    ranges = [curve.neighbours(frame, keyed.n_frames) for curve in changed] or [(frame, frame)]
    first, last = min(first for first, _ in ranges), max(last for _, last in ranges)
    if are_quaternions and keyed.is_cubic and missing_rotations:
        added = compensate_residual(added, keyed, first, last)
    return Change(added, first, last)


def _add_joint_key(curve: JointCurve, frame: int, *, quaternions: bool) -> JointCurve:
    frames, curves = curve.frames, curve.curves
    key = int(np.searchsorted(frames, frame))
    position = SpanPosition.locate(frames, np.array([float(frame)]))
    value = curves.at(position)
    if quaternions and not curves.is_cubic:
        value = slerp(curves.values[position.before], curves.values[position.after], position.fraction[:, None, None])
    split = _split_curves(curves, frames, frame, key, normalise(value) if quaternions else value)
    if quaternions and 0 < key < len(frames):
        split = _refit_halves(curves, split, frames, frame, key)
    return JointCurve(np.insert(frames, key, frame).astype(np.int32), split)


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
    if not is_inside:  # the pose is constant before the first key and after the last one
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
    inexact = np.abs(length - 1) > EXACT  # the others are split exactly, so that constant joints remain constant
    for start, stop, a in ((int(keys[key - 1]), at, key - 1), (at, int(keys[key]), key)):
        gap = float(stop - start)
        sample_frames = np.linspace(start, stop, max(MIN_SAMPLES, 2 * (stop - start)) + 2)[1:-1]
        targets = normalise(old.at(SpanPosition.locate(keys, sample_frames)))  # (N, J, 4)
        # the initial scale changes linearly from one end of the half to the other
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


def delete_key(keyed: KeyedMotion, frame: Any) -> Change:
    """Return ``keyed`` without the key at ``frame``: one span, fitted to the curve of the two, replaces them.

    If the first or the last key is deleted, its neighbour replaces it. The difference of the new span is added to the
    residual, so that the motion with its full residual does not change.
    """
    key = find_key(keyed, frame)
    if keyed.n_keys == 1:
        frame = int(keyed.keys[key])
        raise OptionError(
            f"the key at frame {frame} is the only one, and a keyed motion needs one", code="needed_key", value=frame
        )
    if keyed.is_per_joint:
        return _delete_joint_keys(keyed, int(keyed.keys[key]))
    first, last = affected_frames(keyed, key, key)
    are_quaternions = keyed.rotation_orders is None
    fewer = replace(
        keyed,
        keys=np.delete(keyed.keys, key),
        translations=_delete_from_curves(keyed.translations, keyed.keys, key, quaternions=False),
        rotations=_delete_from_curves(keyed.rotations, keyed.keys, key, quaternions=are_quaternions),
        extremes=np.delete(keyed.extremes, key),
    )
    if fewer.is_cubic and fewer.rotation_orders is None and 0 < key < fewer.n_keys:
        length = min_length(fewer.rotations, fewer.keys, key - 1)
        if length.min() < MIN_LENGTH:
            raise _needed_key_error(int(keyed.keys[key]), keyed.skeleton.names[int(length.argmin())])
    return Change(compensate_residual(fewer, keyed, first, last), first, last)


def _needed_key_error(frame: int, joint: str) -> OptionError:
    return OptionError(
        f"without the key at frame {frame} {joint} would turn too far in one span", code="needed_key", value=joint
    )


def _delete_joint_keys(keyed: KeyedMotion, frame: int) -> Change:
    """Return ``keyed`` without the keys at ``frame`` of all joints that have one; a joint needs at least one key."""
    before = JointCurves.of(keyed)
    other = int(keyed.keys[keyed.keys != frame][0])  # for joints with no other key, which do not move
    are_quaternions = keyed.rotation_orders is None
    lists = [[j for j, c in enumerate(cs) if frame in c.frames] for cs in (before.rotations, before.translations)]

    def delete(curve: JointCurve, *, quaternions: bool) -> JointCurve:
        if len(curve.frames) == 1:
            return JointCurve(np.array([other], np.int32), curve.curves)
        key = int(np.searchsorted(curve.frames, frame))
        fewer = _delete_from_curves(curve.curves, curve.frames, key, quaternions=quaternions)
        return JointCurve(np.delete(curve.frames, key), fewer)

    after = before.map(lambda curve: delete(curve, quaternions=are_quaternions), lists[0], ())
    after = after.map(lambda curve: delete(curve, quaternions=False), (), lists[1])
    if are_quaternions and keyed.is_cubic:
        for j in lists[0]:
            curve, key = after.rotations[j], int(np.searchsorted(after.rotations[j].frames, frame))
            is_inside = 0 < key < len(curve.frames)
            if is_inside and min_length(curve.curves, curve.frames, key - 1).min() < MIN_LENGTH:
                raise _needed_key_error(frame, keyed.skeleton.names[j])
    changed = [before.rotations[j] for j in lists[0]] + [before.translations[j] for j in lists[1]]
    ranges = [curve.neighbours(frame, keyed.n_frames) for curve in changed]
    first, last = min(first for first, _ in ranges), max(last for _, last in ranges)
    fewer = after.build(keyed, keyed.keys[keyed.extremes])
    return Change(compensate_residual(fewer, keyed, first, last), first, last)


def _delete_from_curves(curves: Curves, keys: Ints, key: int, *, quaternions: bool) -> Curves:
    """Return curves without one key, the tangents at its neighbours fitted to the values of the two spans."""
    values = freeze(np.delete(curves.values, key, axis=0))
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    in_tangents, out_tangents = np.delete(curves.in_tangents, key, axis=0), np.delete(curves.out_tangents, key, axis=0)
    if 0 < key < len(curves) - 1:
        start, stop = keys[key - 1], keys[key + 1]
        span_values = curves.at(SpanPosition.locate(keys, np.arange(start, stop + 1, dtype=np.float64)))
        tangents = _fit_merged_span(normalise(span_values) if quaternions else span_values, quaternions=quaternions)
        out_tangents[key - 1], in_tangents[key] = tangents
    return Curves(values, freeze(in_tangents), freeze(out_tangents))


def _fit_merged_span(span_values: Floats, *, quaternions: bool) -> Floats:
    """Return the tangents (2, J, C) at both ends of one span fitted to ``span_values`` (N, J, C).

    For quaternions only the direction is fitted, so that deleting an inserted key restores the curve. If that makes a
    cubic so short that it would rotate too fast between frames, its components are fitted instead.
    """
    gap = len(span_values) - 1
    keys = np.array([0, gap], np.int32)
    plain_fit = fit_cubics(span_values, keys)
    assert plain_fit.in_tangents is not None and plain_fit.out_tangents is not None
    tangents = np.stack((plain_fit.out_tangents[0], plain_fit.in_tangents[1]))
    if not quaternions:
        return tangents
    direction_tangents = fit_directions(
        span_values[1:-1], span_values[[0, -1]], tangents, np.arange(1, gap) / gap, float(gap)
    )
    length = min_length(Curves(plain_fit.values, direction_tangents, direction_tangents), keys, 0)
    is_long = length >= np.minimum(MIN_FITTED_LENGTH, min_length(plain_fit, keys, 0))
    return np.where(is_long[:, None], direction_tangents, tangents)


def move_key(keyed: KeyedMotion, frame: Any, to: Any, *, ripple: bool = False) -> Change:
    """Move the key at ``frame`` to ``to``, between its neighbours; with ``ripple`` all later frames move too.

    The curve of each span beside the key is scaled in time: tangents per frame grow as the span gets shorter. The
    residual is stretched with the spans. ``ripple`` changes the number of frames.
    """
    key, goal = find_key(keyed, frame), check_int("to", to)
    offset = goal - int(keyed.keys[key])
    min_frame = int(keyed.keys[key - 1]) + 1 if key > 0 else 0
    if check_bool("ripple", ripple):
        max_frame = MAX_POSES // keyed.n_joints - (keyed.n_frames - int(keyed.keys[key]))
    else:
        max_frame = int(keyed.keys[key + 1]) - 1 if key + 1 < keyed.n_keys else keyed.n_frames - 1
    if not min_frame <= goal <= max_frame:
        raise OptionError(
            f"the key at frame {keyed.keys[key]} cannot go to {goal}", expected=f"{min_frame} to {max_frame}"
        )
    n_frames = keyed.n_frames + (offset if ripple else 0)
    if keyed.is_per_joint:
        return _move_joint_keys(keyed, int(keyed.keys[key]), offset, n_frames, ripple=ripple)
    keys = keyed.keys.copy()
    keys[key : (None if ripple else key + 1)] += offset
    residual = keyed.residual
    if residual is not None:
        residual = retime_residual(residual, *_time_marks(keyed, keys, n_frames), n_frames)
    moved = replace(
        keyed,
        n_frames=n_frames,
        keys=keys,
        translations=_rescale_tangents(keyed.translations, keyed.keys, keys),
        rotations=_rescale_tangents(keyed.rotations, keyed.keys, keys),
        residual=residual,
    )
    first = int(keys[key - 1]) + 1 if key > 0 else 0
    last = n_frames - 1 if ripple or key + 1 == keyed.n_keys else int(keys[key + 1]) - 1
    return Change(moved, first, last)


def _move_joint_keys(keyed: KeyedMotion, frame: int, offset: int, n_frames: int, *, ripple: bool) -> Change:
    """Move the keys at ``frame`` of the joints that have one.

    With ``ripple`` every joint gets a key there, and all later keys move too.
    """
    if ripple:
        keyed = add_joint_keys(keyed, frame, range(keyed.n_joints), range(keyed.n_joints)).keyed
    before = JointCurves.of(keyed)

    def moves(frames: Ints) -> Bools:
        return np.asarray(frames >= frame if ripple else frames == frame)

    def move(curve: JointCurve) -> JointCurve:
        frames = np.where(moves(curve.frames), curve.frames + offset, curve.frames).astype(np.int32)
        return JointCurve(frames, _rescale_tangents(curve.curves, curve.frames, frames))

    lists = [[j for j, c in enumerate(cs) if moves(c.frames).any()] for cs in (before.rotations, before.translations)]
    after = before.map(move, *lists)
    extremes = keyed.keys[keyed.extremes]
    residual = retime_joints(keyed, before, after, n_frames)
    resized = replace(keyed, n_frames=max(n_frames, keyed.n_frames), residual=residual)  # both lists of keys fit
    moved = replace(after.build(resized, np.where(moves(extremes), extremes + offset, extremes)), n_frames=n_frames)
    changed = [before.rotations[j] for j in lists[0]] + [before.translations[j] for j in lists[1]]
    ranges = [curve.neighbours(frame, keyed.n_frames) for curve in changed]
    return Change(moved, min(first for first, _ in ranges), n_frames - 1 if ripple else max(last for _, last in ranges))


def _rescale_tangents(curves: Curves, before: Ints, after: Ints) -> Curves:
    """Return curves with tangents rescaled for moved keys; those of spans of the same length are exact copies."""
    if curves.in_tangents is None or curves.out_tangents is None:
        return curves
    old, new = np.diff(before), np.diff(after)
    changed_spans = np.flatnonzero(old != new)
    factor = (old[changed_spans] / new[changed_spans])[:, None, None]
    in_tangents, out_tangents = curves.in_tangents.copy(), curves.out_tangents.copy()
    out_tangents[changed_spans] *= factor
    in_tangents[changed_spans + 1] *= factor
    return Curves(curves.values, freeze(in_tangents), freeze(out_tangents))


def _time_marks(keyed: KeyedMotion, keys: Ints, n_frames: int) -> tuple[Floats, Floats]:
    """Return corresponding frames before and after: the keys, and the ends of the motion if they are no keys."""
    before, after = keyed.keys.tolist(), keys.tolist()
    if before[0] > 0 and after[0] > 0:
        before, after = [0, *before], [0, *after]
    if before[-1] < keyed.n_frames - 1 and after[-1] < n_frames - 1:
        before, after = [*before, keyed.n_frames - 1], [*after, n_frames - 1]
    return np.array(before, np.float64), np.array(after, np.float64)
