"""Retime joints, or the whole clip."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError, format_count
from keypose.model.motion import MAX_POSES
from keypose.swings.edit.angle_axis import rotate_piece_about, swing_vector
from keypose.swings.edit.apply_edit import apply_rows
from keypose.swings.edit.baseline import Baseline, retime_swings
from keypose.swings.edit.change import SwingChange, resolve_targets
from keypose.swings.edit.pieces import MIN_FRAMES, Piece, build_course, split_track, swing_indices
from keypose.swings.edit.time_map import TimeMap
from keypose.swings.edit.timing import anchored_frames
from keypose.swings.model import Swings
from keypose.swings.swing import Path
from keypose.swings.track import Track
from keypose.validation import check_choice, check_number

Joints = str | tuple[str, ...] | list[str]
Keep: TypeAlias = Literal["contacts"]

MAX_FACTOR = 1000.0
MAX_POSES_EDITED = (
    MAX_POSES // 16
)  # frames x joints; planting feet and applying edits to a capture need ten times the memory of a motion


def retime(
    swings: Swings,
    baseline: Baseline,
    joints: Joints = "all",
    factor: Any = None,
    *,
    from_s: float | None = None,
    to_s: float | None = None,
    keep: Keep | None = "contacts",
) -> SwingChange:
    """Make the whole clip, ``"all"``, or every swing of some joints, about its middle, ``factor`` times as long.

    Swings grow as far as gaps allow; two neighbours that both grow get half of the gap between them. ``from_s`` and
    ``to_s``: only that part of the clip, or the swings that are partly between them. ``keep="contacts"``: feet are
    planted in playback.
    """
    if factor is None:
        raise OptionError("missing", option="factor", expected="how many times as long")
    scale = check_number("factor", factor, above=0.0, max_value=MAX_FACTOR)
    if keep is not None:
        check_choice("keep", keep, ("contacts",))
    if isinstance(joints, str) and joints == "all":
        return _retime_clip(swings, baseline, scale, from_s, to_s)
    if not isinstance(joints, str | tuple | list) or not all(isinstance(name, str) for name in joints):
        raise OptionError(option="joints", value=joints, expected="names of joints, body parts or groups")
    targets = joints if from_s is None and to_s is None else swings.find(joints, from_s=from_s, to_s=to_s)
    rows, n_short, n_swings = {}, 0, 0
    for j, swing_numbers in resolve_targets(swings, targets).items():
        old_row = split_track(swings.tracks[j])
        selected = {swing_indices(old_row)[index] for index in swing_numbers}
        row, n_row_short = _stretch_swings(old_row, scale, swings.n_frames, selected)
        rows[j] = (old_row, row)
        n_short, n_swings = n_short + n_row_short, n_swings + len(swing_numbers)
    note = (
        f"{n_short} of {format_count(n_swings, 'swing')} cannot last {scale:g} "
        "times as long: the swings beside them are too close"
        if n_short
        else ""
    )
    return apply_rows(swings, baseline, rows, note)


def _retime_clip(
    swings: Swings, baseline: Baseline, scale: float, from_s: float | None, to_s: float | None
) -> SwingChange:
    last = swings.n_frames - 1
    if last == 0:
        raise OptionError(f"{swings.name} has one frame, which cannot take longer", code="no_room")
    start = (
        0
        if from_s is None
        else round(check_number("from_s", from_s, min_value=0.0, max_value=swings.duration_s) * swings.fps)
    )
    end = (
        last
        if to_s is None
        else min(last, round(check_number("to_s", to_s, min_value=0.0, max_value=swings.duration_s) * swings.fps))
    )
    if end <= start:
        raise OptionError(
            f"nothing lies between {start / swings.fps:g} s and {end / swings.fps:g} s",
            option="from_s",
            expected=f"a part of the clip, from 0 to {swings.duration_s:g} s",
        )
    is_whole = (start, end) == (0, last)
    new_length = round(swings.n_frames * scale) - 1 if is_whole else round((end - start) * scale)
    n_frames = swings.n_frames - (end - start) + new_length
    if n_frames * swings.n_joints > MAX_POSES_EDITED:
        raise OptionError(
            f"makes {format_count(n_frames, 'frame')}",
            option="factor",
            value=scale,
            expected=f"at most {MAX_POSES_EDITED // swings.n_joints}",
        )
    if new_length < (0 if is_whole else 1):
        raise OptionError(f"leaves no frame of {end - start + 1}", option="factor", value=scale)
    if n_frames == swings.n_frames:
        return SwingChange(swings, 0, -1, (), "nothing to change")
    knots = np.array((0, start, end, last), np.float64)
    time_map = TimeMap(*_drop_repeats(knots, knots + np.array((0, 0, 1, 1)) * (n_frames - swings.n_frames)))
    retimed_swings = retime_swings(swings, time_map)
    first = min(
        [
            start,
            *(_segment_start(track, start) for track in swings.tracks),
            *(_key_before(p, start) for p in swings.paths),
        ]
    )
    return SwingChange(
        retimed_swings, first, n_frames - 1, tuple(range(swings.n_joints)), baseline=baseline.retime(time_map)
    )


def _segment_start(track: Track, frame: int) -> int:
    """Return the start of the segment that covers a frame. As it ends later now, it differs from its start on."""
    nodes = build_course(split_track(track)).frames
    return int(nodes[nodes <= frame].max(initial=0)) if len(nodes) else frame


def _key_before(path: Path, frame: int) -> int:
    return int(path.keys[path.keys <= frame].max(initial=0))


def _drop_repeats(frames: Floats, new_frames: Floats) -> tuple[Floats, Floats]:
    is_new = np.append(True, np.diff(frames) > 0)
    return frames[is_new], new_frames[is_new]


def _stretch_swings(old_row: list[Piece], scale: float, n_frames: int, selected: set[int]) -> tuple[list[Piece], int]:
    """Stretch the swings at ``selected`` indices about their middles, over rests where they are in the way; also return
    how many do not have enough space."""
    stretched, n_short = _stretch_row([piece for piece in old_row if piece.rest is None], scale, n_frames, selected)
    new_pieces = {piece.old_index: piece for piece in stretched}
    return [new_pieces.get(piece.old_index, piece) for piece in old_row], n_short


def _stretch_row(old_row: list[Piece], scale: float, n_frames: int, selected: set[int]) -> tuple[list[Piece], int]:
    """Return the same for a row without rests."""
    # frames added at the start and at the end of each
    requested = [_requested_growth(piece, scale) if piece.old_index in selected else (0, 0) for piece in old_row]
    early, late = [early for early, _ in requested], [late for _, late in requested]
    if old_row:
        early[0], late[-1] = min(early[0], old_row[0].start), min(late[-1], n_frames - 1 - old_row[-1].end)
    for index in range(len(old_row) - 1):
        free = old_row[index + 1].start - old_row[index].end - 1
        late[index] = min(late[index], max(free // 2, free - max(early[index + 1], 0)))
        early[index + 1] = min(early[index + 1], free - max(late[index], 0))
    n_short = 0
    row = []
    for piece, more, wanted in zip(old_row, zip(early, late, strict=True), requested, strict=True):
        n_short += more != wanted
        if piece.old_index in selected:
            frames = (piece.start - more[0], piece.end + more[1])
            piece = rotate_piece_about(piece, "start", swing_vector(piece), frames)
        row.append(piece)
    return row, n_short


def _requested_growth(piece: Piece, scale: float) -> tuple[int, int]:
    if piece.rotation_vector is None:
        return 0, 0
    old_length = piece.end - piece.start
    more = max(round(old_length * scale), min(MIN_FRAMES - 1, old_length)) - old_length
    start, end = anchored_frames(piece, "middle", more)
    return piece.start - start, end - piece.end
