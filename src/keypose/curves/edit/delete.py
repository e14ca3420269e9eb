"""Delete a key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.edit.arguments import find_key
from keypose.curves.edit.change import Change, affected_frames
from keypose.curves.edit.continuity import MIN_LENGTH, min_length
from keypose.curves.edit.direction_fit import fit_directions
from keypose.curves.edit.residual import compensate_residual
from keypose.errors import OptionError
from keypose.model import Curves, KeyedMotion, SpanPosition
from keypose.rotations import normalise

MIN_FITTED_LENGTH = 0.6  # of a cubic quaternion that is fitted by direction


def delete_key(keyed: KeyedMotion, frame: Any) -> Change:
    """Return ``keyed`` without the key at ``frame``: one span, fitted to the curve of the two, replaces them.

    Without the first or the last key the next one holds instead. The residual absorbs what the new span leaves out, so
    that the motion with its full residual does not change.
    """
    key = find_key(keyed, frame)
    if keyed.n_keys == 1:
        raise OptionError(f"the key at frame {keyed.keys[key]} is the only one, and a keyed motion needs one")
    first, last = affected_frames(keyed, key, key)
    fewer = replace(
        keyed,
        keys=np.delete(keyed.keys, key),
        translations=_delete_from_curves(keyed.translations, keyed, key, quaternions=False),
        rotations=_delete_from_curves(keyed.rotations, keyed, key, quaternions=keyed.rotation_orders is None),
        extremes=np.delete(keyed.extremes, key),
    )
    if fewer.is_cubic and fewer.rotation_orders is None and 0 < key < fewer.n_keys:
        length = min_length(fewer.rotations, fewer.keys, key - 1)
        if length.min() < MIN_LENGTH:
            joint = keyed.skeleton.names[int(length.argmin())]
            raise OptionError(f"without the key at frame {keyed.keys[key]} {joint} would turn too far in one span")
    return Change(compensate_residual(fewer, keyed, first, last), first, last)


def _delete_from_curves(curves: Curves, keyed: KeyedMotion, key: int, *, quaternions: bool) -> Curves:
    """Return curves without one key, the tangents at its neighbours fitted to the values of the two spans."""
    values = freeze(np.delete(curves.values, key, axis=0))
    if curves.in_tangents is None or curves.out_tangents is None:
        return Curves(values)
    in_tangents, out_tangents = np.delete(curves.in_tangents, key, axis=0), np.delete(curves.out_tangents, key, axis=0)
    if 0 < key < len(curves) - 1:
        start, stop = keyed.keys[key - 1], keyed.keys[key + 1]
        span_values = curves.at(SpanPosition.locate(keyed.keys, np.arange(start, stop + 1, dtype=np.float64)))
        tangents = _fit_merged_span(normalise(span_values) if quaternions else span_values, quaternions=quaternions)
        out_tangents[key - 1], in_tangents[key] = tangents
    return Curves(values, freeze(in_tangents), freeze(out_tangents))


def _fit_merged_span(span_values: Floats, *, quaternions: bool) -> Floats:
    """Return the tangents (2, J, C) at both ends of one span fitted to ``span_values`` (N, J, C).

    Of quaternions only the direction is fitted, so that deleting an inserted key restores the curve. Where that makes
    a cubic short, which would rotate too fast between frames, its components are fitted instead.
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
