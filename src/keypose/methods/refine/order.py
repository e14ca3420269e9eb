"""Rank frames by importance, so that any number of keys can be taken; the paper has no such order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats


class Ranking(NamedTuple):
    """Frames by importance, and their distances."""

    order: NDArray[np.intp]  # first, last, then the others
    distances: Floats  # of each frame in that order, from the straight line when it was taken


def rank_frames(values: Floats, keys: Bools) -> Ranking:
    """Rank all frames of ``values`` (T, D), with the keys (T,), which include first and last, before all others.

    From coarse to fine: in every span between neighbouring frames taken so far, take the key farthest from the straight
    line between its ends (on the curve with the largest distance; ties: the earliest), until none is left; then the
    other frames in the same way. Importance is that distance, but never above that of the span's ends. To bound the
    time, a span is halved if all distances are 0 and after ``2 log2 T`` rounds: O(T D log T) always.
    """
    frames = len(values)
    curves = np.ascontiguousarray(values.T)
    distances, importance, level = np.zeros(frames), np.zeros(frames), np.zeros(frames, np.intp)
    is_taken = np.zeros(frames, bool)
    is_taken[[0, -1]] = True
    importance[[0, -1]] = np.inf
    last_level = 0
    for candidates in (keys, np.ones(frames, bool)):
        halve_from = last_level + 2 * frames.bit_length()
        while True:
            remaining = np.flatnonzero(candidates & ~is_taken)
            if not len(remaining):
                break
            last_level += 1
            taken_frames = np.flatnonzero(is_taken)
            span = np.cumsum(is_taken)[remaining] - 1
            distance = _distances_from_line(curves, remaining, taken_frames[span], taken_frames[span + 1])
            first = np.flatnonzero(np.diff(span, prepend=-1))
            count = np.diff(first, append=len(remaining))
            worst = np.maximum.reduceat(distance, first)
            highest = np.flatnonzero(distance == np.repeat(worst, count))
            chosen = highest[np.diff(span[highest], prepend=-1) > 0]
            is_halved = (worst == 0) | (last_level > halve_from)
            chosen[is_halved] = (first + count // 2)[is_halved]
            new = remaining[chosen]
            ends = span[chosen]
            distances[new] = distance[chosen]
            importance[new] = np.minimum(
                distances[new], np.minimum(importance[taken_frames[ends]], importance[taken_frames[ends + 1]])
            )
            level[new] = last_level
            is_taken[new] = True
    order = np.lexsort((np.arange(frames), level, -importance, ~keys))
    return Ranking(order, distances[order])


def _distances_from_line(
    curves: Floats, frames: NDArray[np.intp], left: NDArray[np.intp], right: NDArray[np.intp]
) -> Floats:
    """Return the largest distance over all curves (D, T) of each frame from the line between ``left`` and ``right``."""
    fraction = (frames - left) / (right - left)
    distances = np.zeros(len(frames))
    for curve in curves:
        start = curve[left]
        np.maximum(distances, np.abs(curve[frames] - start - fraction * (curve[right] - start)), out=distances)
    return distances
