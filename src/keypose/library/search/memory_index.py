"""A whole library in memory: every search is exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.description import Singles
from keypose.library.descriptors.gallery_ranking import IncrementalGalleries
from keypose.library.extra import sa
from keypose.library.incremental_index import Indices
from keypose.library.part_search import PartTrack
from keypose.library.part_search.gallery import IncrementalPartGallery
from keypose.library.rankers.swing_table import SwingTable
from keypose.library.search.candidate_source import ClipCandidates, ClipIds, ClipQuery, PartCandidates, PoseMatch
from keypose.library.search.index_cache import CachedCounter, ChangeCounter, IndexCache, Snapshot
from keypose.library.search.pose_index import IncrementalPoseIndex

Item = TypeVar("Item")


class ClipReader(ChangeCounter, Protocol):
    """Reads stored data by clip id; clips that lack it are left out."""

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> Mapping[int, Description]:
        """Return the data for ranking whole clips."""

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> Mapping[int, PartTrack]:
        """Return the data for part search."""

    def poses(self, connection: sa.Connection, clip_ids: Sequence[int]) -> Mapping[int, Windows]:
        """Return poses, at times ``starts_s``."""

    def swing_tables(self, connection: sa.Connection, clip_ids: Sequence[int]) -> Mapping[int, SwingTable]:
        """Return swing tables of clips with a body."""

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> Mapping[int, SwingTable]:
        """Return swing tables; those of clips without a body are empty."""


class MemoryIndex:
    """A candidate source that caches everything once used, and reloads what has changed. One per library."""

    def __init__(self, reader: ClipReader) -> None:
        self._reader = reader
        counter = CachedCounter(reader)
        self._descriptions = IndexCache(counter, reader.descriptions, IncrementalGalleries)
        self._tracks = IndexCache(counter, reader.tracks, IncrementalPartGallery)
        self._poses = IndexCache(counter, reader.poses, IncrementalPoseIndex)
        self._swing_tables = IndexCache(counter, reader.swing_tables, _IncrementalSwingTables)

    def clip_candidates(
        self, connection: sa.Connection, variants: Sequence[Description], clip_query: ClipQuery, keep: int
    ) -> ClipCandidates:
        """Return all clips."""
        snapshot = self._descriptions.snapshot(connection)
        return ClipCandidates(snapshot.clip_ids, snapshot.index, self._allowed_clips(connection, clip_query, snapshot))

    def part_candidates(
        self, connection: sa.Connection, variants: Sequence[PartTrack], clip_query: ClipQuery, keep: int
    ) -> PartCandidates:
        """Return all clips."""
        snapshot = self._tracks.snapshot(connection)
        return PartCandidates(
            snapshot.clip_ids,
            snapshot.index if len(snapshot.clip_ids) else None,
            self._allowed_clips(connection, clip_query, snapshot),
        )

    def nearest_poses(
        self,
        connection: sa.Connection,
        variants: Sequence[Singles],
        scales: Floats,
        clip_query: ClipQuery,
        limit: int,
        min_gap_s: float = math.inf,
    ) -> tuple[PoseMatch, ...]:
        """Return the nearest of all stored poses."""
        snapshot = self._poses.snapshot(connection)
        if snapshot.index is None:
            return ()
        return snapshot.index.nearest(
            snapshot.clip_ids, variants, scales, self._allowed_clips(connection, clip_query, snapshot), limit, min_gap_s
        )

    def swing_tables(self, connection: sa.Connection, clip_query: ClipQuery) -> tuple[ClipIds, tuple[SwingTable, ...]]:
        """Return those of the clips that may be found."""
        snapshot = self._swing_tables.snapshot(connection)
        is_allowed = self._allowed_clips(connection, clip_query, snapshot)
        if is_allowed is None:
            return snapshot.clip_ids, snapshot.index
        return snapshot.clip_ids[is_allowed], tuple(snapshot.index[k] for k in np.flatnonzero(is_allowed).tolist())

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Description]:
        """Return descriptions from memory."""
        return _pick_items(self._descriptions.snapshot(connection).items, clip_ids)

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        """Return tracks from memory."""
        return _pick_items(self._tracks.snapshot(connection).items, clip_ids)

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return tables from memory if loaded, else read only these."""
        if not self._swing_tables.is_loaded:
            return dict(self._reader.swing_tables_by_id(connection, clip_ids))
        return _pick_items(self._swing_tables.snapshot(connection).items, clip_ids)

    def load(self, connection: sa.Connection) -> None:
        """Load everything that searches need."""
        for cache in (self._descriptions, self._tracks, self._poses, self._swing_tables):
            cache.snapshot(connection)

    def _allowed_clips(
        self, connection: sa.Connection, clip_query: ClipQuery, snapshot: Snapshot[Any, Any]
    ) -> Bools | None:
        """Return which clips of a snapshot may be found; None: all."""
        is_selected = select_clips(connection, clip_query, snapshot.clip_ids)
        if is_selected is None or snapshot.is_present is None:
            return snapshot.is_present if is_selected is None else is_selected
        return is_selected & snapshot.is_present


def select_clips(connection: sa.Connection, clip_query: ClipQuery, clip_ids: ClipIds) -> Bools | None:
    """Return which of ``clip_ids`` (C,) are in ``clip_query``; None: all."""
    if clip_query is None:
        return None
    return np.isin(clip_ids, np.array(connection.scalars(clip_query).all(), np.int64))


def _pick_items(items: Mapping[int, Item], clip_ids: Sequence[int]) -> dict[int, Item]:
    return {clip_id: items[clip_id] for clip_id in clip_ids if clip_id in items}


class _IncrementalSwingTables:
    """Swing tables without an index, as they are compared one by one."""

    def __init__(self) -> None:
        self._swing_tables: tuple[SwingTable, ...] = ()

    def add(self, swing_tables: Sequence[SwingTable]) -> None:
        """Append clips."""
        self._swing_tables = (*self._swing_tables, *swing_tables)

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        self._swing_tables = tuple(self._swing_tables[place] for place in indices.tolist())

    def snapshot(self) -> tuple[SwingTable, ...]:
        """Return all tables."""
        return self._swing_tables
