"""All of a library in memory: every search is exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery, Windows, gallery
from keypose.library.descriptors.noun import Singles
from keypose.library.extra import sa
from keypose.library.parts import PartGallery, PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.library.searching.keeping import Copy, Counter, Kept, Lag, Once
from keypose.library.searching.pose_index import PoseIndex
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

    def numbers(self, connection: sa.Connection) -> Sequence[int]:
        """Of all clips that can be searched."""


class MemoryShelf:
    """A shelf that holds everything once it was asked for, and reads what has changed since. One for each library."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._counter = counter = Once(readers)
        self._descriptions = Kept(counter, readers.descriptions, _galleries)
        self._tracks = Kept(counter, readers.tracks, _part_gallery)
        self._poses = Kept(counter, readers.poses, PoseIndex.of)
        self._sheets: Kept[Sheet, tuple[Sheet, ...]] = Kept(counter, readers.sheets, tuple)

    def whole(self, connection: sa.Connection, ways: Sequence[Description], chosen: Chosen, keep: int) -> Wholes:
        """All clips."""
        copy = self._descriptions.at(connection)
        return Wholes(copy.ids, copy.index, self._among(connection, chosen, copy))

    def parts(self, connection: sa.Connection, ways: Sequence[PartTrack], chosen: Chosen, keep: int) -> Parts:
        """All clips."""
        copy = self._tracks.at(connection)
        return Parts(copy.ids, copy.index, self._among(connection, chosen, copy))

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
        return self._some(connection, self._descriptions, self._readers.descriptions, ids)

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """From memory."""
        return self._some(connection, self._tracks, self._readers.tracks, ids)

    def let_lag(self, lag: Lag) -> None:
        """From now on copies may be a little old."""
        for kept in (self._descriptions, self._tracks, self._poses, self._sheets):
            kept.lag = lag

    def _lags(self, connection: sa.Connection, copy: Copy[Any, Any]) -> bool:
        return copy.changes < self._counter.changes(connection)

    def _among(self, connection: sa.Connection, chosen: Chosen, copy: Copy[Any, Any]) -> Bools | None:
        """Which clips of a copy may be found; never one that is gone by now."""
        here = among(connection, chosen, copy.ids)
        if not self._lags(connection, copy):
            return here
        there = np.isin(copy.ids, np.array(self._readers.numbers(connection), np.int64))
        return there if here is None else here & there

    def _some(
        self,
        connection: sa.Connection,
        kept: Kept[Item, Any],
        load: Callable[[sa.Connection, Sequence[int]], Mapping[int, Item]],
        ids: Sequence[int],
    ) -> dict[int, Item]:
        """Items of some clips; where a copy is old, those that it lacks are read."""
        copy = kept.at(connection)
        found = {number: copy.items[number] for number in ids if number in copy.items}
        missing = [number for number in ids if number not in found]
        return {**found, **load(connection, missing)} if missing and self._lags(connection, copy) else found


def among(connection: sa.Connection, chosen: Chosen, ids: Numbers) -> Bools | None:
    """Which of the clips ``ids`` (C,) are ``chosen``; None: all may be found."""
    if chosen is None:
        return None
    return np.isin(ids, np.array(connection.scalars(chosen).all(), np.int64))


def _galleries(clips: Sequence[Description]) -> dict[str, Gallery]:
    return gallery(clips, tuple(clips[0].all)) if clips else {}


def _part_gallery(tracks: Sequence[PartTrack]) -> PartGallery | None:
    return PartGallery.of(tracks) if tracks else None
