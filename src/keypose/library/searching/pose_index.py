"""All stored poses of a library, and which of them are nearest to a pose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.noun import Singles, Windows
from keypose.library.searching.shelf import Numbers, PoseFound, spread_out

FIRST_LOOK = 256  # rows that are put in order at first; if they are not enough, four times as many


@dataclass(frozen=True, eq=False)
class PoseIndex(Frozen):
    """The poses of C clips, N in all, one clip after another."""

    vectors: Singles  # (N, D)
    times_s: Floats  # (N,)
    clips: Ints  # (N,) which of the clips each is of
    firsts: NDArray[np.intp]  # (C,) where each clip starts

    @classmethod
    def of(cls, clips: Sequence[Windows]) -> PoseIndex | None:
        """The index of these clips, each with a pose at least; None of no clips."""
        if not clips:
            return None
        counts = [len(each) for each in clips]
        return cls(
            np.concatenate([each.vectors for each in clips]),
            np.concatenate([each.starts_s for each in clips]),
            np.repeat(np.arange(len(clips), dtype=np.int32), counts),
            np.cumsum([0, *counts[:-1]]),
        )

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
        own = np.einsum("nd,nd,d->n", mine, mine, weights, optimize=False)
        squares: Singles = own - 2.0 * (asked * weights) @ mine.T + (asked**2 @ weights)[:, None]
        return squares

    def _one_of_each(self, nearer: Singles, limit: int) -> NDArray[np.intp]:
        """The rows of the nearest pose of each of the nearest clips; a few more, since the distances are rough."""
        least = np.minimum.reduceat(nearer, self.firsts)
        size = min(len(least), 2 * limit + 8)
        clips = np.argpartition(least, size - 1)[:size]
        lasts = np.append(self.firsts[1:], len(nearer))
        rows = [self.firsts[c] + int(np.argmin(nearer[self.firsts[c] : lasts[c]])) for c in clips.tolist()]
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
