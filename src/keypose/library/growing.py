"""Indexes that grow with a library: what one more clip costs does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", contravariant=True)
Index = TypeVar("Index", covariant=True)
Number = TypeVar("Number", bound=np.generic)
Places = NDArray[np.intp]

MORE_ROOM = 1.25  # times what is needed, when it must be found anew: so each row is moved a few times at most


class Growing(Protocol[Item, Index]):
    """An index of some clips, in the order in which they were added. One thread at a time changes it."""

    def add(self, items: Sequence[Item]) -> None:
        """More clips, behind those that are there."""

    def keep(self, places: Places) -> None:
        """Of all clips only those at these places, in this order."""

    def now(self) -> Index:
        """The index of the clips that are there; what is done later does not change it."""


class Rows(Generic[Number]):
    """Rows of numbers. What was looked at stays as it is: further rows lie behind it, kept ones elsewhere."""

    def __init__(self, rows: NDArray[Number]) -> None:
        self._room = rows
        self._n = len(rows)

    def __len__(self) -> int:
        return self._n

    @property
    def now(self) -> NDArray[Number]:
        """All rows; read-only."""
        rows = self._room[: self._n]
        rows.setflags(write=False)
        return rows

    def add(self, more: NDArray[Number]) -> None:
        """Behind those that are there."""
        if not len(more):
            return
        n = self._n + len(more)
        if n > len(self._room):
            room = np.empty((n if not self._n else int(MORE_ROOM * n), *self._room.shape[1:]), self._room.dtype)
            room[: self._n] = self._room[: self._n]
            self._room = room
        self._room[self._n : n] = more
        self._n = n

    def keep(self, places: Places) -> None:
        """Only the rows at these places, in this order."""
        self._room = self._room[places]
        self._n = len(places)


class Groups:
    """Where the rows of each clip begin and end, one clip after another."""

    def __init__(self) -> None:
        self._bounds = Rows(np.zeros(1, np.int32))

    @property
    def bounds(self) -> NDArray[np.int32]:
        """(C + 1,) where each clip begins, and where the last one ends; read-only."""
        return self._bounds.now

    def add(self, lengths: Sequence[int] | NDArray[Any]) -> None:
        """Clips of so many rows."""
        self._bounds.add(self._bounds.now[-1] + np.cumsum(lengths, dtype=np.int32))

    def keep(self, places: Places) -> Places:
        """Only the clips at these places, in this order; gives the rows that are theirs."""
        firsts, lengths = self._bounds.now[:-1][places], np.diff(self._bounds.now)[places]
        self._bounds = Rows(np.zeros(1, np.int32))
        self.add(lengths)
        shifts = firsts - self._bounds.now[:-1]
        return np.arange(int(self._bounds.now[-1])) + np.repeat(shifts, lengths)
