"""Room in time: pieces that an edit has moved or made longer take it from gaps, then from the pieces beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keypose.errors import OptionError
from keypose.swings.editing.pieces import Piece
from keypose.swings.track import Track

LEAST_FRAMES = 3  # that a piece keeps when another takes its room


def with_room(track: Track, before: Sequence[Piece], row: Sequence[Piece], n_frames: int) -> list[Piece]:
    """``row``, still in the order of ``before``, with free pieces cut where fixed ones need room.

    A piece that is cut has at its new start or end the rotation that it had there. What cannot be is an error.
    """
    lows, highs = _between_fixed(row, n_frames)
    after: list[Piece] = []
    for i, piece in enumerate(row):
        start, end = max(piece.start, lows[i]), min(piece.end, highs[i])
        if (start, end) == (piece.start, piece.end):
            after.append(piece)
        elif piece.fixed or end - start + 1 < min(LEAST_FRAMES, piece.n_frames):
            raise OptionError(_no_room(track.joint, before, row, i, n_frames))
        else:
            after.append(cut(track, piece, start, end))
    return after


def cut(track: Track, piece: Piece, start: int, end: int) -> Piece:
    """The part from ``start`` to ``end`` of a free piece of ``track``."""
    if piece.turn is not None:
        share = (end - start) / (piece.end - piece.start)
        ends = np.array((start, end), np.int32)
        return replace(piece, frames=ends, rotations=track.sample(ends.astype(float)), turn=piece.turn * share)
    inside = piece.frames[(piece.frames > start) & (piece.frames < end)]
    frames = np.unique(np.concatenate(([start], inside, [end]))).astype(np.int32)
    return replace(piece, frames=frames, rotations=track.sample(frames.astype(float)))


def _between_fixed(row: Sequence[Piece], n_frames: int) -> tuple[list[int], list[int]]:
    """For each piece the first and the last frame between the fixed ones on both sides of it."""
    lows, highs = [0] * len(row), [n_frames - 1] * len(row)
    for i in range(1, len(row)):
        lows[i] = max(lows[i - 1], row[i - 1].end + 1) if row[i - 1].fixed else lows[i - 1]
    for i in range(len(row) - 2, -1, -1):
        highs[i] = min(highs[i + 1], row[i + 1].start - 1) if row[i + 1].fixed else highs[i + 1]
    return lows, highs


def _no_room(joint: str, before: Sequence[Piece], row: Sequence[Piece], i: int, n_frames: int) -> str:
    """Why the piece at ``i`` cannot be where it is or, if it is free, what it cannot make room for."""
    lows, highs = _between_fixed(row, n_frames)
    if not row[i].fixed:  # the one beside that takes more of it asks for too much
        by_left = lows[i] - row[i].start >= row[i].end - highs[i]
        i = max(k for k in range(i) if row[k].fixed) if by_left else min(k for k in range(i, len(row)) if row[k].fixed)
    asked = row[i]
    low, high = lows[i], highs[i]
    if i > 0 and not row[i - 1].fixed:
        low = max(row[i - 1].start, low) + min(LEAST_FRAMES, row[i - 1].n_frames)
    if i + 1 < len(row) and not row[i + 1].fixed:
        high = min(row[i + 1].end, high) - min(LEAST_FRAMES, row[i + 1].n_frames)

    def named(piece: Piece) -> str:
        return (before[piece.place] if piece.place >= 0 else piece).shown(joint)

    beside = i - 1 if asked.start < low else i + 1
    if asked.start < 0 or asked.end >= n_frames or not 0 <= beside < len(row):
        why = f"the clip has frames 0 to {n_frames - 1}"
    else:
        why = f"{named(row[beside])} is in the way"
    room = f"there is room from frame {low} to {high}" if low < high else "there is no room"
    return f"{named(asked)} cannot go to frames {asked.start} to {asked.end}: {why}; {room}"
