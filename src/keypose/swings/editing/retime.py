"""Joints, or the whole clip, slower or faster."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from keypose.errors import OptionError
from keypose.options import number, one_of
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.pieces import Piece, pieces_of
from keypose.swings.editing.retime_clip import retimed_clip
from keypose.swings.editing.room import LEAST_FRAMES
from keypose.swings.editing.selection import chosen
from keypose.swings.editing.timing import anchored
from keypose.swings.editing.turning import turn_of, turned_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings

Joints = str | tuple[str, ...] | list[str]
Kept: TypeAlias = Literal["contacts"]

GREATEST_FACTOR = 1000.0


def retime(
    now: Swings, before: Unedited, joints: Joints = "all", factor: Any = None, *, keep: Kept | None = "contacts"
) -> SwingChange:
    """The whole clip, ``"all"``, takes ``factor`` times as long; or every swing of some joints does, about its middle.

    The latter goes as far as gaps leave room: two neighbours that both grow share what is between them. ``keep``:
    with ``"contacts"`` feet are held where they stood when it is played.
    """
    if factor is None:
        raise OptionError("factor= is missing: how many times as long")
    times = number("factor", factor, above=0.0, most=GREATEST_FACTOR)
    if keep is not None:
        one_of("keep", keep, ("contacts",))
    if isinstance(joints, str) and joints == "all":
        return retimed_clip(now, times)
    if not isinstance(joints, str | tuple | list) or not all(isinstance(name, str) for name in joints):
        raise OptionError(f"joints={joints!r}, expected names of joints, body parts or groups")
    rows, short, of = {}, 0, 0
    for j, some in chosen(now, joints).items():
        old = pieces_of(now.tracks[j])
        row, less = _stretched(old, times, now.n_frames)
        rows[j] = (old, row)
        short, of = short + less, of + len(some)
    note = f"{short} of {of} swings have no room to take {times:g} times as long" if short else ""
    return fitted_in(now, before, rows, note)


def _stretched(old: list[Piece], times: float, n_frames: int) -> tuple[list[Piece], int]:
    """Every swing in a row about its middle, and how many could not go all the way."""
    wanted = [_wanted(piece, times) for piece in old]  # frames more at the start and at the end of each
    early, late = [early for early, _ in wanted], [late for _, late in wanted]
    if old:
        early[0], late[-1] = min(early[0], old[0].start), min(late[-1], n_frames - 1 - old[-1].end)
    for i in range(len(old) - 1):
        free = old[i + 1].start - old[i].end - 1
        late[i] = min(late[i], max(free // 2, free - max(early[i + 1], 0)))
        early[i + 1] = min(early[i + 1], free - max(late[i], 0))
    short = 0
    row = []
    for piece, more in zip(old, zip(early, late, strict=True), strict=True):
        short += more != wanted[piece.place]
        if piece.turn is not None:
            frames = (piece.start - more[0], piece.end + more[1])
            piece = turned_about(piece, "start", turn_of(piece), frames)
        row.append(piece)
    return row, short


def _wanted(piece: Piece, times: float) -> tuple[int, int]:
    if piece.turn is None:
        return 0, 0
    old = piece.end - piece.start
    more = max(round(old * times), min(LEAST_FRAMES - 1, old)) - old
    start, end = anchored(piece, "middle", more)
    return piece.start - start, end - piece.end
