"""An order of importance: the paper has none, but whoever asks for twelve keys wants the twelve that matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats


class Ranking(NamedTuple):
    """Frames by importance, and what each was worth."""

    order: NDArray[np.intp]  # first, last, then the others
    found_off: Floats  # of each frame in that order: how far it was from the straight line when it was taken


def ranking(values: Floats, keys: Bools) -> Ranking:
    """All frames of ``values`` (T, D), the keys (T,), first and last among them, before all others.

    From coarse to fine: every span between neighbouring frames taken so far takes the key farthest from the straight
    line between its ends (on the curve where that is most; ties: the earliest), until none is left; then
    the other frames the same way. Importance is that distance, but never above that of the span's ends. So that no
    data make this slow, a span is halved where all distances are 0 and after ``2 log2 T`` rounds:
    O(T D log T) always.
    """
    frames = len(values)
    curves = np.ascontiguousarray(values.T)
    off, importance, level = np.zeros(frames), np.zeros(frames), np.zeros(frames, np.intp)
    taken = np.zeros(frames, bool)
    taken[[0, -1]] = True
    importance[[0, -1]] = np.inf
    last_level = 0
    for candidates in (keys, np.ones(frames, bool)):
        halve_from = last_level + 2 * frames.bit_length()
        while True:
            left = np.flatnonzero(candidates & ~taken)
            if not len(left):
                break
            last_level += 1
            at = np.flatnonzero(taken)
            span = np.cumsum(taken)[left] - 1
            distance = _off_the_line(curves, left, at[span], at[span + 1])
            first = np.flatnonzero(np.diff(span, prepend=-1))
            count = np.diff(first, append=len(left))
            worst = np.maximum.reduceat(distance, first)
            highest = np.flatnonzero(distance == np.repeat(worst, count))
            chosen = highest[np.diff(span[highest], prepend=-1) > 0]
            halved = (worst == 0) | (last_level > halve_from)
            chosen[halved] = (first + count // 2)[halved]
            new = left[chosen]
            ends = span[chosen]
            off[new] = distance[chosen]
            importance[new] = np.minimum(off[new], np.minimum(importance[at[ends]], importance[at[ends + 1]]))
            level[new] = last_level
            taken[new] = True
    order = np.lexsort((np.arange(frames), level, -importance, ~keys))
    return Ranking(order, off[order])


def _off_the_line(curves: Floats, frames: NDArray[np.intp], left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
    """The greatest distance over all curves (D, T) of each frame from the line between frames left and right of it."""
    part = (frames - left) / (right - left)
    greatest = np.zeros(len(frames))
    for curve in curves:
        start = curve[left]
        np.maximum(greatest, np.abs(curve[frames] - start - part * (curve[right] - start)), out=greatest)
    return greatest
