"""Resolve overlaps in time: edited pieces take frames from gaps, then from the pieces beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keypose.errors import OptionError
from keypose.swings.edit.pieces import Piece
from keypose.swings.track import Track

MIN_FRAMES = 3  # that remain of a piece that is cut


def resolve_overlaps(track: Track, old_row: Sequence[Piece], row: Sequence[Piece], n_frames: int) -> list[Piece]:
    """Return ``row``, in the order of ``old_row``, with free pieces cut where fixed ones overlap them.

    A piece that is cut keeps its rotation at its new start or end. Raise an OptionError if there is too little space.
    """
    first_frames, last_frames = _free_ranges(row, n_frames)
    pieces: list[Piece] = []
    for index, piece in enumerate(row):
        start, end = max(piece.start, first_frames[index]), min(piece.end, last_frames[index])
        if (start, end) == (piece.start, piece.end):
            pieces.append(piece)
        elif piece.is_fixed or end - start + 1 < min(MIN_FRAMES, piece.n_frames):
            raise OptionError(_describe_conflict(track.joint, old_row, row, index, n_frames))
        else:
            pieces.append(cut_piece(track, piece, start, end))
    return pieces


def cut_piece(track: Track, piece: Piece, start: int, end: int) -> Piece:
    """Return the part from ``start`` to ``end`` of a free piece of ``track``."""
    if piece.rotation_vector is not None:
        share = (end - start) / (piece.end - piece.start)
        ends = np.array((start, end), np.int32)
        return replace(
            piece,
            frames=ends,
            rotations=track.sample(ends.astype(float)),
            rotation_vector=piece.rotation_vector * share,
        )
    inside = piece.frames[(piece.frames > start) & (piece.frames < end)]
    frames = np.unique(np.concatenate(([start], inside, [end]))).astype(np.int32)
    return replace(piece, frames=frames, rotations=track.sample(frames.astype(float)))


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
    """Describe why the piece at ``index`` does not fit or, if it is free, which fixed piece takes too much of it."""
    first_frames, last_frames = _free_ranges(row, n_frames)
    if not row[index].is_fixed:  # the fixed neighbour that takes more of it
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
