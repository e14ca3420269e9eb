"""What a predictor leaves over, for the numbers on which predictors are fitted, and what that costs in bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.storage.lossless.spelling import Wholes


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

    @cached_property
    def known(self) -> Bools:
        """Which frames have a step before them."""
        return np.asarray(self.place >= 2)

    def past(self, steps: Wholes, count: int) -> Floats:
        """The ``count`` steps before each frame (count, N), the latest first; 0 before the group's second frame."""
        past = np.zeros((count, len(steps)))
        for k in range(1, count + 1):
            np.copyto(past[k - 1, k:], steps[:-k], where=self.place[k:] > k)
        return past

    def bits(self, misses: Wholes) -> float:
        """About how many bits the misses (N,) take."""
        return _core.miss_bits(misses, self.first.view(np.uint8))


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

    Rows that are far off are trusted less: a large miss costs few bits more than a small one.
    """
    weights = _core.trusting_fits(np.ascontiguousarray(features), target, counts)
    ends = accumulate(counts)
    return [weights[end - count : end] for end, count in zip(ends, counts, strict=True)]


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
