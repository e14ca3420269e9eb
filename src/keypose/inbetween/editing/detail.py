"""The residual under edits that change curves but not what is meant to be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.model import KeyedMotion, Residual
from keypose.rotations import conjugate, log, multiply, rotate


def with_detail_of(new: KeyedMotion, old: KeyedMotion, first: int, last: int) -> KeyedMotion:
    """``new`` with a residual that makes up for what its curves do differently from ``old`` in some frames.

    With a whole residual ``new`` then shows what ``old`` showed; other frames keep their detail bit by bit. Both have
    the same frames. Detail that has been retimed is written frame by frame first.
    """
    if old.residual is None or last < first:
        return new
    frames = np.arange(first, last + 1, dtype=np.float64)
    wanted, bare = old.sample(1.0, frames=frames), new.sample(frames=frames)
    back = conjugate(bare.rotations)
    detail = frame_by_frame(old.residual, old.n_frames)
    turns, shifts = detail.turns.copy(), detail.shifts.copy()
    turns[first : last + 1] = log(multiply(back, wanted.rotations))
    shifts[first : last + 1] = rotate(back, wanted.translations - bare.translations)
    return replace(new, residual=Residual(give_away(turns), give_away(shifts)))


def retimed(residual: Residual, before: Floats, after: Floats, n_frames: int) -> Residual:
    """The residual of a motion of ``n_frames`` in which frames ``before`` (A,) became ``after`` (A,), both increasing.

    Which detail belongs to which frame is kept for every frame, since frames between the same two marks must find the
    very detail that they had.
    """
    frames = np.arange(n_frames, dtype=np.float64)
    sources = residual.source_of(np.interp(frames, after, before))
    return replace(residual, frames=give_away(frames), sources=give_away(sources))


def frame_by_frame(residual: Residual, n_frames: int) -> Residual:
    """The same detail with one row for each frame of the motion."""
    if residual.frames is None and len(residual) == n_frames:
        return residual
    source = residual.source_of(np.arange(n_frames, dtype=np.float64))
    before = np.floor(source).astype(np.intp)
    after, part = np.minimum(before + 1, len(residual) - 1), (source - before)[:, None, None]
    turns = residual.turns[before] + part * (residual.turns[after] - residual.turns[before])
    shifts = residual.shifts[before] + part * (residual.shifts[after] - residual.shifts[before])
    return Residual(give_away(turns), give_away(shifts))
