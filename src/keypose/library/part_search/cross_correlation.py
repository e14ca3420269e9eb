"""Cross-correlation of a query with all clips at once: the similarity of each span of the same length.

Similarity is twice the sum of products, divided by the sums of squares of both: 1 for the same, 0 for unrelated spans,
as for the mean body with anything. So a span with little motion is not similar to a query with much motion, as it would
be by distance.

A long query is compared by every second, fourth, ... sample, each the mean of those up to the next, still at every
shift, so that identical spans have similarity 1 there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen, Ints
from keypose.library.descriptors.description import Singles
from keypose.library.incremental_index import ClipBounds, GrowableArray, Indices
from keypose.library.part_search.basis import AXES, SIZE
from keypose.library.part_search.body_features import GROUPS
from keypose.library.part_search.query import QueryVariant

EPSILON = 1e-9  # makes two mean bodies identical instead of undefined
BLOCK_SAMPLES = 8192  # compared at a time, to fit the processor cache


@dataclass(frozen=True, eq=False)
class Level(Frozen):
    """The samples of all clips, one clip after another, or at each sample the mean of the next few of its clip."""

    vectors: Singles  # (N, SIZE)
    firsts: Ints  # (C + 1,) first sample of each clip, and the end
    stride: int  # samples per mean
    squares: Floats  # (N + stride, groups) cumulative over every stride-th sample

    @classmethod
    def build(cls, samples: Singles, firsts: Ints, stride: int = 1) -> Level:
        """Return the level of these samples with the given stride, a power of two."""
        builder = IncrementalLevel(stride)
        builder.add(samples, np.diff(firsts))
        return builder.snapshot()

    @cached_property
    def lengths(self) -> Ints:
        """(C,) number of samples of each clip."""
        return np.diff(self.firsts)


class IncrementalLevel:
    """A level that clips can be added to."""

    def __init__(self, stride: int) -> None:
        self._stride = stride
        self._vectors = GrowableArray(np.empty((0, SIZE), np.float32))
        self._clips = ClipBounds()
        self._squares = GrowableArray(np.zeros((stride, len(GROUPS))))

    @classmethod
    def from_level(cls, level: Level) -> IncrementalLevel:
        """Return one with the clips of a level."""
        builder = cls(level.stride)
        builder._vectors, builder._squares = GrowableArray(level.vectors), GrowableArray(level.squares)
        builder._clips.add(level.lengths)
        return builder

    def add(self, samples: Singles, lengths: Ints) -> None:
        """Append clips: their samples, concatenated, and their numbers of samples (C,)."""
        firsts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int32)), dtype=np.int32)
        self._append(moving_means(samples, firsts, self._stride), lengths)

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        rows, squares = self._clips.keep(indices), self._squares.view
        own_squares = (squares[self._stride :] - squares[: -self._stride])[rows]
        self._vectors.keep(rows)
        self._squares = GrowableArray(np.zeros((self._stride, len(GROUPS))))
        self._append_squares(own_squares)

    def snapshot(self) -> Level:
        """Return the level of the current clips."""
        return Level(self._vectors.view, self._clips.bounds, self._stride, self._squares.view)

    def _append(self, vectors: Singles, lengths: Ints) -> None:
        self._vectors.add(vectors)
        self._clips.add(lengths)
        self._append_squares(np.square(vectors, dtype=np.float64).reshape(len(vectors), len(GROUPS), AXES).sum(axis=2))

    def _append_squares(self, squares: Floats) -> None:
        """Append the cumulative sums for the squares of further samples (n, groups)."""
        stride, n = self._stride, len(squares)
        rows = -(-n // stride)
        sums = np.zeros(((rows + 1) * stride, len(GROUPS)))
        sums[:stride] = self._squares.view[-stride:]
        sums[stride : stride + n] = squares
        cumulative = sums.reshape(rows + 1, stride, len(GROUPS)).cumsum(axis=0).reshape(sums.shape)
        self._squares.add(cumulative[stride : stride + n])


def moving_means(samples: Singles, firsts: Ints, stride: int) -> Singles:
    """Return at each sample (N, D) the mean of the next ``stride``, a power of two, within its clip."""
    n_left = np.repeat(firsts[1:], np.diff(firsts)) - np.arange(len(samples))
    sums, width = samples, 1
    while width < stride:
        longer_sums = sums.copy()
        longer_sums[:-width] += np.where((n_left > width)[:-width, None], sums[width:], np.float32(0.0))
        sums, width = longer_sums, 2 * width
    return sums if stride == 1 else np.asarray(sums / np.minimum(n_left, stride)[:, None], np.float32)


def similarity(products: Floats | Singles, query_square: float, squares: Floats) -> Floats:
    """Return the similarity, at most 1, from sums of products and of squares."""
    return np.asarray((2.0 * products + EPSILON) / (query_square + squares + EPSILON))


def correlate(level: Level, variants: Sequence[QueryVariant]) -> list[tuple[Floats, Ints]]:
    """Return for each variant the similarity of the span that starts at each sample (N,).

    -inf if the clip is too short.

    A clip shorter than the query is placed within it where it fits best; the query beyond it counts as unmatched. Its
    similarity stands at its first sample, and the second result (C,) is minus the sample of the query at which the clip
    starts; 0 for other clips.
    """
    means = [
        moving_means(variant.vectors, np.array((0, len(variant.vectors)), np.int32), level.stride)
        for variant in variants
    ]
    queries = [each[: max(len(each) - level.stride + 1, 1) : level.stride] for each in means]
    n_left = np.repeat(level.firsts[1:], level.lengths) - np.arange(len(level.vectors))
    squares = {variant.groups.tobytes(): level.squares @ variant.groups.astype(np.float64) for variant in variants}
    correlations = []
    for variant, mean, query, sums in zip(
        variants, means, queries, correlation_sums(level.vectors, queries, level.stride), strict=True
    ):
        cumulative_squares, square = squares[variant.groups.tobytes()], float(np.square(query, dtype=np.float64).sum())
        n = len(sums)
        similarities = np.full(len(n_left), -np.inf)
        similarities[:n] = similarity(
            sums, square, cumulative_squares[len(cumulative_squares) - n :] - cumulative_squares[:n]
        )
        similarities[n_left < len(mean)] = -np.inf
        correlations.append(
            (similarities, _correlate_short_clips(level, mean, square, cumulative_squares, similarities))
        )
    return correlations


def _correlate_short_clips(
    level: Level, query: Singles, square: float, cumulative_squares: Floats, similarities: Floats
) -> Ints:
    """Correlate clips shorter than the query; return best shifts (C,), write similarities into ``similarities``."""
    shifts = np.zeros(len(level.lengths), np.int32)
    short = np.flatnonzero(level.lengths < len(query))
    counts = np.maximum(level.lengths[short] // level.stride, 1)
    for count in np.unique(counts).tolist():
        clips = short[counts == count]
        starts = level.firsts[clips]
        sums = _correlate_within_query(level.vectors, starts, count, query, level.stride)  # (clips, positions)
        shifts[clips] = -sums.argmax(axis=1)
        squares = cumulative_squares[starts + count * level.stride] - cumulative_squares[starts]
        similarities[starts] = similarity(sums.max(axis=1), square, squares)
    return shifts


def correlation_sums(samples: Singles, queries: Sequence[Singles], stride: int) -> list[Singles]:
    """Return for each query (m, D) the sums of products with every stride-th sample (N, D), from each one on."""
    stacked = np.concatenate(queries)
    n_beyond = [(len(query) - 1) * stride for query in queries]
    sums = [np.empty(max(len(samples) - n_extra, 0), np.float32) for n_extra in n_beyond]
    for start in range(0, len(samples), BLOCK_SAMPLES):
        table = stacked @ samples[start : start + BLOCK_SAMPLES + max(n_beyond)].T
        row, column = table.strides
        first = 0
        for query, each in zip(queries, sums, strict=True):
            n = max(min(BLOCK_SAMPLES, len(each) - start), 0)
            diagonals = as_strided(table[first:], (len(query), n), (row + stride * column, column), writeable=False)
            diagonals.sum(axis=0, out=each[start : start + n])
            first += len(query)
    return sums


def _correlate_within_query(samples: Singles, starts: Ints, count: int, query: Singles, stride: int) -> Singles:
    """Return sums (K, positions) of ``count`` samples per clip (K,) with the query (n, D), at each position."""
    sample_offsets = stride * np.arange(count)
    clips = samples[starts[:, None] + sample_offsets].reshape(len(starts), -1)
    positions = np.arange(len(query) - sample_offsets[-1])
    windows: NDArray[np.float32] = query[positions[:, None] + sample_offsets].reshape(len(positions), -1)
    return np.asarray(clips @ windows.T)
