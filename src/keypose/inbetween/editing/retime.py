"""Move a key in time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.detail import retimed
from keypose.model import Curves, KeyedMotion
from keypose.model.motion import MOST_POSES
from keypose.options import flag, whole


def move_key(keyed: KeyedMotion, frame: Any, to: Any, *, ripple: bool = False) -> Change:
    """The key at ``frame`` moved to ``to``, between its neighbours; with ``ripple`` everything behind it moves too.

    The curve of each span beside the key keeps its shape over the part of the span that has gone by: slopes per frame
    grow as the span gets shorter. The residual is stretched with the spans. ``ripple`` changes the number of frames.
    """
    key, goal = key_at(keyed, frame), whole("to", to)
    by = goal - int(keyed.keys[key])
    least = int(keyed.keys[key - 1]) + 1 if key > 0 else 0
    if flag("ripple", ripple):
        most = MOST_POSES // keyed.n_joints - (keyed.n_frames - int(keyed.keys[key]))
    else:
        most = int(keyed.keys[key + 1]) - 1 if key + 1 < keyed.n_keys else keyed.n_frames - 1
    if not least <= goal <= most:
        raise OptionError(f"the key at frame {keyed.keys[key]} cannot go to {goal}, expected {least} to {most}")
    keys = keyed.keys.copy()
    keys[key : (None if ripple else key + 1)] += by
    n_frames = keyed.n_frames + (by if ripple else 0)
    residual = keyed.residual
    if residual is not None:
        residual = retimed(residual, *_marks(keyed, keys, n_frames), n_frames)
    moved = replace(
        keyed,
        n_frames=n_frames,
        keys=keys,
        translations=_rescaled(keyed.translations, keyed.keys, keys),
        rotations=_rescaled(keyed.rotations, keyed.keys, keys),
        residual=residual,
    )
    first = int(keys[key - 1]) + 1 if key > 0 else 0
    last = n_frames - 1 if ripple or key + 1 == keyed.n_keys else int(keys[key + 1]) - 1
    return Change(moved, first, last)


def _rescaled(curves: Curves, before: Ints, after: Ints) -> Curves:
    """Slopes per frame for keys that have moved; spans of the same length keep their very numbers."""
    if curves.arriving is None or curves.leaving is None:
        return curves
    old, new = np.diff(before), np.diff(after)
    changed = np.flatnonzero(old != new)
    factor = (old[changed] / new[changed])[:, None, None]
    arriving, leaving = curves.arriving.copy(), curves.leaving.copy()
    leaving[changed] *= factor
    arriving[changed + 1] *= factor
    return Curves(curves.values, give_away(arriving), give_away(leaving))


def _marks(keyed: KeyedMotion, keys: Ints, n_frames: int) -> tuple[Floats, Floats]:
    """Frames before and after that belong together: the keys, and the ends of the motion where the keys leave room."""
    before, after = keyed.keys.tolist(), keys.tolist()
    if before[0] > 0 and after[0] > 0:
        before, after = [0, *before], [0, *after]
    if before[-1] < keyed.n_frames - 1 and after[-1] < n_frames - 1:
        before, after = [*before, keyed.n_frames - 1], [*after, n_frames - 1]
    return np.array(before, np.float64), np.array(after, np.float64)
