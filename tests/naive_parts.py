"""Part search in the most obvious way: every clip, every way to ask, every shift, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.library.parts.asked import Asked
from keypose.library.parts.basis import AXES
from keypose.library.parts.sliding import NOTHING


def naive_means(rows: np.ndarray, stride: int) -> np.ndarray:
    """At each row the mean of the next few."""
    return np.array([rows[k : k + stride].mean(axis=0) for k in range(len(rows))])


def naive_likeness(asked: Asked, clip: np.ndarray, shift: int, stride: int = 1) -> float:
    """How like a clip (m, SIZE) is where the query starts at a sample of it, or before it; every stride-th sample."""
    counted = np.repeat(asked.groups, AXES)
    query, there = asked.vectors.astype(float), clip.astype(float)
    if stride > 1:
        query, there = naive_means(query, stride), naive_means(there, stride)
    n = max(len(query) // stride, 1)
    blocks = n if len(clip) >= len(query) else max(len(clip) // stride, 1)
    q_square = sum((query[k * stride] ** 2).sum() for k in range(n))
    products = squares = 0.0
    for k in range(blocks):
        theirs = (there[max(shift, 0) + k * stride]) * counted
        products += query[max(-shift, 0) + k * stride] @ theirs
        squares += theirs @ theirs
    return (2 * products + NOTHING) / (q_square + squares + NOTHING)


def naive_shifts(asked: Asked, clip: np.ndarray) -> range:
    """Where the query may start: within the clip, or, if the clip is shorter, so that all of it is in the query."""
    difference = len(clip) - len(asked.vectors)
    return range(min(difference, 0), max(difference, 0) + 1)


def naive_best(ways: Sequence[Asked], clip: np.ndarray) -> tuple[float, int, int]:
    """The best likeness, its way and its shift; of equal ones, to six decimals, the first."""
    every = [
        (round(naive_likeness(asked, clip, shift), 6), -way, shift)
        for way, asked in enumerate(ways)
        for shift in naive_shifts(asked, clip)
    ]
    like, minus_way, shift = max(every, key=lambda each: each[:2])
    return like, -minus_way, shift
