"""A whole library in memory: every search is exact; indexes are refreshed when the database has changed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.errors import FormatError
from keypose.library import analysis_rows
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.description import Singles
from keypose.library.descriptors.gallery_ranking import IncrementalGalleries
from keypose.library.extra import sa
from keypose.library.incremental_index import IncrementalIndex, Indices
from keypose.library.records import rebuild_hint
from keypose.library.search.candidate_source import ClipCandidates, ClipIds, ClipQuery, PartCandidates, PoseMatch
from keypose.library.search.part_gallery import IncrementalPartGallery, PartTrack
from keypose.library.search.pose_search import IncrementalPoseIndex
from keypose.library.search.swing_overlap import SwingTable
from keypose.library.tables import (
    library_info,
)

Item = TypeVar("Item")
Index = TypeVar("Index")

MIN_PRESENT_SHARE = 0.75  # minimum share of existing clips in the index; with less, removed clips are purged
BATCH_CLIPS = 500  # loaded by one statement


class ChangeCounter(Protocol):
    """Provides the numbers that determine whether cached data are current."""

    def changes(self, connection: sa.Connection) -> int:
        """Return a number that grows with every change of searchable data."""

    def checksums(self, connection: sa.Connection) -> dict[int, str]:
        """Return a checksum of the stored data of each searchable clip, by clip id."""


class CachedCounter:
    """A counter that is queried once per transaction, within which it cannot change.

    Checksums are read and compared once per change, for all caches together.
    """

    def __init__(self, counter: ChangeCounter) -> None:
        self._counter = counter
        self._changes_by_transaction: WeakKeyDictionary[sa.Transaction, int] = WeakKeyDictionary()
        self._checksums: tuple[int, Mapping[int, str]] | None = None
        self._comparison: tuple[Mapping[int, str], Mapping[int, str], frozenset[int]] | None = None

    def changes(self, connection: sa.Connection) -> int:
        """Return the change counter."""
        transaction = connection.get_transaction()
        if transaction is None:
            return self._counter.changes(connection)
        if transaction not in self._changes_by_transaction:
            self._changes_by_transaction[transaction] = self._counter.changes(connection)
        return self._changes_by_transaction[transaction]

    def checksums(self, connection: sa.Connection) -> Mapping[int, str]:
        """Return the checksums."""
        changes, cached = self.changes(connection), self._checksums
        if cached is None or cached[0] != changes:
            self._checksums = cached = changes, self._counter.checksums(connection)
        return cached[1]

    def find_changed(self, old_checksums: Mapping[int, str], new_checksums: Mapping[int, str]) -> frozenset[int]:
        """Return the ids of new and changed clips."""
        comparison = self._comparison
        if comparison is None or comparison[0] is not old_checksums or comparison[1] is not new_checksums:
            differing = frozenset(clip_id for clip_id, _ in new_checksums.items() - old_checksums.items())
            self._comparison = comparison = old_checksums, new_checksums, differing
        return comparison[2]


@dataclass(frozen=True, eq=False)
class Snapshot(Generic[Item, Index]):
    """An immutable state of a cache, after ``changes`` changes."""

    changes: int
    checksums: Mapping[int, str]  # of all clips, also of clips without an item
    items: Mapping[int, Item]  # by clip id
    clip_ids: ClipIds  # (C,) in the index, ascending
    is_present: Bools | None  # (C,) which of them still exist; None: all
    index: Index


class IndexCache(Generic[Item, Index]):
    """One item for every clip that has one, and an index of all items.

    ``load`` reads the items of some clips, ``create_index`` returns an empty index. Only new and changed clips are read
    and added to it. Removed ones are only flagged, and may be added again; they are purged when there are many of them.
    One thread refreshes the index while others wait.
    """

    def __init__(
        self,
        counter: CachedCounter,
        load: Callable[[sa.Connection, Sequence[int]], Mapping[int, Item]],
        create_index: Callable[[], IncrementalIndex[Item, Index]],
    ) -> None:
        self._counter = counter
        self._load = load
        self._create_index = create_index
        self._index = create_index()
        self._removed: dict[int, tuple[str, Item]] = {}  # removed clips still in the index: checksum and item
        self._snapshot: Snapshot[Item, Index] | None = None
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether everything was loaded once."""
        return self._snapshot is not None

    def snapshot(self, connection: sa.Connection) -> Snapshot[Item, Index]:
        """Return the state that the connection sees, or a later one."""
        changes = self._counter.changes(connection)
        current = self._snapshot
        if current is not None and current.changes >= changes:
            return current
        with self._lock:
            if self._snapshot is None or self._snapshot.changes < changes:
                self._snapshot = self._refresh(connection, changes, self._snapshot)
            return self._snapshot

    def _refresh(
        self, connection: sa.Connection, changes: int, old: Snapshot[Item, Index] | None
    ) -> Snapshot[Item, Index]:
        checksums = self._counter.checksums(connection)
        old_checksums: Mapping[int, str] = {} if old is None else old.checksums
        changed_ids = self._counter.find_changed(old_checksums, checksums)
        if old is not None and not changed_ids and len(checksums) == len(old_checksums):
            return replace(old, changes=changes, checksums=checksums)
        returned_ids = {n for n in self._removed.keys() & changed_ids if self._removed[n][0] == checksums[n]}
        ids_to_load, loaded = sorted(changed_ids - returned_ids), dict[int, Item]()
        for first in range(0, len(ids_to_load), BATCH_CLIPS):
            loaded.update(self._load(connection, ids_to_load[first : first + BATCH_CLIPS]))
        try:
            items = {} if old is None else dict(old.items)
            for clip_id in (old_checksums.keys() - checksums.keys()) | (old_checksums.keys() & changed_ids):
                if clip_id in items:
                    self._removed[clip_id] = old_checksums[clip_id], items.pop(clip_id)
            clip_ids, is_present = self._mark_present(old, returned_ids)
            items.update((clip_id, self._removed.pop(clip_id)[1]) for clip_id in returned_ids)
            items.update(loaded)
            clip_ids, is_present = self._add_items(clip_ids, is_present, dict(sorted(loaded.items())))
        except BaseException:  # the state is inconsistent and must be loaded again
            self._index, self._snapshot, self._removed = self._create_index(), None, {}
            raise
        return Snapshot(
            changes, checksums, items, clip_ids, None if is_present.all() else is_present, self._index.snapshot()
        )

    def _mark_present(self, old: Snapshot[Item, Index] | None, returned_ids: Collection[int]) -> tuple[ClipIds, Bools]:
        """Return the ids in the index, and which of them are present."""
        if old is None:
            return np.zeros(0, np.int64), np.zeros(0, bool)
        is_present = np.ones(len(old.clip_ids), bool)
        is_present[np.searchsorted(old.clip_ids, _to_ids(self._removed))] = False
        is_present[np.searchsorted(old.clip_ids, _to_ids(returned_ids))] = True
        return old.clip_ids, is_present

    def _add_items(self, clip_ids: ClipIds, is_present: Bools, loaded: Mapping[int, Item]) -> tuple[ClipIds, Bools]:
        """Add loaded items to the index; return the ids in it, and which of them are present."""
        if loaded:
            self._index.add(list(loaded.values()))
            clip_ids = np.concatenate((clip_ids, _to_ids(loaded)))
            is_present = np.concatenate((is_present, np.ones(len(loaded), bool)))
        if is_present.sum() < MIN_PRESENT_SHARE * len(is_present) or (np.diff(clip_ids) <= 0).any():
            indices = np.flatnonzero(is_present)
            indices = indices[np.argsort(clip_ids[indices])]
            self._index.keep(indices)
            self._removed.clear()
            clip_ids, is_present = clip_ids[indices], is_present[indices]
        return clip_ids, is_present


