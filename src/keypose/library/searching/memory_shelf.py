"""All of a library in memory: every search is exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.matching import GrowingGalleries
from keypose.library.descriptors.noun import Singles
from keypose.library.extra import sa
from keypose.library.growing import Places
from keypose.library.parts import PartTrack
from keypose.library.parts.gallery import GrowingParts
from keypose.library.rankers.sheets import Sheet
from keypose.library.searching.keeping import Copy, Counter, Kept, Once
from keypose.library.searching.pose_index import GrowingPoses
from keypose.library.searching.shelf import Chosen, Numbers, Parts, PoseFound, Wholes

Item = TypeVar("Item")


class Readers(Counter, Protocol):
    """What is read of some clips, by number; a clip that lacks it is left out."""

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, Description]:
        """What whole clips are ranked by."""

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, PartTrack]:
        """What parts are ranked by."""

    def poses(self, connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, Windows]:
        """Poses, at ``starts_s``."""

    def sheets(self, connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, Sheet]:
        """Swings."""

    def some_sheets(self, connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, Sheet]:
        """Swings, also those of clips without a body, which have none."""


class MemoryShelf:
    """A shelf that holds everything once it was asked for, and reads what has changed since. One for each library."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        counter = Once(readers)
        self._descriptions = Kept(counter, readers.descriptions, GrowingGalleries)
        self._tracks = Kept(counter, readers.tracks, GrowingParts)
        self._poses = Kept(counter, readers.poses, GrowingPoses)
        self._sheets = Kept(counter, readers.sheets, _GrowingSheets)

    def whole(self, connection: sa.Connection, ways: Sequence[Description], chosen: Chosen, keep: int) -> Wholes:
        """All clips."""
        copy = self._descriptions.at(connection)
        return Wholes(copy.ids, copy.index, self._among(connection, chosen, copy))

    def parts(self, connection: sa.Connection, ways: Sequence[PartTrack], chosen: Chosen, keep: int) -> Parts:
        """All clips."""
        copy = self._tracks.at(connection)
        return Parts(copy.ids, copy.index if len(copy.ids) else None, self._among(connection, chosen, copy))

    def poses(
        self,
        connection: sa.Connection,
        ways: Sequence[Singles],
        scales: Floats,
        chosen: Chosen,
        limit: int,
        apart_s: float = math.inf,
    ) -> tuple[PoseFound, ...]:
        """The nearest of all stored poses."""
        copy = self._poses.at(connection)
        if copy.index is None:
            return ()
        return copy.index.nearest(copy.ids, ways, scales, self._among(connection, chosen, copy), limit, apart_s)

    def sheets(self, connection: sa.Connection, chosen: Chosen) -> tuple[Numbers, tuple[Sheet, ...]]:
        """Those of the clips that may be found."""
        copy = self._sheets.at(connection)
        here = self._among(connection, chosen, copy)
        if here is None:
            return copy.ids, copy.index
        return copy.ids[here], tuple(copy.index[k] for k in np.flatnonzero(here).tolist())

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Description]:
        """From memory."""
        return _some(self._descriptions.at(connection).items, ids)

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """From memory."""
        return _some(self._tracks.at(connection).items, ids)

    def some_sheets(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Sheet]:
        """From memory where all are there; for a few alone not all are read."""
        if not self._sheets.is_loaded:
            return dict(self._readers.some_sheets(connection, ids))
        return _some(self._sheets.at(connection).items, ids)

    def load(self, connection: sa.Connection) -> None:
        """Reads all that searches need."""
        for kept in (self._descriptions, self._tracks, self._poses, self._sheets):
            kept.at(connection)

    def _among(self, connection: sa.Connection, chosen: Chosen, copy: Copy[Any, Any]) -> Bools | None:
        """Which clips of a copy may be found."""
        here = among(connection, chosen, copy.ids)
        if here is None or copy.there is None:
            return copy.there if here is None else here
        return here & copy.there


def among(connection: sa.Connection, chosen: Chosen, ids: Numbers) -> Bools | None:
    """Which of the clips ``ids`` (C,) are ``chosen``; None: all may be found."""
    if chosen is None:
        return None
    return np.isin(ids, np.array(connection.scalars(chosen).all(), np.int64))


def _some(items: Mapping[int, Item], ids: Sequence[int]) -> dict[int, Item]:
    return {number: items[number] for number in ids if number in items}


class _GrowingSheets:
    """Sheets need no index: they are compared one by one."""

    def __init__(self) -> None:
        self._sheets: tuple[Sheet, ...] = ()

    def add(self, sheets: Sequence[Sheet]) -> None:
        """More clips."""
        self._sheets = (*self._sheets, *sheets)

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        self._sheets = tuple(self._sheets[place] for place in places.tolist())

    def now(self) -> tuple[Sheet, ...]:
        """All of them."""
        return self._sheets
