"""Swings earlier or later, longer or shorter."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from keypose.errors import OptionError
from keypose.options import number, one_of, whole
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import each_swing
from keypose.swings.editing.pieces import Piece, Point
from keypose.swings.editing.room import LEAST_FRAMES
from keypose.swings.editing.selection import Which
from keypose.swings.editing.turning import GREATEST_FACTOR, POINTS, turn_of, turned_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings

Kept: TypeAlias = Literal["angle", "speed"]
KEPT: tuple[Kept, ...] = get_args(Kept)


def shift(now: Swings, before: Unedited, which: Which, *, by_s: Any = None, by_frames: Any = None) -> SwingChange:
    """Swings later or, by negative times, earlier; gaps and then neighbours make room."""
    by = _frames(now, by_s, by_frames)

    def later(run: list[Piece]) -> list[Piece]:
        return [turned_about(piece, "start", turn_of(piece), (piece.start + by, piece.end + by)) for piece in run]

    return each_swing(now, before, which, later, "start")


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

    Those that follow each other are one after another again, the gaps between them as they were; then the anchor is
    that of them all.
    They keep their angle and are slower, or keep their speed and turn farther, the rotation at the anchor kept.
    """
    if factor is not None:
        factor = number("factor", factor, least=1.0, most=GREATEST_FACTOR)
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

    def stretched(run: list[Piece]) -> list[Piece]:
        lasts = [_lasting(piece, factor, sign * by) for piece in run]
        gaps = [0, *(other.start - one.end for one, other in pairwise(run))]
        more = sum(lasts) - sum(piece.end - piece.start for piece in run)
        at, row = run[0].start - _earlier(anchor, more), []
        for piece, gap, last in zip(run, gaps, lasts, strict=True):
            turn = turn_of(piece) * (1.0 if keep == "angle" else last / (piece.end - piece.start))
            row.append(turned_about(piece, anchor, turn, (at + gap, at + gap + last)))
            at += gap + last
        return row

    return each_swing(now, before, which, stretched, anchor)


def _lasting(piece: Piece, factor: float | None, by: int) -> int:
    """How many frames a swing is to last from its first to its last."""
    old = piece.end - piece.start
    last = old + by if factor is None else round(old * factor)
    if last < old and last + 1 < LEAST_FRAMES:
        raise OptionError(
            f"a swing of {piece.n_frames} frames, frames {piece.start} to {piece.end}, cannot be shortened to "
            f"{last + 1} frames, expected at least {LEAST_FRAMES}"
        )
    return last


def anchored(piece: Piece, anchor: Point, more: int) -> tuple[int, int]:
    """The first and the last frame of a piece that lasts ``more`` frames longer."""
    early = _earlier(anchor, more)
    return piece.start - early, piece.end + more - early


def _earlier(anchor: Point, more: int) -> int:
    """How many of ``more`` frames come before the anchor."""
    return {"start": 0, "middle": abs(more) // 2, "end": abs(more)}[anchor] * int(np.sign(more))


def _frames(now: Swings, by_s: Any, by_frames: Any, *, least: int | None = None) -> int:
    """A time as frames."""
    if (by_s is None) == (by_frames is None):
        raise OptionError("say how much in one way: by_s= or by_frames=")
    if by_frames is not None:
        frames = whole("by_frames", by_frames, least=least)
        if abs(frames) > now.n_frames:
            raise OptionError(f"by_frames={frames}, expected fewer than the clip's {now.n_frames} frames")
        return frames
    longest = now.duration_s
    return round(number("by_s", by_s, least=-longest if least is None else least, most=longest) * now.fps)
