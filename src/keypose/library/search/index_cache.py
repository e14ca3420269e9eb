"""Search indexes cached in memory, and refreshed when the database has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from keypose.arrays import Bools
from keypose.library.extra import sa
from keypose.library.incremental_index import IncrementalIndex
from keypose.library.search.candidate_source import ClipIds

Item = TypeVar("Item")
Index = TypeVar("Index")

MIN_PRESENT_SHARE = 0.75  # below it, removed clips are purged from the index
BATCH_CLIPS = 500  # loaded by one statement


class ChangeCounter(Protocol):
    """Provides what is needed to decide whether cached data is current."""

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
    checksums: Mapping[int, str]  # of all clips, also without an item
    items: Mapping[int, Item]  # by clip id
    clip_ids: ClipIds  # (C,) in the index, ascending
    is_present: Bools | None  # (C,) which of them still exist; None: all
    index: Index


class IndexCache(Generic[Item, Index]):
    """One item for every clip that has one, and an index of all items.

    ``load`` reads the items of some clips, ``create_index`` returns an empty index. Only new and changed clips are read
    and added to it; removed ones stay in it, flagged, until they are many, and may return. One thread refreshes while
    others wait.
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
        except BaseException:  # inconsistent state: start over
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
