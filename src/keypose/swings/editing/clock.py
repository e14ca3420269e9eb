"""Time before and after an edit: where frames go, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats
from keypose.swings.editing.pieces import Piece

FASTEST = 2.0  # times as fast: what the capture shows in between would jump


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

    def into(self, frames: Floats) -> Floats:
        """Where frames (N,), whole or not, go."""
        return np.asarray(np.interp(frames, self.before, self.after))


def warp(old: Sequence[Piece], row: Sequence[Piece], n_frames: int) -> Floats | None:
    """The frame (T,), whole or not, of a joint before an operation that belongs to each frame after it; None: the same.

    Swings take their time along, and between them it goes on evenly, but never more than ``FASTEST`` times as fast, as
    over a gap that has become narrow; keys stay where they are.
    """
    knots = {0.0: 0.0, n_frames - 1.0: n_frames - 1.0}
    for piece in row:
        was = old[piece.place] if piece.turn is not None and piece.place >= 0 else piece
        knots |= {float(piece.start): float(was.start), float(piece.end): float(was.end)}
    after = np.array(sorted(knots))
    before = np.maximum.accumulate([knots[frame] for frame in after.tolist()])
    if (before == after).all():
        return None
    frames = np.arange(n_frames, dtype=np.float64)
    came = np.interp(frames, after, before)
    ahead = came - FASTEST * frames  # the nearest curves below and above that are slow enough, and half way between
    below, above = np.minimum.accumulate(ahead), np.maximum.accumulate(ahead[::-1])[::-1]
    return np.asarray((below + above) / 2.0 + FASTEST * frames)
