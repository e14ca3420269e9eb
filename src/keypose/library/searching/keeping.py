"""Copies, in memory, of what the database says about every clip, renewed when it has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from keypose.errors import KeyposeError
from keypose.library.extra import sa
from keypose.library.searching.shelf import Numbers

Item = TypeVar("Item")
Index = TypeVar("Index")

LAG_TIMES = 10.0  # a renewal may not come sooner than so many times as long as it takes
BLOCK = 500  # clips read together: few questions, and no long list of numbers in one


class Counter(Protocol):
    """What says whether a copy is still true."""

    def changes(self, connection: sa.Connection) -> int:
        """A number that grows with every change of what is searched."""

    def seals(self, connection: sa.Connection) -> dict[int, str]:
        """For each clip that can be searched, a text that is another one when what is stored of it has changed."""


class Once:
    """A counter that asks how often the library has changed once in a transaction: meanwhile nothing changes there."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: WeakKeyDictionary[sa.Transaction, int] = WeakKeyDictionary()

    def changes(self, connection: sa.Connection) -> int:
        """What the counter says."""
        transaction = connection.get_transaction()
        if transaction is None:
            return self._counter.changes(connection)
        if transaction not in self._known:
            self._known[transaction] = self._counter.changes(connection)
        return self._known[transaction]

    def seals(self, connection: sa.Connection) -> dict[int, str]:
        """What the counter says."""
        return self._counter.seals(connection)


class Lag:
    """Lets searches take copies that are a little old, while many changes come: nobody waits for a renewal then.

    After a renewal there is none for ``times`` as long as it took, at most ``seconds``: searches take what is there,
    and a thread renews it when the time is over. The first one later renews by itself, as it would without a lag, and
    is exact; so are nearly all where there are few clips.
    """

    def __init__(
        self, reading: Callable[[], AbstractContextManager[sa.Connection]], seconds: float, times: float = LAG_TIMES
    ) -> None:
        self._reading = reading
        self._seconds = seconds
        self._times = times
        self._due: WeakKeyDictionary[Kept[Any, Any], float] = WeakKeyDictionary()
        self._armed: WeakSet[Kept[Any, Any]] = WeakSet()
        self._lock = threading.Lock()

    def allows(self, kept: Kept[Any, Any]) -> bool:
        """Whether the old copy may be taken; then a new one is on its way."""
        with self._lock:
            wait_s = self._due.get(kept, 0.0) - time.monotonic()
            if kept in self._armed:
                return True
            if wait_s <= 0.0:
                return False
            self._armed.add(kept)
        threading.Thread(target=self._renew, args=(kept, wait_s), daemon=True).start()
        return True

    def was_renewed(self, kept: Kept[Any, Any], took_s: float) -> None:
        """Starts the clock."""
        with self._lock:
            self._due[kept] = time.monotonic() + min(self._seconds, self._times * took_s)

    def _renew(self, kept: Kept[Any, Any], wait_s: float) -> None:
        time.sleep(wait_s)
        try:
            with self._reading() as connection:
                began = time.monotonic()
                kept.renew(connection)
            self.was_renewed(kept, time.monotonic() - began)
        except KeyposeError:  # the library was closed, or is damaged: a search will say so
            pass
        finally:
            with self._lock:
                self._armed.discard(kept)


@dataclass(frozen=True, eq=False)
class Copy(Generic[Item, Index]):
    """What was there after ``changes`` changes. Nobody writes to it."""

    changes: int
    seals: Mapping[int, str]  # of all clips, also those that have no such item
    ids: Numbers  # (C,) of the clips that have one, rising
    items: Mapping[int, Item]  # by number, in the order of ids
    index: Index  # made of all items


class Kept(Generic[Item, Index]):
    """One kind of item for every clip that has one, and an index made of all of them.

    ``load`` reads the items of some clips; ``build`` makes the index of items in the order of their numbers. Only
    clips that are new or changed are read again. One thread renews while the others wait, so that at most the old and
    the new copy are there together. With a ``Lag`` the others take the old copy while there are many changes.
    """

    lag: Lag | None = None

    def __init__(
        self,
        counter: Counter,
        load: Callable[[sa.Connection, Sequence[int]], Mapping[int, Item]],
        build: Callable[[Sequence[Item]], Index],
    ) -> None:
        self._counter = counter
        self._load = load
        self._build = build
        self._copy: Copy[Item, Index] | None = None
        self._lock = threading.Lock()

    def at(self, connection: sa.Connection) -> Copy[Item, Index]:
        """What the connection sees, or what a later one has seen already."""
        changes = self._counter.changes(connection)
        copy = self._copy
        if copy is not None and (copy.changes >= changes or (self.lag is not None and self.lag.allows(self))):
            return copy
        with self._lock:
            if self._copy is None or self._copy.changes < changes:
                began = time.monotonic()
                self._copy = self._renewed(connection, changes, self._copy)
                if self.lag is not None:
                    self.lag.was_renewed(self, time.monotonic() - began)
            return self._copy

    def renew(self, connection: sa.Connection) -> None:
        """Copies what the connection sees; where that fails, the next search tries again and says why."""
        try:
            with self._lock:
                self._copy = self._renewed(connection, self._counter.changes(connection), self._copy)
        except Exception:
            self._copy = None
            raise

    def _renewed(self, connection: sa.Connection, changes: int, old: Copy[Item, Index] | None) -> Copy[Item, Index]:
        seals = self._counter.seals(connection)
        known: Mapping[int, str] = {} if old is None else old.seals
        if old is not None and seals == known:
            return Copy(changes, old.seals, old.ids, old.items, old.index)
        items = {} if old is None else {n: item for n, item in old.items.items() if seals.get(n) == known[n]}
        fresh = sorted(number for number, seal in seals.items() if known.get(number) != seal)
        for first in range(0, len(fresh), BLOCK):
            items.update(self._load(connection, fresh[first : first + BLOCK]))
        ordered = dict(sorted(items.items()))
        return Copy(changes, seals, np.array(list(ordered), np.int64), ordered, self._build(list(ordered.values())))
