"""All stored poses of a library, and which of them are nearest to a pose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.noun import Singles, Windows
from keypose.library.growing import Groups, Places, Rows
from keypose.library.searching.shelf import Numbers, PoseFound, spread_out

FIRST_LOOK = 256  # rows that are put in order at first; if they are not enough, four times as many


@dataclass(frozen=True, eq=False)
class PoseIndex(Frozen):
    """The poses of C clips, N in all, one clip after another."""

    vectors: Singles  # (N, D)
    squares: Singles  # (N,) of the lengths of vectors
    times_s: Floats  # (N,)
    bounds: Ints  # (C + 1,) where each clip starts, and where the last one ends

    @classmethod
    def of(cls, clips: Sequence[Windows]) -> PoseIndex | None:
        """The index of these clips, each with a pose at least; None of no clips."""
        growing = GrowingPoses()
        if clips:
            growing.add(clips)
        return growing.now()

    @cached_property
    def clips(self) -> Ints:
        """(N,) which of the clips each pose is of."""
        return np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))

    def nearest(
        self, ids: Numbers, ways: Sequence[Singles], scales: Floats, among: Bools | None, limit: int, apart_s: float
    ) -> tuple[PoseFound, ...]:
        """As ``Shelf.poses`` says it; ``ids`` (C,) are the numbers of the clips."""
        rough = self._rough(np.asarray(ways), scales)  # (W, N)
        nearer = rough.min(axis=0)
        if among is not None:
            nearer[~among[self.clips]] = math.inf
        if math.isinf(apart_s):
            return tuple(self._exactly(ids, ways, scales, self._one_of_each(nearer, limit)))[:limit]
        n = len(nearer)
        size = max(FIRST_LOOK, 4 * limit)
        while True:
            rows = np.argpartition(nearer, size)[:size] if size < n else np.arange(n)
            rows = rows[np.isfinite(nearer[rows])]
            found = spread_out(self._exactly(ids, ways, scales, rows), limit, apart_s)
            if len(found) == limit or size >= n:
                return found
            size *= 4

    def _rough(self, ways: Singles, scales: Floats) -> Singles:
        """Squares of distances (W, N), in single precision: enough to choose by."""
        used = np.flatnonzero(scales)
        weights = (scales[used] ** 2).astype(np.float32)
        mine = self.vectors if len(used) == len(scales) else self.vectors[:, used]
        asked = ways[:, used]
        own = self.squares if (scales == 1.0).all() else np.einsum("nd,nd,d->n", mine, mine, weights, optimize=False)
        squares: Singles = own - 2.0 * (asked * weights) @ mine.T + (asked**2 @ weights)[:, None]
        return squares

    def _one_of_each(self, nearer: Singles, limit: int) -> NDArray[np.intp]:
        """The rows of the nearest pose of each of the nearest clips; a few more, since the distances are rough."""
        firsts, ends = self.bounds[:-1], self.bounds[1:]
        least = np.minimum.reduceat(nearer, firsts)
        size = min(len(least), 2 * limit + 8)
        clips = np.argpartition(least, size - 1)[:size]
        rows = [firsts[c] + int(np.argmin(nearer[firsts[c] : ends[c]])) for c in clips.tolist()]
        kept = np.array(rows, np.intp)
        return np.asarray(kept[np.isfinite(nearer[kept])])

    def _exactly(
        self, ids: Numbers, ways: Sequence[Singles], scales: Floats, rows: NDArray[np.intp]
    ) -> Iterator[PoseFound]:
        """The poses of these rows, the nearest first."""
        off = (self.vectors[rows] - np.asarray(ways)[:, None]) * scales
        apart = np.sqrt((off**2).sum(axis=2))  # (W, rows)
        way = apart.argmin(axis=0)
        least = apart.min(axis=0)
        numbers, times = ids[self.clips[rows]], self.times_s[rows]
        for k in np.lexsort((times, numbers, least)).tolist():
            row = int(rows[k])
            yield PoseFound(int(numbers[k]), float(times[k]), float(least[k]), int(way[k]), self.vectors[row])


class GrowingPoses:
    """An index to which clips are added."""

    def __init__(self) -> None:
        self._vectors: Rows[np.float32] | None = None
        self._squares = Rows(np.empty(0, np.float32))
        self._times_s = Rows(np.empty(0))
        self._clips = Groups()

    def add(self, clips: Sequence[Windows]) -> None:
        """More clips, at least one, each with a pose at least."""
        vectors = np.concatenate([each.vectors for each in clips])
        if self._vectors is None:
            self._vectors = Rows(vectors[:0])
        self._vectors.add(vectors)
        self._squares.add(np.einsum("nd,nd->n", vectors, vectors))
        self._times_s.add(np.concatenate([each.starts_s for each in clips]))
        self._clips.add([len(each) for each in clips])

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        rows = self._clips.keep(places)
        if self._vectors is not None:
            self._vectors.keep(rows)
        self._squares.keep(rows)
        self._times_s.keep(rows)

    def now(self) -> PoseIndex | None:
        """The index of the clips that are there; None where there is none."""
        if self._vectors is None or not len(self._vectors):
            return None
        return PoseIndex(self._vectors.now, self._squares.now, self._times_s.now, self._clips.bounds)
