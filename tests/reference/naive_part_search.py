"""Slow obvious part search: every clip, variant and shift, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.library.search.cross_correlation import EPSILON
from keypose.library.search.part_features import AXES, QueryVariant


def naive_means(rows: np.ndarray, stride: int) -> np.ndarray:
    """Return at each row the mean of the next few."""
    return np.array([rows[k : k + stride].mean(axis=0) for k in range(len(rows))])


def naive_similarity(variant: QueryVariant, clip: np.ndarray, shift: int, stride: int = 1) -> float:
    """Return the similarity of a clip (m, SIZE) with the query at a shift, of every stride-th sample."""
    is_counted = np.repeat(variant.groups, AXES)
    query, clip_samples = variant.vectors.astype(float), clip.astype(float)
    if stride > 1:
        query, clip_samples = naive_means(query, stride), naive_means(clip_samples, stride)
    n = max(len(query) // stride, 1)
    blocks = n if len(clip) >= len(query) else max(len(clip) // stride, 1)
    q_square = sum((query[k * stride] ** 2).sum() for k in range(n))
    products = squares = 0.0
    for k in range(blocks):
        sample = (clip_samples[max(shift, 0) + k * stride]) * is_counted
        products += query[max(-shift, 0) + k * stride] @ sample
        squares += sample @ sample
    return (2 * products + EPSILON) / (q_square + squares + EPSILON)


def naive_shifts(variant: QueryVariant, clip: np.ndarray) -> range:
    """Return the possible shifts: the query within the clip, or a shorter clip within the query."""
    difference = len(clip) - len(variant.vectors)
    return range(min(difference, 0), max(difference, 0) + 1)


def naive_best(variants: Sequence[QueryVariant], clip: np.ndarray) -> tuple[float, int, int]:
    """Return the best similarity, its variant and its shift; ties, to six decimals: the first."""
    candidates = [
        (round(naive_similarity(variant, clip, shift), 6), -index, shift)
        for index, variant in enumerate(variants)
        for shift in naive_shifts(variant, clip)
    ]
    similarity, negative_index, shift = max(candidates, key=lambda each: each[:2])
    return similarity, -negative_index, shift
