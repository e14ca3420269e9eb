"""The best spans of a cross-correlation, and their refinement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.library.part_search.cross_correlation import Level, correlate, correlation_sums, similarity
from keypose.library.part_search.query import QueryVariant

DECIMALS = 6  # of similarity: the rest is rounding noise and must not break ties


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

    ``multiple``: all peaks, best first, also overlapping ones, that are as good as the best one of the n-th clip.
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
