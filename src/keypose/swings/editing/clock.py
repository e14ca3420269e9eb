"""Time before and after an edit: where frames go, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats
from keypose.swings.track import Track


@dataclass(frozen=True, eq=False)
class Clock(Frozen):
    """How a whole clip is retimed: evenly between some frames before and those that they become.

    The first and the last frame stay the first and the last.
    """

    before: Floats  # (N,) increasing, from 0 to the last frame
    after: Floats  # (N,) likewise

    def __post_init__(self) -> None:
        self._put("before", frozen_floats(self.before, (None,), "frames before"))
        self._put("after", frozen_floats(self.after, self.before.shape, "frames after"))

    @property
    def n_frames(self) -> int:
        """How many frames there are afterwards."""
        return round(float(self.after[-1])) + 1

    def moved(self, frames: Ints) -> Ints:
        """Where frames (N,) go, rounded."""
        return np.asarray(np.floor(np.interp(frames, self.before, self.after) + 0.5), np.int32)

    def source(self, frames: Floats) -> Floats:
        """Where frames (N,) come from, whole or not."""
        return np.asarray(np.interp(frames, self.after, self.before))


def warp(before: Track, now: Track, n_frames: int) -> Floats | None:
    """The frame (T,), whole or not, of one joint before an edit that belongs to each frame now; None: the same ones.

    Told by what swings and keyed spans became, evenly between their ends. Where some were added or taken away, nothing
    is known, and frames stay.
    """
    if before.n_swings != now.n_swings or len(before.keyed) != len(now.keyed):
        return None
    was, is_now = _ends(before), _ends(now)
    order = np.argsort(was)
    was, is_now = was[order], is_now[order]
    if (was == is_now).all() or (np.diff(is_now) <= 0).any():
        return None
    ends = np.array((0.0, n_frames - 1.0))
    outside = ends[~np.isin(ends, is_now)]
    was, is_now = np.concatenate((was, outside)), np.concatenate((is_now, outside))
    by_time = np.argsort(is_now)
    return np.asarray(np.interp(np.arange(n_frames), is_now[by_time], np.maximum.accumulate(was[by_time])))


def _ends(track: Track) -> Floats:
    """First and last frames of all swings and keyed spans; one of a span that has a single key."""
    keyed = [frame for span in track.keyed for frame in sorted({span.start, span.end})]
    return np.concatenate((track.starts, track.ends, keyed)).astype(np.float64)
