"""Swings put elsewhere: on another joint, on the other side of the body, at another time; or taken away."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from keypose.errors import OptionError
from keypose.options import flag, number
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.mirrored import mirrored_turn
from keypose.swings.editing.pieces import Piece, pieces_of, places_of_swings, swing_piece
from keypose.swings.editing.room import cut
from keypose.swings.editing.selection import Which, chosen, only_one
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.track import Track


def delete(now: Swings, before: Unedited, which: Which) -> SwingChange:
    """Without some swings: there the joint turns evenly from what is before to what is behind."""
    rows = {}
    for j, some in chosen(now, which).items():
        old = pieces_of(now.tracks[j])
        places = places_of_swings(old)
        gone = {places[index] for index in some}
        rows[j] = (old, [piece for place, piece in enumerate(old) if place not in gone])
    return fitted_in(now, before, rows)


def copy(
    now: Swings,
    before: Unedited,
    swing: Which,
    to: str | None = None,
    *,
    mirror: bool = False,
    at_s: Any = None,
    replace: bool = False,
) -> SwingChange:
    """The same turn on another joint or at another time, from what that joint does there.

    ``mirror``: the turn as seen in a mirror, on the mirrored joint unless ``to`` names another. Swings that are in the
    way are an error or, with ``replace``, are taken away; keys there give way.
    """
    source, index = only_one(now, swing)
    model = now.tracks[source].swings[index]
    mirror, over = flag("mirror", mirror), flag("replace", replace)
    own = now.skeleton.anatomy.mirrored()[source] if mirror else source
    target = own if to is None else now.skeleton.joint(to)
    start = model.start if at_s is None else round(number("at_s", at_s, least=0.0, most=now.duration_s) * now.fps)
    if target == source and start == model.start and not mirror:
        raise OptionError(f"{model!r} is to be copied to its own place; say to=, mirror=True or at_s=")
    end = start + model.end - model.start
    if end >= now.n_frames:
        raise OptionError(f"{model!r} copied to frames {start} to {end}: the clip has frames 0 to {now.n_frames - 1}")
    turn = mirrored_turn(now, source, target, model.turn) if mirror else model.turn
    track = now.tracks[target]
    old = pieces_of(track)
    row = _with_hole(track, old, start, end, replace=over)
    new = swing_piece(start, end, track.sample(np.array([float(start)]))[0], turn, -1)
    row.insert(sum(piece.end < start for piece in row), new)
    return fitted_in(now, before, {target: (old, row)})


def _with_hole(track: Track, old: Sequence[Piece], start: int, end: int, *, replace: bool) -> list[Piece]:
    """Pieces without what lies in frames ``start`` to ``end``: swings as a whole, of keyed spans those frames."""
    in_the_way = [piece for piece in old if piece.turn is not None and piece.start <= end and piece.end >= start]
    if in_the_way and not replace:
        named = ", ".join(piece.shown(track.joint) for piece in in_the_way)
        raise OptionError(f"frames {start} to {end} of {track.joint!r} are taken by {named}; replace=True removes that")
    row = []
    for piece in old:
        if piece.end < start or piece.start > end:
            row.append(piece)
        elif piece.turn is None:
            if piece.start < start:
                row.append(_part(track, piece, piece.start, start - 1))
            if piece.end > end:
                row.append(_part(track, piece, end + 1, piece.end))
    return row


def _part(track: Track, piece: Piece, start: int, end: int) -> Piece:
    return dataclasses.replace(cut(track, piece, start, end), place=-1)
