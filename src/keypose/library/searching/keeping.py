"""Copies, in memory, of what the database says about every clip, renewed when it has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from keypose.arrays import Bools
from keypose.library.extra import sa
from keypose.library.growing import Growing
from keypose.library.searching.shelf import Numbers

Item = TypeVar("Item")
Index = TypeVar("Index")

LEAST_THERE = 0.75  # where fewer of all the clips in an index are there, the others are taken out of it
BLOCK = 500  # clips read together: few questions, and no long list of numbers in one


class Counter(Protocol):
    """What says whether a copy is still true."""

    def changes(self, connection: sa.Connection) -> int:
        """A number that grows with every change of what is searched."""

    def seals(self, connection: sa.Connection) -> dict[int, str]:
        """For each clip that can be searched, a text that is another one when what is stored of it has changed."""


class Once:
    """A counter that asks how often the library has changed once in a transaction: meanwhile nothing changes there.

    Seals are read and compared once for each change, whatever is kept.
    """

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: WeakKeyDictionary[sa.Transaction, int] = WeakKeyDictionary()
        self._sealed: tuple[int, Mapping[int, str]] | None = None
        self._compared: tuple[Mapping[int, str], Mapping[int, str], frozenset[int]] | None = None

    def changes(self, connection: sa.Connection) -> int:
        """What the counter says."""
        transaction = connection.get_transaction()
        if transaction is None:
            return self._counter.changes(connection)
        if transaction not in self._known:
            self._known[transaction] = self._counter.changes(connection)
        return self._known[transaction]

    def seals(self, connection: sa.Connection) -> Mapping[int, str]:
        """What the counter says."""
        changes, sealed = self.changes(connection), self._sealed
        if sealed is None or sealed[0] != changes:
            self._sealed = sealed = changes, self._counter.seals(connection)
        return sealed[1]

    def new(self, known: Mapping[int, str], seals: Mapping[int, str]) -> frozenset[int]:
        """The clips of which the second has another seal than the first."""
        compared = self._compared
        if compared is None or compared[0] is not known or compared[1] is not seals:
            differing = frozenset(number for number, _ in seals.items() - known.items())
            self._compared = compared = known, seals, differing
        return compared[2]


@dataclass(frozen=True, eq=False)
class Copy(Generic[Item, Index]):
    """What was there after ``changes`` changes. Nobody writes to it."""

    changes: int
    seals: Mapping[int, str]  # of all clips, also those that have no such item
    items: Mapping[int, Item]  # by number, of the clips that have one
    ids: Numbers  # (C,) of the clips in the index, rising
    there: Bools | None  # (C,) which of them are still there; None: all
    index: Index


class Kept(Generic[Item, Index]):
    """One kind of item for every clip that has one, and an index of all of them.

    ``load`` reads the items of some clips, ``growing`` makes an empty index. Only clips that are new or changed are
    read and put into it; those that are gone stay in it, marked, until they are many, and may come back. One thread
    renews while the others wait.
    """

    def __init__(
        self,
        counter: Once,
        load: Callable[[sa.Connection, Sequence[int]], Mapping[int, Item]],
        growing: Callable[[], Growing[Item, Index]],
    ) -> None:
        self._counter = counter
        self._load = load
        self._growing = growing
        self._index = growing()
        self._gone: dict[int, tuple[str, Item]] = {}  # of clips that are in the index and not there: seal and item
        self._copy: Copy[Item, Index] | None = None
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether everything was read once."""
        return self._copy is not None

    def at(self, connection: sa.Connection) -> Copy[Item, Index]:
        """What the connection sees, or what a later one has seen already."""
        changes = self._counter.changes(connection)
        copy = self._copy
        if copy is not None and copy.changes >= changes:
            return copy
        with self._lock:
            if self._copy is None or self._copy.changes < changes:
                self._copy = self._renewed(connection, changes, self._copy)
            return self._copy

    def _renewed(self, connection: sa.Connection, changes: int, old: Copy[Item, Index] | None) -> Copy[Item, Index]:
        seals = self._counter.seals(connection)
        known: Mapping[int, str] = {} if old is None else old.seals
        new = self._counter.new(known, seals)
        if old is not None and not new and len(seals) == len(known):
            return replace(old, changes=changes, seals=seals)
        back = {n for n in self._gone.keys() & new if self._gone[n][0] == seals[n]}
        wanted, read = sorted(new - back), dict[int, Item]()
        for first in range(0, len(wanted), BLOCK):
            read.update(self._load(connection, wanted[first : first + BLOCK]))
        try:
            items = {} if old is None else dict(old.items)
            for number in (known.keys() - seals.keys()) | (known.keys() & new):
                if number in items:
                    self._gone[number] = known[number], items.pop(number)
            ids, there = self._marked(old, back)
            items.update((number, self._gone.pop(number)[1]) for number in back)
            items.update(read)
            ids, there = self._put(ids, there, dict(sorted(read.items())))
        except BaseException:  # half of a change: begin anew
            self._index, self._copy, self._gone = self._growing(), None, {}
            raise
        return Copy(changes, seals, items, ids, None if there.all() else there, self._index.now())

    def _marked(self, old: Copy[Item, Index] | None, back: Collection[int]) -> tuple[Numbers, Bools]:
        """The clips in the index, and which of them are there."""
        if old is None:
            return np.zeros(0, np.int64), np.zeros(0, bool)
        there = np.ones(len(old.ids), bool)
        there[np.searchsorted(old.ids, _numbers(self._gone))] = False
        there[np.searchsorted(old.ids, _numbers(back))] = True
        return old.ids, there

    def _put(self, ids: Numbers, there: Bools, read: Mapping[int, Item]) -> tuple[Numbers, Bools]:
        """Puts what was read into the index; gives the clips in it, and which of them are there."""
        if read:
            self._index.add(list(read.values()))
            ids = np.concatenate((ids, _numbers(read)))
            there = np.concatenate((there, np.ones(len(read), bool)))
        if there.sum() < LEAST_THERE * len(there) or (np.diff(ids) <= 0).any():
            places = np.flatnonzero(there)
            places = places[np.argsort(ids[places])]
            self._index.keep(places)
            self._gone.clear()
            ids, there = ids[places], there[places]
        return ids, there


def _numbers(of: Iterable[int]) -> Numbers:
    return np.fromiter(of, np.int64)
