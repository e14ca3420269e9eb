"""Move a key in time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, freeze
from keypose.curves.edit.arguments import find_key
from keypose.curves.edit.change import Change
from keypose.curves.edit.residual import retime_residual
from keypose.errors import OptionError
from keypose.model import Curves, KeyedMotion
from keypose.model.motion import MAX_POSES
from keypose.validation import check_bool, check_int


def move_key(keyed: KeyedMotion, frame: Any, to: Any, *, ripple: bool = False) -> Change:
    """Move the key at ``frame`` to ``to``, between its neighbours; with ``ripple`` all later frames move too.

    The curve of each span beside the key keeps its shape over its duration: tangents per frame grow as the span gets
    shorter. The residual is stretched with the spans. ``ripple`` changes the number of frames.
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
            f"the key at frame {keyed.keys[key]} cannot go to {goal}, expected {min_frame} to {max_frame}"
        )
    keys = keyed.keys.copy()
    keys[key : (None if ripple else key + 1)] += offset
    n_frames = keyed.n_frames + (offset if ripple else 0)
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
    """Return corresponding frames before and after: the keys, and the ends of the motion where no key is."""
    before, after = keyed.keys.tolist(), keys.tolist()
    if before[0] > 0 and after[0] > 0:
        before, after = [0, *before], [0, *after]
    if before[-1] < keyed.n_frames - 1 and after[-1] < n_frames - 1:
        before, after = [*before, keyed.n_frames - 1], [*after, n_frames - 1]
    return np.array(before, np.float64), np.array(after, np.float64)
