"""Apply edited pieces to a joint: resolve overlaps in time, then adapt rotations without jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats, runs
from keypose.errors import OptionError
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import Displacement, SwingChange, SwingTargets, build_change, resolve_targets
from keypose.swings.edit.detail import spread_frames
from keypose.swings.edit.neighbours import PaceLimits, adapt_and_return, edited_zones, find_displacement
from keypose.swings.edit.pieces import (
    MIN_FRAMES,
    ZERO_ANGLE,
    Piece,
    Point,
    build_track,
    cut_piece,
    split_track,
    swing_indices,
)
from keypose.swings.edit.time_map import build_warp
from keypose.swings.model import Swings
from keypose.swings.track import Track

EASE_SHARE = 0.5  # speed with which a joint returns to the old rotation at seams, relative to its soft speed limit
DETAIL_FADE_S = 0.15  # time before and after a deleted swing in which detail fades
NOTE_MIN_ANGLE = np.deg2rad(0.05)  # smaller differences from the requested rotation are not noted

Rows: TypeAlias = Mapping[int, tuple[list[Piece], Sequence[Piece]]]


def edit_each_swing(
    swings: Swings, baseline: Baseline, targets: SwingTargets, edit: Callable[[list[Piece]], list[Piece]], about: Point
) -> SwingChange:
    """Edit each target swing about one of its points, and adapt the other pieces.

    ``edit`` is called with successive swings of a joint and returns the edited ones.

    Of two successive swings, the second is moved with the end of the first or, if they are edited about their ends, the
    first with the start of the second, so that each gets the requested rotation. These offsets would add up over a long
    clip, so the joint returns a little at each seam, within its soft speed limit. If they are edited about their
    middles, both are moved.
    """
    rows = {}
    for j, swing_numbers in resolve_targets(swings, targets).items():
        old_row = split_track(swings.tracks[j])
        indices = swing_indices(old_row)
        selected = {indices[index] for index in swing_numbers}
        rows[j] = (old_row, _edit_row(old_row, selected, edit, about, baseline.pace_limits(swings, j)))
    return apply_rows(swings, baseline, rows)


def _edit_row(
    old_row: Sequence[Piece],
    selected: Set[int],
    edit: Callable[[list[Piece]], list[Piece]],
    about: Point,
    pace: PaceLimits,
) -> list[Piece]:
    """Return ``old_row`` with the pieces at ``selected`` indices edited; unchanged pieces are returned as they are."""
    row = list(old_row)
    for run in _group_runs(old_row, selected):
        for index, piece in zip(run, edit([old_row[index] for index in run]), strict=True):
            row[index] = piece
        if about != "middle":
            for first, second in pairwise(run[::-1] if about == "end" else run):
                row[second] = _rotate_with_neighbour(old_row[first], row[first], old_row[second], row[second], pace)
    if all(old_piece is new_piece for old_piece, new_piece in zip(old_row, row, strict=True)):
        return row
    return [replace(piece, is_fixed=True) if index in selected else piece for index, piece in enumerate(row)]


def _group_runs(row: Sequence[Piece], selected: Set[int]) -> list[list[int]]:
    """Return the ``selected`` indices in runs without another piece, except rests, between them."""
    runs: list[list[int]] = [[]]
    for index, piece in enumerate(row):
        if index in selected:
            runs[-1].append(index)
        elif piece.rest is None and runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _rotate_with_neighbour(
    old_source: Piece, new_source: Piece, old_piece: Piece, piece: Piece, pace: PaceLimits
) -> Piece:
    """Return ``piece`` rotated in the frame of the parent by the same rotation as the adjacent end of the edited source
    piece.

    The part of the rotation that the seam between them allows is subtracted.
    """
    source_end, piece_end = (-1, 0) if old_source.start < old_piece.start else (0, -1)
    carried = log(multiply(new_source.rotations[source_end], conjugate(old_source.rotations[source_end])))
    angle = float(np.linalg.norm(carried))
    if angle <= ZERO_ANGLE:
        return piece
    gap = abs(int(old_piece.frames[piece_end]) - int(old_source.frames[source_end]))
    seam = float(angle_between(old_source.rotations[source_end], old_piece.rotations[piece_end])) / gap
    returned = max(0.0, min(EASE_SHARE * pace.soft, pace.soft - seam)) * gap
    remaining = carried * max(0.0, 1.0 - returned / angle)
    return replace(piece, rotations=normalise(multiply(exp(remaining), piece.rotations)))


def apply_rows(swings: Swings, baseline: Baseline, rows: Rows, note: str = "", *, is_local: bool = True) -> SwingChange:
    """Return ``swings`` with new pieces of some joints; ``rows`` has old and new pieces, edited ones fixed.

    If the edit ``is_local``, joints return to their old motion beside edited pieces, and the note lists swings that do
    not get the requested rotation. A joint with an unchanged row does not change.
    """
    tracks, warps, shares, too_fast = {}, {}, {}, []
    displacements: list[Displacement] = []
    # smoothing of steps in a capture extends the frames that change
    margin = max(1, round(baseline.return_s * swings.fps) - spread_frames(swings.fps) - 1) if is_local else None
    changed_angles: list[float] = []  # of swings with another rotation than requested
    n_fixed = 0
    for j, (old_row, row) in rows.items():
        if len(old_row) == len(row) and all(old is new for old, new in zip(old_row, row, strict=True)):
            continue
        track = swings.tracks[j]
        row = _make_room(track, row, swings.n_frames)
        free_row = resolve_overlaps(track, old_row, row, swings.n_frames)
        pace = baseline.pace_limits(swings, j)
        new_row, is_too_fast, edges = adapt_and_return(track, old_row, free_row, pace, swings.n_frames, margin)
        tracks[j] = build_track(track, new_row)
        joint_warp = build_warp(old_row, new_row, swings.n_frames, edges)
        if joint_warp is not None:
            warps[j] = joint_warp
        shares[j] = _remaining_detail(old_row, new_row, edges, swings)
        if is_local:
            zones = edited_zones(old_row, row, max(1, round(baseline.return_s * swings.fps)), swings.n_frames)
            displacement = find_displacement(track, tracks[j], zones, swings.n_frames)
            if joint_warp is not None:
                moved = baseline.detail_displacement(j, track, tracks[j], joint_warp, zones)
                displacement = np.maximum(displacement, moved)
            displacements += _list_displacements(track.joint, displacement)
        edited = [piece for piece in new_row if piece.is_fixed and not piece.is_return]
        pairs = [
            (piece.rotation_vector, new_piece.rotation_vector)
            for piece, new_piece in zip((piece for piece in row if piece.is_fixed), edited, strict=True)
        ]
        vector_pairs = [(old, new) for old, new in pairs if old is not None and new is not None]
        changed_angles += [
            float(np.linalg.norm(new)) for old, new in vector_pairs if np.linalg.norm(new - old) > NOTE_MIN_ANGLE
        ]
        n_fixed += len(vector_pairs)
        if is_too_fast:
            too_fast.append(track.joint)
    notes = [note] if note else []
    if changed_angles and is_local:
        summary = (
            f"{len(changed_angles)} of {n_fixed} swings rotate by {_format_degrees(changed_angles)} degrees instead"
        )
        notes.append(f"{summary}, so that they connect to the swings beside them")
    if too_fast:
        names = ", ".join(too_fast)
        notes.append(f"{names}: moves faster than before between edited swings, because there is too little time")
    if displacements:
        notes.append(_describe_displacements(displacements, baseline.return_s))
    change = build_change(swings, tracks, "; ".join(notes))
    if not tracks:
        return change
    return replace(change, baseline=baseline.warp_joints(warps, shares), displacements=tuple(displacements))


def _list_displacements(joint: str, displacement: Floats) -> list[Displacement]:
    """Return the spans in which the displacement (T,), in radians, of a joint is not negligible."""
    return [
        Displacement(joint, start, stop - 1, float(np.rad2deg(displacement[start:stop].max())))
        for start, stop in runs(displacement > NOTE_MIN_ANGLE)
    ]


def _describe_displacements(displacements: Sequence[Displacement], return_s: float) -> str:
    widest = max(displacements, key=lambda displacement: displacement.max_deg)
    joints = dict.fromkeys(displacement.joint for displacement in displacements)
    others = f" and {len(joints) - 1} more" if len(joints) > 1 else ""
    return (
        f"{widest.joint}{others} cannot return to the motion before the edit within {return_s:g} s: "
        f"up to {widest.max_deg:.2g} degrees off in frames {widest.start} to {widest.end}"
    )


def _remaining_detail(old_row: Sequence[Piece], row: Sequence[Piece], edges: Sequence[int], swings: Swings) -> Floats:
    """Return the share (T,) of the detail that remains: 0 where a swing was deleted or inserted, 1 at ``edges``."""
    remaining = {piece.old_index for piece in row}
    spans = [(piece.start, piece.end) for piece in old_row if piece.rest is None and piece.old_index not in remaining]
    spans += [(piece.start, piece.end) for piece in row if piece.old_index < 0 and not piece.is_return]
    frames = np.arange(swings.n_frames, dtype=np.float64)
    shares = np.ones(swings.n_frames)
    fade = DETAIL_FADE_S * swings.fps
    for start, end in spans:
        first = max([start, *(edge + fade for edge in edges if edge <= start)])
        last = min([end, *(edge - fade for edge in edges if edge >= end)])
        distance = np.maximum(np.maximum(first - frames, frames - last), 0.0) / fade
        fraction = np.clip(distance, 0.0, 1.0)
        shares = np.minimum(shares, fraction * fraction * (3.0 - 2.0 * fraction))
    return shares


def _format_degrees(angles: Sequence[float]) -> str:
    """Format the range of angles in degrees."""
    ends = np.rad2deg((min(angles), max(angles))).tolist()
    low, high = (f"{angle:.2g}" if angle < 10 else f"{angle:.0f}" for angle in ends)
    return low if low == high else f"{low} to {high}"


def resolve_overlaps(track: Track, old_row: Sequence[Piece], row: Sequence[Piece], n_frames: int) -> list[Piece]:
    """Return ``row``, in the order of ``old_row``, with free pieces cut where fixed ones overlap them.

    A piece that is cut has the same rotation as before at its new start or end. Raise an OptionError if there is too
    little space.
    """
    first_frames, last_frames = _free_ranges(row, n_frames)
    pieces: list[Piece] = []
    for index, piece in enumerate(row):
        start, end = max(piece.start, first_frames[index]), min(piece.end, last_frames[index])
        if (start, end) == (piece.start, piece.end):
            pieces.append(piece)
        elif piece.is_fixed or end - start + 1 < min(MIN_FRAMES, piece.n_frames):
            solid = [other for other in row if other.rest is None]
            problem = _describe_conflict(track.joint, old_row, solid, solid.index(piece), n_frames)
            raise OptionError(problem, code="no_room", value=piece.start)
        else:
            pieces.append(cut_piece(track, piece, start, end))
    return pieces


def _make_room(track: Track, row: Sequence[Piece], n_frames: int) -> list[Piece]:
    """Return ``row`` without the parts of rests that edited pieces overlap.

    A rest whose middle is free does not change. Otherwise the remaining part gets the rotation in its own middle.
    """
    first_frames, last_frames = _free_ranges(row, n_frames)
    new_row = []
    for piece, low, high in zip(row, first_frames, last_frames, strict=True):
        if piece.rest is None or low <= piece.start <= high:
            new_row.append(piece)
            continue
        start, end = max(piece.rest[0], low), min(piece.rest[1], high)
        if start <= end:
            middle = np.array([(start + end) // 2], np.int32)
            rotations = track.sample(middle.astype(np.float64))
            new_row.append(replace(piece, frames=middle, rotations=rotations, rest=(start, end)))
    return new_row


def _free_ranges(row: Sequence[Piece], n_frames: int) -> tuple[list[int], list[int]]:
    """Return for each piece the first and the last frame between the fixed ones on both sides of it."""
    first_frames, last_frames = [0] * len(row), [n_frames - 1] * len(row)
    for index in range(1, len(row)):
        first_frames[index] = (
            max(first_frames[index - 1], row[index - 1].end + 1) if row[index - 1].is_fixed else first_frames[index - 1]
        )
    for index in range(len(row) - 2, -1, -1):
        last_frames[index] = (
            min(last_frames[index + 1], row[index + 1].start - 1) if row[index + 1].is_fixed else last_frames[index + 1]
        )
    return first_frames, last_frames


def _describe_conflict(joint: str, old_row: Sequence[Piece], row: Sequence[Piece], index: int, n_frames: int) -> str:
    """Describe why the piece at ``index`` does not fit or, if it is free, which fixed piece overlaps too much of it."""
    first_frames, last_frames = _free_ranges(row, n_frames)
    if not row[index].is_fixed:  # the fixed neighbour that overlaps more of it
        by_left = first_frames[index] - row[index].start >= row[index].end - last_frames[index]
        index = (
            max(k for k in range(index) if row[k].is_fixed)
            if by_left
            else min(k for k in range(index, len(row)) if row[k].is_fixed)
        )
    requested = row[index]
    low, high = first_frames[index], last_frames[index]
    if index > 0 and not row[index - 1].is_fixed:
        low = max(row[index - 1].start, low) + min(MIN_FRAMES, row[index - 1].n_frames)
    if index + 1 < len(row) and not row[index + 1].is_fixed:
        high = min(row[index + 1].end, high) - min(MIN_FRAMES, row[index + 1].n_frames)

    def describe(piece: Piece) -> str:
        return (old_row[piece.old_index] if piece.old_index >= 0 else piece).describe(joint)

    neighbour = index - 1 if requested.start < low else index + 1
    if requested.start < 0 or requested.end >= n_frames or not 0 <= neighbour < len(row):
        reason = f"the clip has frames 0 to {n_frames - 1}"
    else:
        reason = f"{describe(row[neighbour])} is in the way"
    free_frames = f"there is room from frame {low} to {high}" if low < high else "there is no room"
    return f"{describe(requested)} cannot go to frames {requested.start} to {requested.end}: {reason}; {free_frames}"
