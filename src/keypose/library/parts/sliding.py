"""The query slid along all clips at once: how like it each stretch as long is.

Likeness is twice the sum of products, divided by the sums of squares of both: 1 for the same, 0 for what has nothing in
common, as the usual body with everything. So a stretch in which little happens is not near to a query in which much
does, as it would be by distance.

A long query is compared by every second sample, or fourth, ..., each the mean of those up to the next; still at every
shift, so that what is the same has a likeness of 1 there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, Ints
from keypose.library.descriptors.noun import Singles
from keypose.library.growing import Groups, Places, Rows
from keypose.library.parts.asked import Asked
from keypose.library.parts.basis import AXES, SIZE
from keypose.library.parts.measure import GROUPS

NOTHING = 1e-9  # added to squares: two bodies that are exactly as usual are the same
BLOCK = 8192  # samples compared at a time: what stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Level(Frozen):
    """The samples of all clips, one clip after another, or at each the mean of the next few of its clip."""

    vectors: Singles  # (N, SIZE)
    firsts: Ints  # (C + 1,) where each clip starts, and the end of all
    stride: int  # how many a mean is of
    squares: Floats  # (N + stride, groups) of every stride-th sample before, summed

    @classmethod
    def of(cls, samples: Singles, firsts: Ints, stride: int = 1) -> Level:
        """The level of these samples and means, the stride a power of two."""
        growing = GrowingLevel(stride)
        growing.add(samples, np.diff(firsts))
        return growing.now()

    @cached_property
    def lengths(self) -> Ints:
        """(C,) how many samples each clip has."""
        return np.diff(self.firsts)


class GrowingLevel:
    """A level to which clips are added."""

    def __init__(self, stride: int) -> None:
        self._stride = stride
        self._vectors = Rows(np.empty((0, SIZE), np.float32))
        self._clips = Groups()
        self._squares = Rows(np.zeros((stride, len(GROUPS))))

    @classmethod
    def of(cls, level: Level) -> GrowingLevel:
        """One that has the clips of a level already."""
        growing = cls(level.stride)
        growing._vectors, growing._squares = Rows(level.vectors), Rows(level.squares)
        growing._clips.add(level.lengths)
        return growing

    def add(self, samples: Singles, lengths: Ints) -> None:
        """More clips: their samples, one clip after another, and how many each has (C,)."""
        firsts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int32)), dtype=np.int32)
        self._put(moving_means(samples, firsts, self._stride), lengths)

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        rows, squares = self._clips.keep(places), self._squares.now
        own = (squares[self._stride :] - squares[: -self._stride])[rows]
        self._vectors.keep(rows)
        self._squares = Rows(np.zeros((self._stride, len(GROUPS))))
        self._sum_up(own)

    def now(self) -> Level:
        """The level of the clips that are there."""
        return Level(self._vectors.now, self._clips.bounds, self._stride, self._squares.now)

    def _put(self, vectors: Singles, lengths: Ints) -> None:
        self._vectors.add(vectors)
        self._clips.add(lengths)
        self._sum_up(np.square(vectors, dtype=np.float64).reshape(len(vectors), len(GROUPS), AXES).sum(axis=2))

    def _sum_up(self, squares: Floats) -> None:
        """Squares of further samples (n, groups)."""
        stride, n = self._stride, len(squares)
        rows = -(-n // stride)
        sums = np.zeros(((rows + 1) * stride, len(GROUPS)))
        sums[:stride] = self._squares.now[-stride:]
        sums[stride : stride + n] = squares
        until = sums.reshape(rows + 1, stride, len(GROUPS)).cumsum(axis=0).reshape(sums.shape)
        self._squares.add(until[stride : stride + n])


def moving_means(samples: Singles, firsts: Ints, stride: int) -> Singles:
    """At each sample (N, D) the mean of the next ``stride``, a power of two; near the end of a clip of those left."""
    room = np.repeat(firsts[1:], np.diff(firsts)) - np.arange(len(samples))
    sums, width = samples, 1
    while width < stride:
        longer = sums.copy()
        longer[:-width] += np.where((room > width)[:-width, None], sums[width:], np.float32(0.0))
        sums, width = longer, 2 * width
    return sums if stride == 1 else np.asarray(sums / np.minimum(room, stride)[:, None], np.float32)


def likeness(products: Floats | Singles, asked_square: float, squares: Floats) -> Floats:
    """At most 1, from sums of products and of squares."""
    return np.asarray((2.0 * products + NOTHING) / (asked_square + squares + NOTHING))


def slide(level: Level, asked: Sequence[Asked]) -> list[tuple[Floats, Ints]]:
    """For each way to ask, how like it each stretch that starts at a sample is (N,); -inf where the clip ends before.

    A clip that is shorter than the query lies somewhere within it, wherever that is best: what is beyond the clip is
    like nothing. Its likeness is at its first sample, and the second result says at which sample of the query, with a
    minus, the clip starts (C,); 0 for the others.
    """
    means = [moving_means(way.vectors, np.array((0, len(way.vectors)), np.int32), level.stride) for way in asked]
    queries = [each[: max(len(each) - level.stride + 1, 1) : level.stride] for each in means]
    room = np.repeat(level.firsts[1:], level.lengths) - np.arange(len(level.vectors))
    squares = {way.groups.tobytes(): level.squares @ way.groups.astype(np.float64) for way in asked}
    found = []
    for way, mean, query, sums in zip(
        asked, means, queries, products(level.vectors, queries, level.stride), strict=True
    ):
        until, square = squares[way.groups.tobytes()], float(np.square(query, dtype=np.float64).sum())
        n = len(sums)
        like = np.full(len(room), -np.inf)
        like[:n] = likeness(sums, square, until[len(until) - n :] - until[:n])
        like[room < len(mean)] = -np.inf
        found.append((like, _slide_short(level, mean, square, until, like)))
    return found


def _slide_short(level: Level, query: Singles, square: float, until: Floats, like: Floats) -> Ints:
    """Clips that are shorter than the query slid along it: where they are best (C,), and how like, into ``like``."""
    shifts = np.zeros(len(level.lengths), np.int32)
    short = np.flatnonzero(level.lengths < len(query))
    counts = np.maximum(level.lengths[short] // level.stride, 1)
    for count in np.unique(counts).tolist():
        clips = short[counts == count]
        starts = level.firsts[clips]
        sums = _within(level.vectors, starts, count, query, level.stride)  # (clips, places)
        shifts[clips] = -sums.argmax(axis=1)
        squares = until[starts + count * level.stride] - until[starts]
        like[starts] = likeness(sums.max(axis=1), square, squares)
    return shifts


def products(samples: Singles, queries: Sequence[Singles], stride: int) -> list[Singles]:
    """Of each query (m, D) the sum of products with every stride-th of the samples (N, D), from each of them on."""
    stacked = np.concatenate(queries)
    beyond = [(len(query) - 1) * stride for query in queries]
    sums = [np.empty(max(len(samples) - more, 0), np.float32) for more in beyond]
    for start in range(0, len(samples), BLOCK):
        table = stacked @ samples[start : start + BLOCK + max(beyond)].T
        row, column = table.strides
        first = 0
        for query, each in zip(queries, sums, strict=True):
            n = max(min(BLOCK, len(each) - start), 0)
            diagonals = as_strided(table[first:], (len(query), n), (row + stride * column, column), writeable=False)
            diagonals.sum(axis=0, out=each[start : start + n])
            first += len(query)
    return sums


def _within(samples: Singles, starts: Ints, count: int, query: Singles, stride: int) -> Singles:
    """The same of so many samples of each clip (K,) with the query (n, D), from each of its samples on (K, places)."""
    every = stride * np.arange(count)
    clips = samples[starts[:, None] + every].reshape(len(starts), -1)
    places = np.arange(len(query) - every[-1])
    windows: NDArray[np.float32] = query[places[:, None] + every].reshape(len(places), -1)
    return np.asarray(clips @ windows.T)
