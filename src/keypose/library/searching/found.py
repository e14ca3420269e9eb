"""From what a ranking finds to hits: where in the clip, which frames, and what else is known of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.rankers.swings import Agreement, Cut, agreeing
from keypose.library.rows import clips_numbered
from keypose.library.searching.asking import Asked
from keypose.library.searching.body_parts import swung_parts
from keypose.library.searching.hits import Hit, SpanPair, Why
from keypose.library.searching.shelf import Shelf


@dataclass(frozen=True, eq=False)
class Found:
    """A stretch of a clip that is like a stretch of the query."""

    number: int  # of the clip
    score: float
    start_s: float
    end_s: float  # infinite: the end of the clip
    query_start_s: float
    query_end_s: float
    mirrored: bool
    spans: tuple[SpanPair, ...] = ()
    centimetres: float | None = None


class Looks:
    """Which swings agree, when somebody asks: then for all hits of a search at once."""

    def __init__(self, asked: Asked, shelf: Shelf, joints: Sequence[str] | None) -> None:
        self._asked = asked
        self._shelf = shelf
        self._joints = joints  # parts of the query's body that matter; None: all
        self._found: list[Found] = []
        self._seen: list[tuple[Agreement, ...]] | None = None
        self._lock = threading.Lock()

    def of(self, found: Found) -> Callable[[], tuple[Agreement, ...]]:
        """A look at one more hit."""
        place = len(self._found)
        self._found.append(found)
        return lambda: self._all()[place]

    def _all(self) -> list[tuple[Agreement, ...]]:
        with self._lock:
            if self._seen is None:
                self._seen = self._look()
            return self._seen

    def _look(self) -> list[tuple[Agreement, ...]]:
        """Reads the swings of all; a clip that is gone has none."""
        with self._asked.store.database.reading() as connection:
            query = self._asked.sheet(connection, self._shelf)
            there = self._shelf.some_sheets(connection, [found.number for found in self._found])
        meant = query if self._joints is None else query.only(swung_parts(self._joints))
        ways = (meant, meant.mirrored()) if any(found.mirrored for found in self._found) else (meant,)
        return [
            agreeing(
                Cut(ways[found.mirrored], found.query_start_s, found.query_end_s),
                Cut(there[found.number], found.start_s, found.end_s),
            )
            if found.number in there
            else ()
            for found in self._found
        ]


def hits_of(
    connection: sa.Connection,
    shelf: Shelf,
    asked: Asked,
    found: Sequence[Found],
    copies: Mapping[int, Sequence[int]],
    joints: Sequence[str] | None = None,
) -> tuple[Hit, ...]:
    """Hits, in the order of ``found``; ``copies`` are the numbers of clips that are folded into one of them.

    Clips that are gone are left out. Only what the parts ``joints`` of the query do is said to agree.
    """
    numbers = {*(each.number for each in found), *(copy for group in copies.values() for copy in group)}
    there = clips_numbered(connection, sorted(numbers))
    looks = Looks(asked, shelf, joints)
    return tuple(
        _hit(looks, each, there[each.number], [there[n] for n in copies.get(each.number, ()) if n in there])
        for each in found
        if each.number in there
    )


def _hit(looks: Looks, found: Found, clip: Clip, also: Sequence[Clip]) -> Hit:
    start, end = frames_between(clip, found.start_s, found.end_s)
    placed = replace(found, start_s=start / clip.fps, end_s=end / clip.fps)
    look = looks.of(placed) if found.centimetres is None else None
    return Hit(
        clip,
        score=found.score,
        start=start,
        end=end,
        start_s=placed.start_s,
        end_s=placed.end_s,
        query_start_s=found.query_start_s,
        query_end_s=found.query_end_s,
        mirrored=found.mirrored,
        also=tuple(copy.name for copy in also),
        also_hashes=tuple(copy.hash for copy in also),
        why=Why(found.spans, found.centimetres, look),
    )


def frames_between(clip: Clip, start_s: float, end_s: float) -> tuple[int, int]:
    """The frames of a clip between two times, at least one, as a slice counts them."""
    start = min(max(round(start_s * clip.fps), 0), clip.n_frames - 1)
    return start, min(max(round(min(end_s, clip.duration_s) * clip.fps), start + 1), clip.n_frames)
