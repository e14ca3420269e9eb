"""The ways to rank clips: by descriptors, by tracks, by swings. Each gives candidates, and says why of those wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from keypose.errors import OptionError
from keypose.library.descriptors import Description
from keypose.library.descriptors.matching import KEEP
from keypose.library.extra import sa
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.library.rankers.swings import overlap, scores
from keypose.library.searching.asking import Asked
from keypose.library.searching.body_parts import part_groups, swung_parts
from keypose.library.searching.explaining import Alike, alike
from keypose.library.searching.found import Found
from keypose.library.searching.ranking import own_unlikeness, ranked
from keypose.library.searching.shelf import Chosen, Shelf

MORE_THAN_WANTED = 6  # candidates than hits, so that copies can be folded; if they are not enough, more are looked for


class Finder(Protocol):
    """One way to rank."""

    def candidates(self, connection: sa.Connection, shelf: Shelf, chosen: Chosen, keep: int) -> list[Found]:
        """The best, the best first; fewer than ``keep`` only if there are no more."""

    def explained(self, connection: sa.Connection, shelf: Shelf, wanted: Sequence[Found]) -> list[Found]:
        """The same with all that is known of them."""


def enough(limit: int) -> int:
    """How many candidates to look at for so many hits."""
    return limit + MORE_THAN_WANTED


@dataclass(frozen=True, eq=False)
class ByDescriptors:
    """Whole clips by their descriptors."""

    asked: Asked
    mirrored: bool
    _ways: list[Description] = field(default_factory=list)

    @cached_property
    def own(self) -> float:
        """How unlike the query is to itself."""
        return own_unlikeness(self._ways[0])

    def candidates(self, connection: sa.Connection, shelf: Shelf, chosen: Chosen, keep: int) -> list[Found]:
        """By the descriptors that rank best together, of at least 256 clips."""
        if not self._ways:
            self._ways.extend(self.asked.descriptions(connection, shelf, mirrored=self.mirrored))
        at_least = max(keep, KEEP)
        on_shelf = shelf.whole(connection, self._ways, chosen, at_least)
        found = ranked(self._ways, self.own, on_shelf.galleries, on_shelf.among, keep, at_least)
        lasts = self.asked.duration_s
        return [Found(int(on_shelf.ids[k]), score, 0.0, np.inf, 0.0, lasts, bool(way)) for k, score, way in found]

    def explained(self, connection: sa.Connection, shelf: Shelf, wanted: Sequence[Found]) -> list[Found]:
        """With the windows that are alike, and from where to where they reach."""
        stored = shelf.descriptions(connection, [each.number for each in wanted])
        alikes: dict[int, Alike | None] = {}
        for mirrored in (False, True):
            numbers = [each.number for each in wanted if each.mirrored == mirrored and each.number in stored]
            if numbers:
                found = alike(self._ways[int(mirrored)], [stored[number] for number in numbers])
                alikes.update(zip(numbers, found, strict=True))
        return [self._explained(each, alikes.get(each.number)) for each in wanted]

    def _explained(self, found: Found, where: Alike | None) -> Found:
        if where is None:
            return found
        return replace(
            found,
            start_s=where.start_s,
            end_s=where.end_s,
            query_start_s=where.query_start_s,
            query_end_s=min(where.query_end_s, self.asked.duration_s),
            spans=where.spans,
        )


@dataclass(frozen=True, eq=False)
class ByTracks:
    """Parts of clips, or whole ones of which only some parts of the body matter, by their tracks."""

    asked: Asked
    mirrored: bool
    joints: tuple[str, ...] | None
    start_s: float
    end_s: float
    several: bool = False
    _ways: list[PartTrack] = field(default_factory=list)

    def candidates(self, connection: sa.Connection, shelf: Shelf, chosen: Chosen, keep: int) -> list[Found]:
        """Where the query, slid along the clips, fits best."""
        if not self._ways:
            own = self.asked.track(connection, shelf).part(self.start_s, self.end_s)
            self._ways.extend((own, own.mirrored()) if self.mirrored else (own,))
        on_shelf = shelf.parts(connection, self._ways, chosen, keep)
        if on_shelf.gallery is None:
            return []
        matches = on_shelf.gallery.search(
            self._ways[0],
            mirrored=self._ways[1] if self.mirrored else None,
            among=on_shelf.among,
            joints=None if self.joints is None else part_groups(self.joints),
            limit=keep,
            several=self.several,
        )
        return [
            Found(int(on_shelf.ids[m.clip]), m.score, m.start_s, m.end_s, self.start_s, self.end_s, m.mirrored)
            for m in matches
        ]

    def explained(self, connection: sa.Connection, shelf: Shelf, wanted: Sequence[Found]) -> list[Found]:
        """They know it already."""
        return list(wanted)


@dataclass(frozen=True, eq=False)
class BySwings:
    """Whole clips by their swings: the thesis's way."""

    asked: Asked
    mirrored: bool
    joints: tuple[str, ...] | None
    _used: dict[int, Sheet] = field(default_factory=dict)

    def candidates(self, connection: sa.Connection, shelf: Shelf, chosen: Chosen, keep: int) -> list[Found]:
        """Where swings overlap most; which half of the ways was better, ``explained`` says."""
        numbers, sheets = shelf.sheets(connection, chosen)
        query = self._query(connection, shelf)
        found = scores(query, sheets, mirrored=self.mirrored)
        order = np.lexsort((numbers, -found))[:keep].tolist()
        self._used.update((int(numbers[k]), sheets[k]) for k in order)
        lasts = self.asked.duration_s
        return [
            Found(int(numbers[k]), float(np.clip(found[k], 0.0, 1.0)), 0.0, np.inf, 0.0, lasts, mirrored=False)
            for k in order
        ]

    def explained(self, connection: sa.Connection, shelf: Shelf, wanted: Sequence[Found]) -> list[Found]:
        """With the shift at which they overlap most."""
        query = self._query(connection, shelf)
        return [self._explained(query, each) for each in wanted]

    def _explained(self, query: Sheet, found: Found) -> Found:
        match = overlap(query, self._used[found.number], mirrored=self.mirrored)
        start = max(-match.shift_s, 0.0)
        return replace(
            found,
            start_s=match.start_s,
            end_s=match.end_s,
            query_start_s=start,
            query_end_s=min(start + match.end_s - match.start_s, query.duration_s),
            mirrored=match.mirrored,
        )

    def _query(self, connection: sa.Connection, shelf: Shelf) -> Sheet:
        sheet = self.asked.sheet(connection, shelf)
        if not sheet.present.any():
            raise OptionError(self.asked.no_body())
        return sheet if self.joints is None else sheet.only(swung_parts(self.joints))
