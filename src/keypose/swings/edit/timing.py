"""Move swings in time, lengthen and shorten them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from keypose.errors import OptionError, format_count
from keypose.swings.edit.angle_axis import MAX_FACTOR, POINTS, rotate_piece_about, swing_vector
from keypose.swings.edit.apply_edit import edit_each_swing
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange, SwingTargets
from keypose.swings.edit.pieces import MIN_FRAMES, Piece, Point
from keypose.swings.model import Swings
from keypose.validation import check_choice, check_int, check_number

Keep: TypeAlias = Literal["angle", "speed"]
KEEP_CHOICES: tuple[Keep, ...] = get_args(Keep)


def shift(
    swings: Swings, baseline: Baseline, targets: SwingTargets, *, by_s: Any = None, by_frames: Any = None
) -> SwingChange:
    """Move swings later or, with negative times, earlier; gaps and then neighbours are cut."""
    n_frames = _parse_frames(swings, by_s, by_frames)

    def shift_run(run: list[Piece]) -> list[Piece]:
        return [
            rotate_piece_about(piece, "start", swing_vector(piece), (piece.start + n_frames, piece.end + n_frames))
            for piece in run
        ]

    return edit_each_swing(swings, baseline, targets, shift_run, "start")


def lengthen(
    swings: Swings,
    baseline: Baseline,
    targets: SwingTargets,
    *,
    by_s: Any = None,
    by_frames: Any = None,
    factor: Any = None,
    anchor: Point = "middle",
    keep: Keep = "angle",
) -> SwingChange:
    """Lengthen swings by a time or by ``factor``. The time of the anchor point does not change.

    Successive swings are lengthened together, with unchanged gaps between them; the anchor is then that of all of them.
    With ``keep`` either the angle or the speed is preserved, so that they become slower or rotate farther; the rotation
    at the anchor does not change.
    """
    if factor is not None:
        factor = check_number("factor", factor, min_value=1.0, max_value=MAX_FACTOR)
    return _stretch(swings, baseline, targets, by_s, by_frames, factor, 1, anchor, keep)


def shorten(
    swings: Swings,
    baseline: Baseline,
    targets: SwingTargets,
    *,
    by_s: Any = None,
    by_frames: Any = None,
    factor: Any = None,
    anchor: Point = "middle",
    keep: Keep = "angle",
) -> SwingChange:
    """Shorten swings by a time or by ``factor``: faster or, at the same speed, less far."""
    if factor is not None:
        factor = check_number("factor", factor, above=0.0, max_value=1.0)
    return _stretch(swings, baseline, targets, by_s, by_frames, factor, -1, anchor, keep)


def _stretch(
    swings: Swings,
    baseline: Baseline,
    targets: SwingTargets,
    by_s: Any,
    by_frames: Any,
    factor: float | None,
    sign: int,
    anchor: Point,
    keep: Keep,
) -> SwingChange:
    check_choice("anchor", anchor, POINTS)
    check_choice("keep", keep, KEEP_CHOICES)
    if (by_s is not None) + (by_frames is not None) + (factor is not None) != 1:
        raise OptionError(expected="one of by_s=, by_frames= and factor=")
    n_frames = 0 if factor is not None else _parse_frames(swings, by_s, by_frames, min_frames=0)

    def stretch_run(run: list[Piece]) -> list[Piece]:
        lengths = [_new_length(piece, factor, sign * n_frames) for piece in run]
        gaps = [0, *(second.start - first.end for first, second in pairwise(run))]
        added = sum(lengths) - sum(piece.end - piece.start for piece in run)
        next_start, row = run[0].start - _frames_before_anchor(anchor, added), []
        for piece, gap, length in zip(run, gaps, lengths, strict=True):
            rotation_vector = swing_vector(piece) * (1.0 if keep == "angle" else length / (piece.end - piece.start))
            row.append(
                rotate_piece_about(piece, anchor, rotation_vector, (next_start + gap, next_start + gap + length))
            )
            next_start += gap + length
        return row

    return edit_each_swing(swings, baseline, targets, stretch_run, anchor)


def _new_length(piece: Piece, factor: float | None, added: int) -> int:
    """Return the new number of frames from the first to the last of a swing."""
    old_length = piece.end - piece.start
    new_length = old_length + added if factor is None else round(old_length * factor)
    if new_length < old_length and new_length + 1 < MIN_FRAMES:
        raise OptionError(
            f"a swing of {format_count(piece.n_frames, 'frame')}, frames {piece.start} to {piece.end}, cannot be "
            f"shortened to {new_length + 1} frames",
            expected=f"at least {MIN_FRAMES}",
        )
    return new_length


def anchored_frames(piece: Piece, anchor: Point, added: int) -> tuple[int, int]:
    """Return the first and the last frame of a piece lengthened by ``added`` frames."""
    early = _frames_before_anchor(anchor, added)
    return piece.start - early, piece.end + added - early


def _frames_before_anchor(anchor: Point, added: int) -> int:
    """Return how many of ``added`` frames come before the anchor."""
    return {"start": 0, "middle": abs(added) // 2, "end": abs(added)}[anchor] * int(np.sign(added))


def _parse_frames(swings: Swings, by_s: Any, by_frames: Any, *, min_frames: int | None = None) -> int:
    """Return a duration given in seconds or frames as frames."""
    if (by_s is None) == (by_frames is None):
        raise OptionError(expected="one of by_s= and by_frames=")
    if by_frames is not None:
        frames = check_int("by_frames", by_frames, min_value=min_frames)
        if abs(frames) > swings.n_frames:
            raise OptionError(
                option="by_frames",
                value=frames,
                expected=f"fewer than the clip's {format_count(swings.n_frames, 'frame')}",
            )
        return frames
    max_s = swings.duration_s
    return round(
        check_number("by_s", by_s, min_value=-max_s if min_frames is None else min_frames, max_value=max_s) * swings.fps
    )
