"""Edited pieces put among the others of a joint: room in time first, then turns that go on without jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from keypose.swings.editing.adapting import adapted
from keypose.swings.editing.change import SwingChange, changed
from keypose.swings.editing.pieces import Piece, pieces_of, places_of_swings, track_of
from keypose.swings.editing.room import with_room
from keypose.swings.editing.selection import Which, chosen
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings

Rows: TypeAlias = Mapping[int, tuple[list[Piece], Sequence[Piece]]]


def each_swing(now: Swings, before: Unedited, which: Which, edit: Callable[[Piece], Piece]) -> SwingChange:
    """The swings meant, each edited by itself; the others adapt."""
    rows = {}
    for j, some in chosen(now, which).items():
        old = pieces_of(now.tracks[j])
        places = places_of_swings(old)
        meant = {places[index] for index in some}
        rows[j] = (old, [edit(piece) if place in meant else piece for place, piece in enumerate(old)])
    return fitted_in(now, before, rows)


def fitted_in(now: Swings, before: Unedited, rows: Rows, note: str = "") -> SwingChange:
    """``now`` with other pieces of some joints: of each those before, and those meant, fixed where the edit made them.

    A row that holds the very pieces leaves its joint as it is.
    """
    tracks, hurried = {}, []
    for j, (old, row) in rows.items():
        if len(old) == len(row) and all(one is other for one, other in zip(old, row, strict=True)):
            continue
        track = now.tracks[j]
        after, hurry = adapted(track, old, with_room(track, old, row, now.n_frames), before.pace(now, j))
        tracks[j] = track_of(track, after)
        if hurry:
            hurried.append(track.joint)
    if hurried:
        fast = f"{', '.join(hurried)}: between edited swings there is too little room to turn as slowly as before"
        note = f"{note}; {fast}" if note else fast
    return changed(now, tracks, note)
