"""Swings earlier or later, longer or shorter."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from keypose.errors import OptionError
from keypose.options import number, one_of, whole
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import each_swing
from keypose.swings.editing.pieces import Piece, Point
from keypose.swings.editing.room import LEAST_FRAMES
from keypose.swings.editing.selection import Which
from keypose.swings.editing.turning import POINTS, turn_of, turned_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings

Kept: TypeAlias = Literal["angle", "speed"]
KEPT: tuple[Kept, ...] = get_args(Kept)
MOST_FRAMES = 1 << 30


def shift(now: Swings, before: Unedited, which: Which, *, by_s: Any = None, by_frames: Any = None) -> SwingChange:
    """Swings later or, by negative times, earlier; gaps and then neighbours make room."""
    by = _frames(now, by_s, by_frames)
    return each_swing(
        now,
        before,
        which,
        lambda piece: turned_about(piece, "start", turn_of(piece), (piece.start + by, piece.end + by)),
        "start",
    )


def lengthen(
    now: Swings,
    before: Unedited,
    which: Which,
    *,
    by_s: Any = None,
    by_frames: Any = None,
    factor: Any = None,
    anchor: Point = "middle",
    keep: Kept = "angle",
) -> SwingChange:
    """Swings that take longer: by a time, or ``factor`` times as long. The anchor stays where it is in time.

    They keep their angle and are slower, or keep their speed and turn farther, the rotation at the anchor kept.
    """
    if factor is not None:
        factor = number("factor", factor, least=1.0)
    return _stretched(now, before, which, by_s, by_frames, factor, 1, anchor, keep)


def shorten(
    now: Swings,
    before: Unedited,
    which: Which,
    *,
    by_s: Any = None,
    by_frames: Any = None,
    factor: Any = None,
    anchor: Point = "middle",
    keep: Kept = "angle",
) -> SwingChange:
    """Swings that take less long, by a time or ``factor`` times as long: faster or, at their speed, less far."""
    if factor is not None:
        factor = number("factor", factor, above=0.0, most=1.0)
    return _stretched(now, before, which, by_s, by_frames, factor, -1, anchor, keep)


def _stretched(
    now: Swings,
    before: Unedited,
    which: Which,
    by_s: Any,
    by_frames: Any,
    factor: float | None,
    sign: int,
    anchor: Point,
    keep: Kept,
) -> SwingChange:
    one_of("anchor", anchor, POINTS)
    one_of("keep", keep, KEPT)
    if (by_s is not None) + (by_frames is not None) + (factor is not None) != 1:
        raise OptionError("say how much in one way: by_s=, by_frames= or factor=")
    by = 0 if factor is not None else _frames(now, by_s, by_frames, least=0)

    def stretched(piece: Piece) -> Piece:
        old = piece.end - piece.start
        more = sign * by if factor is None else round(min(old * factor, MOST_FRAMES)) - old
        if more < 0 and old + more + 1 < LEAST_FRAMES:
            raise OptionError(
                f"a swing of {piece.n_frames} frames, frames {piece.start} to {piece.end}, cannot be shortened to "
                f"{old + more + 1} frames, expected at least {LEAST_FRAMES}"
            )
        turn = turn_of(piece)
        return turned_about(piece, anchor, turn if keep == "angle" else turn * ((old + more) / old),
                            anchored(piece, anchor, more))  # fmt: skip

    return each_swing(now, before, which, stretched, anchor)


def anchored(piece: Piece, anchor: Point, more: int) -> tuple[int, int]:
    """The first and the last frame of a piece that lasts ``more`` frames longer."""
    early = {"start": 0, "middle": abs(more) // 2, "end": abs(more)}[anchor] * int(np.sign(more))
    return piece.start - early, piece.end + more - early


def _frames(now: Swings, by_s: Any, by_frames: Any, *, least: int | None = None) -> int:
    """A time as frames."""
    if (by_s is None) == (by_frames is None):
        raise OptionError("say how much in one way: by_s= or by_frames=")
    if by_frames is not None:
        frames = whole("by_frames", by_frames, least=least)
    else:
        frames = round(number("by_s", by_s, least=least, most=MOST_FRAMES / now.fps) * now.fps)
    if abs(frames) > MOST_FRAMES:
        raise OptionError(f"{frames} frames, expected fewer than the clip's {now.n_frames}")
    return frames
