"""What a predictor leaves over, for the numbers on which predictors are fitted, and what that costs in bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.storage.lossless.spelling import Wholes

_NEAR = 6  # frames before, whose misses tell how large the next one will be


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames on which predictors are fitted: whole groups, one after another."""

    chosen: NDArray[np.intp]  # (N,) which of the clip's frames
    place: NDArray[np.intp]  # (N,) how many frames of the group come before

    @cached_property
    def first(self) -> Bools:
        """Which frames are the first of their group."""
        return np.asarray(self.place == 0)

    def steps(self, numbers: Wholes) -> Wholes:
        """The step to each frame (N,) from the one before it; 0 to the first of a group."""
        steps = np.zeros_like(numbers)
        steps[1:] = numbers[1:] - numbers[:-1]
        steps[self.first] = 0
        return steps

    def past(self, steps: Wholes, count: int) -> Floats:
        """The ``count`` steps before each frame (N, count), the latest first; 0 before the group's second frame."""
        past = np.zeros((len(steps), count))
        for k in range(1, count + 1):
            past[k:, k - 1] = np.where(self.place[k:] > k, steps[:-k], 0)
        return past

    def bits(self, misses: Wholes | Floats) -> float:
        """About how many bits the misses (N,) take: as numbers whose spread is that of the few before them."""
        sizes = np.abs(misses).astype(float)
        sums = np.concatenate(([0.0], np.cumsum(np.where(self.first, 0.0, sizes))))
        frames = np.arange(len(sizes))
        since = np.maximum(frames - _NEAR, 0)
        spread = (sums[frames] - sums[since]) / np.maximum(frames - since, 1) + 0.05
        spread[self.first] = sizes[self.first].mean() + 0.05
        return float(np.sum(np.log2(1 + 2 * spread) + 2 * np.log2(1 + sizes / (2 * spread + 0.5))))


def fitting_frames(bounds: list[tuple[int, int]], most: int) -> Frames:
    """Groups of all parts of a clip, of about ``most`` frames together."""
    total = bounds[-1][1]
    step = max(1, -(-total // most))
    some = bounds[::step]
    return Frames(
        np.concatenate([np.arange(*group) for group in some]),
        np.concatenate([np.arange(stop - start) for start, stop in some]),
    )


def nested_fits(features: Floats, target: Floats, counts: list[int]) -> list[Floats]:
    """The weights with which the first so many ``features`` (N, K) come nearest to ``target`` (N,), for each count.

    Fitted twice, the second time with less trust in rows that were far off: a large miss costs few bits more than a
    small one.
    """
    first = _core.nested_fits(np.ascontiguousarray(features), target, counts[-1:])
    off = np.abs(target - features[:, : counts[-1]] @ first)
    trust = 1.0 / np.sqrt(off + np.median(off) + 1e-6 * np.abs(target).max() + 1e-300)
    weights = _core.nested_fits(features * trust[:, None], target * trust, counts)
    return np.split(weights, np.cumsum(counts)[:-1])


def quarters(size: float) -> int:
    """Four times the logarithm to base 2 of a number of at least 1, about as the coder in C++ has it."""
    whole = max(1, int(size))
    length = whole.bit_length() - 1
    return 4 * length + ((whole >> (length - 2) if length >= 2 else whole << (2 - length)) & 3)


def rungs(numbers: Wholes, digits: int) -> Wholes:
    """Numbers of which only the first ``digits`` digits are not 0, counted through from 0; no digits: as they are."""
    if not digits:
        return numbers
    base = 10**digits
    size = np.abs(numbers)
    counted, below, low, step = size.copy(), 0, base, 10
    while (size >= low).any():
        counted = np.where(size >= low, below + base + (size - low) // step, counted)
        below, low, step = below + base - base // 10, low * 10, step * 10
    return np.sign(numbers) * counted
