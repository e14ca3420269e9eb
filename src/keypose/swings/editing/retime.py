"""Joints, or the whole clip, slower or faster."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model.motion import MOST_POSES
from keypose.options import number, one_of
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.clock import Clock
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.pieces import Piece, course_of, pieces_of, places_of_swings
from keypose.swings.editing.retime_clip import retimed
from keypose.swings.editing.room import LEAST_FRAMES
from keypose.swings.editing.selection import chosen
from keypose.swings.editing.timing import anchored
from keypose.swings.editing.turning import turn_of, turned_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.path import Path
from keypose.swings.track import Track

Joints = str | tuple[str, ...] | list[str]
Kept: TypeAlias = Literal["contacts"]

GREATEST_FACTOR = 1000.0
MOST_EDITED = MOST_POSES // 16  # frames x joints: holding feet and laying edits over a capture take ten times a motion


def retime(
    now: Swings,
    before: Unedited,
    joints: Joints = "all",
    factor: Any = None,
    *,
    from_s: float | None = None,
    to_s: float | None = None,
    keep: Kept | None = "contacts",
) -> SwingChange:
    """The whole clip, ``"all"``, takes ``factor`` times as long; or every swing of some joints does, about its middle.

    The latter goes as far as gaps leave room: two neighbours that both grow share what is between them. ``from_s`` and
    ``to_s``: only that part of the clip, or the swings of which any part lies between them. ``keep``: with
    ``"contacts"`` feet are held where they stood when it is played.
    """
    if factor is None:
        raise OptionError("factor= is missing: how many times as long")
    times = number("factor", factor, above=0.0, most=GREATEST_FACTOR)
    if keep is not None:
        one_of("keep", keep, ("contacts",))
    if isinstance(joints, str) and joints == "all":
        return _whole_clip(now, before, times, from_s, to_s)
    if not isinstance(joints, str | tuple | list) or not all(isinstance(name, str) for name in joints):
        raise OptionError(f"joints={joints!r}, expected names of joints, body parts or groups")
    which = joints if from_s is None and to_s is None else now.find(joints, from_s=from_s, to_s=to_s)
    rows, short, of = {}, 0, 0
    for j, some in chosen(now, which).items():
        old = pieces_of(now.tracks[j])
        meant = {places_of_swings(old)[index] for index in some}
        row, less = _stretched(old, times, now.n_frames, meant)
        rows[j] = (old, row)
        short, of = short + less, of + len(some)
    note = f"{short} of {of} swings have no room to take {times:g} times as long" if short else ""
    return fitted_in(now, before, rows, note)


def _whole_clip(now: Swings, before: Unedited, times: float, from_s: float | None, to_s: float | None) -> SwingChange:
    last = now.n_frames - 1
    if last == 0:
        raise OptionError(f"{now.name} has one frame, which cannot take longer")
    start = 0 if from_s is None else round(number("from_s", from_s, least=0.0, most=now.duration_s) * now.fps)
    end = last if to_s is None else min(last, round(number("to_s", to_s, least=0.0, most=now.duration_s) * now.fps))
    if end <= start:
        raise OptionError(f"from_s={from_s}, to_s={to_s}: expected a part of the clip, from 0 to {now.duration_s:g} s")
    whole = (start, end) == (0, last)
    part = round(now.n_frames * times) - 1 if whole else round((end - start) * times)
    n_frames = now.n_frames - (end - start) + part
    if n_frames * now.n_joints > MOST_EDITED:
        raise OptionError(f"factor={times:g} makes {n_frames} frames, expected at most {MOST_EDITED // now.n_joints}")
    if part < (0 if whole else 1):
        raise OptionError(f"factor={times:g} leaves no frame of {end - start + 1}")
    if n_frames == now.n_frames:
        return SwingChange(now, 0, -1, (), "nothing to change")
    knots = np.array((0, start, end, last), np.float64)
    clock = Clock(*_distinct(knots, knots + np.array((0, 0, 1, 1)) * (n_frames - now.n_frames)))
    after = retimed(now, clock)
    first = min([start, *(_begun(track, start) for track in now.tracks), *(_before_key(p, start) for p in now.paths)])
    return SwingChange(after, first, n_frames - 1, tuple(range(now.n_joints)), before=before.on(clock))


def _begun(track: Track, frame: int) -> int:
    """Where the even turn began that a joint is in at a frame: it ends later now, and so differs from its start on."""
    nodes = course_of(pieces_of(track)).frames
    return int(nodes[nodes <= frame].max(initial=0)) if len(nodes) else frame


def _before_key(path: Path, frame: int) -> int:
    return int(path.keys[path.keys <= frame].max(initial=0))


def _distinct(frames: Floats, become: Floats) -> tuple[Floats, Floats]:
    kept = np.append(True, np.diff(frames) > 0)
    return frames[kept], become[kept]


def _stretched(old: list[Piece], times: float, n_frames: int, meant: set[int]) -> tuple[list[Piece], int]:
    """Every swing that is ``meant``, by its place in the row, about its middle; how many could not go all the way."""
    # frames more at the start and at the end of each
    wanted = [_wanted(piece, times) if piece.place in meant else (0, 0) for piece in old]
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
        if piece.place in meant:
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
