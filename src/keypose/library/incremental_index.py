"""Indexes that grow with a library: the time to add a clip does not depend on their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", contravariant=True)
Index = TypeVar("Index", covariant=True)
Number = TypeVar("Number", bound=np.generic)
Indices = NDArray[np.intp]

GROWTH_FACTOR = 1.25  # of reallocations, so that each row is copied a few times at most


class IncrementalIndex(Protocol[Item, Index]):
    """An index of clips, in the order in which they were added. Only one thread at a time may change it."""

    def add(self, items: Sequence[Item]) -> None:
        """Append clips."""

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices, in this order."""

    def snapshot(self) -> Index:
        """Return the index of the current clips; later changes do not affect it."""


class GrowableArray(Generic[Number]):
    """Rows of numbers. Views remain valid: added rows are written behind them, and ``keep`` copies."""

    def __init__(self, rows: NDArray[Number]) -> None:
        self._buffer = rows
        self._n = len(rows)

    def __len__(self) -> int:
        return self._n

    @property
    def view(self) -> NDArray[Number]:
        """All rows, read-only."""
        rows = self._buffer[: self._n]
        rows.setflags(write=False)
        return rows

    def add(self, rows: NDArray[Number]) -> None:
        """Append rows."""
        if not len(rows):
            return
        n = self._n + len(rows)
        if n > len(self._buffer):
            buffer = np.empty(
                (n if not self._n else int(GROWTH_FACTOR * n), *self._buffer.shape[1:]), self._buffer.dtype
            )
            buffer[: self._n] = self._buffer[: self._n]
            self._buffer = buffer
        self._buffer[self._n : n] = rows
        self._n = n

    def keep(self, indices: Indices) -> None:
        """Keep only the rows at these indices, in this order."""
        self._buffer = self._buffer[indices]
        self._n = len(indices)


class ClipBounds:
    """The ranges of rows of each clip, one clip after another."""

    def __init__(self) -> None:
        self._bounds = GrowableArray(np.zeros(1, np.int32))

    @property
    def bounds(self) -> NDArray[np.int32]:
        """(C + 1,) the first row of each clip, and the end of the last one; read-only."""
        return self._bounds.view

    def add(self, lengths: Sequence[int] | NDArray[Any]) -> None:
        """Append clips with these numbers of rows."""
        self._bounds.add(self._bounds.view[-1] + np.cumsum(lengths, dtype=np.int32))

    def keep(self, indices: Indices) -> Indices:
        """Keep only the clips at these indices, in this order; return their old row indices."""
        firsts, lengths = self._bounds.view[:-1][indices], np.diff(self._bounds.view)[indices]
        self._bounds = GrowableArray(np.zeros(1, np.int32))
        self.add(lengths)
        shifts = firsts - self._bounds.view[:-1]
        return np.arange(int(self._bounds.view[-1])) + np.repeat(shifts, lengths)
