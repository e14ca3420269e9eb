"""Edited pieces put among the others of a joint: room in time first, then turns that go on without jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise
from keypose.swings.editing.adapting import adapted
from keypose.swings.editing.change import SwingChange, changed
from keypose.swings.editing.clock import warp
from keypose.swings.editing.fading import Pace
from keypose.swings.editing.pieces import NO_TURN, Piece, Point, pieces_of, places_of_swings, track_of
from keypose.swings.editing.room import with_room
from keypose.swings.editing.selection import Which, chosen
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings

EASED = 0.5  # of a joint's usual speed: how fast it goes back at seams to where it was
FADED_S = 0.15  # before and after a swing that was taken away: over which detail goes and comes back
OTHERWISE = np.deg2rad(0.05)  # so far off, a swing does not turn as asked

Rows: TypeAlias = Mapping[int, tuple[list[Piece], Sequence[Piece]]]


def each_swing(
    now: Swings, before: Unedited, which: Which, edit: Callable[[list[Piece]], list[Piece]], about: Point
) -> SwingChange:
    """The swings meant, each edited about one of its points; the others adapt.

    ``edit`` takes those of a joint that follow each other, one after another as they are, and gives them back edited.

    Of those that follow each other, the next one is carried along with the end of the one before or, about their
    ends, the one before with the start of the next: so each turns as it is edited to. What they are carried by would
    add up over a long clip, so the joint goes back a little at each seam, no faster than it usually turns. About their
    middles neither comes first, and they share what they disagree by.
    """
    rows = {}
    for j, some in chosen(now, which).items():
        old = pieces_of(now.tracks[j])
        places = places_of_swings(old)
        rows[j] = (old, _edited(old, {places[index] for index in some}, edit, about, before.pace(now, j)))
    return fitted_in(now, before, rows)


def _edited(
    old: Sequence[Piece], meant: Set[int], edit: Callable[[list[Piece]], list[Piece]], about: Point, pace: Pace
) -> list[Piece]:
    """The row ``old`` with pieces at some places edited; the very pieces where no edit makes any difference."""
    row = list(old)
    for run in _runs(meant):
        row[run.start : run.stop] = edit(row[run.start : run.stop])
        if about != "middle":
            order = list(reversed(run)) if about == "end" else list(run)
            for first, following in pairwise(order):
                row[following] = _carried(old[first], row[first], old[following], row[following], pace)
    if all(one is other for one, other in zip(old, row, strict=True)):
        return row
    return [replace(piece, fixed=True) if place in meant else piece for place, piece in enumerate(row)]


def _runs(places: Set[int]) -> list[range]:
    """Places in a row that follow each other, together."""
    runs: list[range] = []
    for place in sorted(places):
        if runs and runs[-1].stop == place:
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


def _carried(was: Piece, now: Piece, old: Piece, piece: Piece, pace: Pace) -> Piece:
    """``piece``, edited from ``old``, turned in the parent's frame by what the end beside it of another was turned by.

    Less what the seam between them takes up.
    """
    tip, own = (-1, 0) if was.start < old.start else (0, -1)
    carried = log(multiply(now.rotations[tip], conjugate(was.rotations[tip])))
    angle = float(np.linalg.norm(carried))
    if angle <= NO_TURN:
        return piece
    gap = abs(int(old.frames[own]) - int(was.frames[tip]))
    seam = float(angle_between(was.rotations[tip], old.rotations[own])) / gap
    back = max(0.0, min(EASED * pace.usual, pace.usual - seam)) * gap
    left = carried * max(0.0, 1.0 - back / angle)
    return replace(piece, rotations=normalise(multiply(exp(left), piece.rotations)))


def fitted_in(now: Swings, before: Unedited, rows: Rows, note: str = "", *, exact: bool = True) -> SwingChange:
    """``now`` with other pieces of some joints: of each those before, and those meant, fixed where the edit made them.

    If they were asked for exactly, the note says which turn otherwise.
    A row that holds the very pieces leaves its joint as it is.
    """
    tracks, warps, shares, hurried = {}, {}, {}, []
    others: list[float] = []  # how far swings turn that were asked to turn otherwise
    fixed = 0
    for j, (old, row) in rows.items():
        if len(old) == len(row) and all(one is other for one, other in zip(old, row, strict=True)):
            continue
        track = now.tracks[j]
        after, hurry = adapted(track, old, with_room(track, old, row, now.n_frames), before.pace(now, j))
        tracks[j] = track_of(track, after)
        came = warp(old, after, now.n_frames)
        if came is not None:
            warps[j] = came
        shares[j] = _detail_left(old, after, now)
        asked = [(piece.turn, done.turn) for piece, done in zip(row, after, strict=True) if piece.fixed]
        turns = [(one, other) for one, other in asked if one is not None and other is not None]
        others += [float(np.linalg.norm(other)) for one, other in turns if np.linalg.norm(other - one) > OTHERWISE]
        fixed += len(turns)
        if hurry:
            hurried.append(track.joint)
    notes = [note] if note else []
    if others and exact:
        met = f"{len(others)} of {fixed} swings turn by {_degrees(others)} degrees instead"
        notes.append(f"{met}, to meet those beside them")
    if hurried:
        named = ", ".join(hurried)
        notes.append(f"{named}: between edited swings there is too little room to turn as slowly as before")
    change = changed(now, tracks, "; ".join(notes))
    return replace(change, before=before.warped(warps, shares)) if tracks else change


def _detail_left(old: Sequence[Piece], row: Sequence[Piece], now: Swings) -> Floats:
    """(T,) the share of the detail that stays: none where a swing was taken away or put in, which it does not fit."""
    kept = {piece.place for piece in row}
    spans = [(piece.start, piece.end) for piece in old if piece.place not in kept]
    spans += [(piece.start, piece.end) for piece in row if piece.place < 0]
    frames = np.arange(now.n_frames, dtype=np.float64)
    left = np.ones(now.n_frames)
    for start, end in spans:
        away = np.maximum(np.maximum(start - frames, frames - end), 0.0) / (FADED_S * now.fps)
        part = np.clip(away, 0.0, 1.0)
        left = np.minimum(left, part * part * (3.0 - 2.0 * part))
    return left


def _degrees(angles: Sequence[float]) -> str:
    """From the least to the largest, in degrees."""
    ends = np.rad2deg((min(angles), max(angles))).tolist()
    least, most = (f"{angle:.2g}" if angle < 10 else f"{angle:.0f}" for angle in ends)
    return least if least == most else f"{least} to {most}"
