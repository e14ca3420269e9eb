"""Apply edited pieces to a joint: resolve overlaps in time, then adapt rotations without jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange, build_change
from keypose.swings.edit.fade import PaceLimits
from keypose.swings.edit.neighbours import adapt_neighbours
from keypose.swings.edit.overlap import resolve_overlaps
from keypose.swings.edit.pieces import ZERO_ANGLE, Piece, Point, build_track, split_track, swing_indices
from keypose.swings.edit.targets import SwingTargets, resolve_targets
from keypose.swings.edit.time_map import build_warp
from keypose.swings.model import Swings

EASE_SHARE = 0.5  # of a joint's soft speed limit: how fast it returns at seams to the old rotation
DETAIL_FADE_S = 0.15  # before and after a deleted swing, over which detail fades
NOTE_MIN_ANGLE = np.deg2rad(0.05)  # larger differences from the requested rotation are noted

Rows: TypeAlias = Mapping[int, tuple[list[Piece], Sequence[Piece]]]


def edit_each_swing(
    swings: Swings, baseline: Baseline, targets: SwingTargets, edit: Callable[[list[Piece]], list[Piece]], about: Point
) -> SwingChange:
    """Edit each target swing about one of its points; the other pieces adapt.

    ``edit`` takes successive swings of a joint and returns them edited.

    Of successive swings, the next one is moved with the end of the one before or, about their ends, the one before
    with the start of the next, so that each gets the rotation requested. These offsets would add up over a long clip,
    so the joint returns a little at each seam, within its soft speed limit. About their middles they share the
    difference.
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
    for run in _group_runs(selected):
        row[run.start : run.stop] = edit(row[run.start : run.stop])
        if about != "middle":
            order = list(reversed(run)) if about == "end" else list(run)
            for first, second in pairwise(order):
                row[second] = _carry(old_row[first], row[first], old_row[second], row[second], pace)
    if all(old_piece is new_piece for old_piece, new_piece in zip(old_row, row, strict=True)):
        return row
    return [replace(piece, is_fixed=True) if index in selected else piece for index, piece in enumerate(row)]


def _group_runs(indices: Set[int]) -> list[range]:
    """Return ranges of successive indices."""
    runs: list[range] = []
    for index in sorted(indices):
        if runs and runs[-1].stop == index:
            runs[-1] = range(runs[-1].start, index + 1)
        else:
            runs.append(range(index, index + 1))
    return runs


def _carry(old_source: Piece, new_source: Piece, old_piece: Piece, piece: Piece, pace: PaceLimits) -> Piece:
    """Return ``piece`` rotated in the parent's frame as the adjacent end of the source piece was by its edit.

    Less what the seam between them takes up.
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


def apply_rows(swings: Swings, baseline: Baseline, rows: Rows, note: str = "", *, exact: bool = True) -> SwingChange:
    """Return ``swings`` with new pieces of some joints; ``rows`` has old and new pieces, edited ones fixed.

    With ``exact`` the note says which swings do not get the requested rotation. An unchanged row leaves its joint
    unchanged.
    """
    tracks, warps, shares, too_fast = {}, {}, {}, []
    changed_angles: list[float] = []  # of swings that differ from the request
    n_fixed = 0
    for j, (old_row, row) in rows.items():
        if len(old_row) == len(row) and all(old is new for old, new in zip(old_row, row, strict=True)):
            continue
        track = swings.tracks[j]
        free_row = resolve_overlaps(track, old_row, row, swings.n_frames)
        new_row, is_too_fast = adapt_neighbours(track, old_row, free_row, baseline.pace_limits(swings, j))
        tracks[j] = build_track(track, new_row)
        joint_warp = build_warp(old_row, new_row, swings.n_frames)
        if joint_warp is not None:
            warps[j] = joint_warp
        shares[j] = _remaining_detail(old_row, new_row, swings)
        pairs = [
            (piece.rotation_vector, new_piece.rotation_vector)
            for piece, new_piece in zip(row, new_row, strict=True)
            if piece.is_fixed
        ]
        vector_pairs = [(old, new) for old, new in pairs if old is not None and new is not None]
        changed_angles += [
            float(np.linalg.norm(new)) for old, new in vector_pairs if np.linalg.norm(new - old) > NOTE_MIN_ANGLE
        ]
        n_fixed += len(vector_pairs)
        if is_too_fast:
            too_fast.append(track.joint)
    notes = [note] if note else []
    if changed_angles and exact:
        summary = f"{len(changed_angles)} of {n_fixed} swings turn by {_format_degrees(changed_angles)} degrees instead"
        notes.append(f"{summary}, to meet those beside them")
    if too_fast:
        names = ", ".join(too_fast)
        notes.append(f"{names}: between edited swings there is too little room to turn as slowly as before")
    change = build_change(swings, tracks, "; ".join(notes))
    return replace(change, baseline=baseline.warp_joints(warps, shares)) if tracks else change


def _remaining_detail(old_row: Sequence[Piece], row: Sequence[Piece], swings: Swings) -> Floats:
    """Return the share (T,) of the detail that remains: 0 where a swing was deleted or inserted."""
    remaining = {piece.old_index for piece in row}
    spans = [(piece.start, piece.end) for piece in old_row if piece.old_index not in remaining]
    spans += [(piece.start, piece.end) for piece in row if piece.old_index < 0]
    frames = np.arange(swings.n_frames, dtype=np.float64)
    shares = np.ones(swings.n_frames)
    for start, end in spans:
        distance = np.maximum(np.maximum(start - frames, frames - end), 0.0) / (DETAIL_FADE_S * swings.fps)
        fraction = np.clip(distance, 0.0, 1.0)
        shares = np.minimum(shares, fraction * fraction * (3.0 - 2.0 * fraction))
    return shares


def _format_degrees(angles: Sequence[float]) -> str:
    """Format the range of angles in degrees."""
    ends = np.rad2deg((min(angles), max(angles))).tolist()
    low, high = (f"{angle:.2g}" if angle < 10 else f"{angle:.0f}" for angle in ends)
    return low if low == high else f"{low} to {high}"
