"""Cross-correlation of a query with all clips at once, and its best spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.description import Singles
from keypose.library.incremental_index import ClipBounds, GrowableArray, Indices
from keypose.library.search.part_features import AXES, GROUPS, SIZE, QueryVariant

EPSILON = 1e-9  # so that the similarity of two mean bodies is 1 instead of undefined
BLOCK_SAMPLES = 8192  # samples compared at a time, so that they fit into the processor cache
DECIMALS = 6  # of similarity; further decimals are rounding noise and must not order equal matches


@dataclass(frozen=True, eq=False)
class Level(Frozen):
    """The samples of all clips, one clip after another; with a stride, the mean of the next few samples of the clip at
    each sample."""

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

    It is -inf if the clip is too short.

    A clip shorter than the query is aligned within it at the best position; the query beyond the clip does not match.
    The similarity is at the first sample of the clip, and the second result (C,) is minus the sample of the query at
    which the clip starts; 0 for other clips.
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


@dataclass(frozen=True)
class Peak:
    """A position at which a variant of the query matches."""

    similarity: float  # at most 1
    variant: int
    clip: int
    shift: int  # samples from the start of the clip to that of the query; negative if the clip is shorter


def find_peaks(
    level: Level, variants: Sequence[QueryVariant], is_allowed: Bools, n: int, *, multiple: bool
) -> Iterator[Peak]:
    """Yield peaks above 0: the best of each variant in each of n clips, best clip first, its best variant first.

    ``multiple``: all peaks, best first, also overlapping ones, that are at least as good as the best peak of the n-th
    clip.
    """
    correlations = correlate(level, variants)
    best_similarities = np.array(
        [np.maximum.reduceat(similarities, level.firsts[:-1]) for similarities, _ in correlations]
    )  # (variants, C)
    best_similarities = np.round(best_similarities, DECIMALS)
    first_variant, best = best_similarities.argmax(axis=0), np.where(is_allowed, best_similarities.max(axis=0), -np.inf)
    clips = np.lexsort((first_variant, -best))[:n]
    clips = clips[best[clips] > 0]
    if multiple and len(clips):
        min_similarity = float(best[clips[-1]]) if len(clips) == n else 0.0
        yield from _find_all_peaks(level, correlations, is_allowed, min_similarity)
        return
    for clip in clips.tolist():
        for variant in np.argsort(-best_similarities[:, clip], kind="stable").tolist():
            similarities, shifts = correlations[variant]
            at = int(similarities[level.firsts[clip] : level.firsts[clip + 1]].argmax())
            if best_similarities[variant, clip] > 0:
                yield Peak(float(best_similarities[variant, clip]), variant, clip, at + int(shifts[clip]))


def _find_all_peaks(
    level: Level, correlations: Sequence[tuple[Floats, Ints]], is_allowed: Bools, min_similarity: float
) -> Iterator[Peak]:
    """Yield every local maximum of at least ``min_similarity``."""
    allowed = np.repeat(is_allowed, level.lengths)
    starts, ends = level.firsts[:-1], level.firsts[1:] - 1
    peaks_found: list[tuple[float, int, int]] = []
    for variant, (similarities, _) in enumerate(correlations):
        before, after = np.roll(similarities, 1), np.roll(similarities, -1)
        before[starts] = after[ends] = -np.inf
        peaks = np.flatnonzero(
            allowed
            & (similarities > 0)
            & (similarities >= min_similarity - 0.1**DECIMALS)
            & (similarities >= before)
            & (similarities >= after)
        )
        peaks_found += zip(
            (-np.round(similarities[peaks], DECIMALS)).tolist(), [variant] * len(peaks), peaks.tolist(), strict=True
        )
    for negative_similarity, variant, at in sorted(peaks_found):
        clip = int(np.searchsorted(level.firsts, at, side="right")) - 1
        yield Peak(
            -negative_similarity, variant, clip, at - int(level.firsts[clip]) + int(correlations[variant][1][clip])
        )


def refine_peak(level: Level, variant: QueryVariant, peak: Peak, stride: int) -> Peak:
    """Return the best position near a peak that was found with every ``stride``-th sample."""
    first, n, length = int(level.firsts[peak.clip]), len(variant.vectors), int(level.lengths[peak.clip])
    min_shift, max_shift = min(0, length - n), max(0, length - n)
    middle = min(max(peak.shift, min_shift), max_shift)
    low, high = max(middle - stride, min_shift), min(middle + stride, max_shift)
    cumulative_squares = level.squares[first : first + length + 1] @ variant.groups.astype(np.float64)
    clip = level.vectors[first : first + length]
    if length >= n:
        sums = correlation_sums(clip[low : high + n], [variant.vectors], 1)[0]
        squares = cumulative_squares[low + n : high + n + 1] - cumulative_squares[low : high + 1]
    else:
        sums = correlation_sums(variant.vectors[-high : length - low], [clip], 1)[0][::-1]
        squares = np.full(high - low + 1, cumulative_squares[-1] - cumulative_squares[0])
    similarities = similarity(sums, variant.square_sum, squares)
    best = int(similarities.argmax())
    return Peak(round(float(similarities[best]), DECIMALS), peak.variant, peak.clip, low + best)