def _to_ids(clip_ids: Iterable[int]) -> ClipIds:
    return np.fromiter(clip_ids, np.int64)


class ClipReader(ChangeCounter, Protocol):
    """Reads stored data by clip id; clips without such data are omitted."""

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
    """A candidate source that caches everything after its first use, and reloads changed clips. There is one per
    library."""

    def __init__(self, reader: ClipReader) -> None:
        self._reader = reader
        counter = CachedCounter(reader)
        self._descriptions = IndexCache(counter, reader.descriptions, IncrementalGalleries)
        self._tracks = IndexCache(counter, reader.tracks, IncrementalPartGallery)
        self._poses = IndexCache(counter, reader.poses, IncrementalPoseIndex)
        self._swing_tables = IndexCache(counter, reader.swing_tables, _IncrementalSwingTables)

    def clip_candidates(
        self, connection: sa.Connection, variants: Sequence[Description], clip_query: ClipQuery, n_candidates: int
    ) -> ClipCandidates:
        """Return all clips."""
        snapshot = self._descriptions.snapshot(connection)
        return ClipCandidates(snapshot.clip_ids, snapshot.index, self._allowed_clips(connection, clip_query, snapshot))

    def part_candidates(
        self, connection: sa.Connection, variants: Sequence[PartTrack], clip_query: ClipQuery, n_candidates: int
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
        """Return the swing tables of the clips to search."""
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
    """Swing tables in a list, as they are compared one by one."""

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


class TableReader:
    """Reads the tables.

    Clips that were analysed by another version are not searched before a rebuild, clips in the trash not before they
    are restored.
    """

    def changes(self, connection: sa.Connection) -> int:
        """Return the change counter of the library."""
        return load_change_count(connection)

    def checksums(self, connection: sa.Connection) -> dict[int, str]:
        """Return the checksums of the searchable clips."""
        return analysis_rows.load_searchable_checksums(connection)

    def restrict_to_searchable(self, connection: sa.Connection, clip_query: ClipQuery) -> ClipQuery:
        """Return a query for the searchable clips of ``clip_query``; unchanged if all clips are searchable."""
        restricted: ClipQuery = analysis_rows.restrict_to_searchable(connection, clip_query)
        return restricted

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Description]:
        """Return descriptions of clips with a body."""
        return analysis_rows.load_descriptions(connection, clip_ids)

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        """Return tracks of clips with a body."""
        return analysis_rows.load_tracks(connection, clip_ids)

    def poses(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Windows]:
        """Return poses of clips with a body."""
        return analysis_rows.load_poses(connection, clip_ids)

    def swing_tables(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return swing tables of clips with a body."""
        tables = self.swing_tables_by_id(connection, clip_ids)
        return {clip_id: table for clip_id, table in tables.items() if table.present.any()}

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return swing tables of all clips; empty without a body."""
        return analysis_rows.load_swing_tables(connection, clip_ids)


def load_change_count(connection: sa.Connection) -> int:
    """Return the change counter of the library, which grows with every write that can change search results."""
    changes = connection.execute(sa.select(library_info.c.changes)).scalar_one()
    if not isinstance(changes, int):
        location = connection.engine.url.database or "the library"
        problem, hint = f"{changes!r:.60} changes", rebuild_hint("repairs it")
        raise FormatError(location, problem, code="needs_rebuild", expected="a number", hint=hint)
    return changes
