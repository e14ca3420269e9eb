"""All of a library in memory: every search is exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery, Windows, gallery
from keypose.library.descriptors.noun import Singles
from keypose.library.extra import sa
from keypose.library.parts import PartGallery, PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.library.searching.keeping import Counter, Kept, Once
from keypose.library.searching.pose_index import PoseIndex
from keypose.library.searching.shelf import Chosen, Numbers, Parts, PoseFound, Wholes


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


class MemoryShelf:
    """A shelf that holds everything once it was asked for, and reads what has changed since. One for each library."""

    def __init__(self, readers: Readers) -> None:
        counter = Once(readers)
        self._descriptions = Kept(counter, readers.descriptions, _galleries)
        self._tracks = Kept(counter, readers.tracks, _part_gallery)
        self._poses = Kept(counter, readers.poses, PoseIndex.of)
        self._sheets: Kept[Sheet, tuple[Sheet, ...]] = Kept(counter, readers.sheets, tuple)

    def whole(self, connection: sa.Connection, ways: Sequence[Description], chosen: Chosen, keep: int) -> Wholes:
        """All clips."""
        copy = self._descriptions.at(connection)
        return Wholes(copy.ids, copy.index, among(connection, chosen, copy.ids))

    def parts(self, connection: sa.Connection, ways: Sequence[PartTrack], chosen: Chosen, keep: int) -> Parts:
        """All clips."""
        copy = self._tracks.at(connection)
        return Parts(copy.ids, copy.index, among(connection, chosen, copy.ids))

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
        return copy.index.nearest(copy.ids, ways, scales, among(connection, chosen, copy.ids), limit, apart_s)

    def sheets(self, connection: sa.Connection, chosen: Chosen) -> tuple[Numbers, tuple[Sheet, ...]]:
        """Those of the clips that may be found."""
        copy = self._sheets.at(connection)
        here = among(connection, chosen, copy.ids)
        if here is None:
            return copy.ids, copy.index
        return copy.ids[here], tuple(copy.index[k] for k in np.flatnonzero(here).tolist())

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Description]:
        """From memory."""
        items = self._descriptions.at(connection).items
        return {number: items[number] for number in ids if number in items}

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """From memory."""
        items = self._tracks.at(connection).items
        return {number: items[number] for number in ids if number in items}


def among(connection: sa.Connection, chosen: Chosen, ids: Numbers) -> Bools | None:
    """Which of the clips ``ids`` (C,) are ``chosen``; None: all may be found."""
    if chosen is None:
        return None
    return np.isin(ids, np.array(connection.scalars(chosen).all(), np.int64))


def _galleries(clips: Sequence[Description]) -> dict[str, Gallery]:
    return gallery(clips, tuple(clips[0].all)) if clips else {}


def _part_gallery(tracks: Sequence[PartTrack]) -> PartGallery | None:
    return PartGallery.of(tracks) if tracks else None
