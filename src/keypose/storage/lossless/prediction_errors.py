"""The frames on which predictors are fitted, and the cost of prediction errors in bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.storage.lossless.number_format import Integers


@dataclass(frozen=True, eq=False)
class FitFrames:
    """The frames on which predictors are fitted: complete groups, concatenated."""

    frames: NDArray[np.intp]  # (N,) of the clip
    index_in_group: NDArray[np.intp]  # (N,)

    @cached_property
    def is_first(self) -> Bools:
        """Return which frames are the first of their group (N,)."""
        return np.asarray(self.index_in_group == 0)

    def steps(self, numbers: Integers) -> Integers:
        """Return the differences (N,) from the previous frame; 0 for the first of a group."""
        steps = np.zeros_like(numbers)
        steps[1:] = numbers[1:] - numbers[:-1]
        steps[self.is_first] = 0
        return steps

    @cached_property
    def has_previous_step(self) -> Bools:
        """Return which frames have a step before them (N,)."""
        return np.asarray(self.index_in_group >= 2)

    def previous_steps(self, steps: Integers, count: int) -> Floats:
        """Return ``count`` steps before each frame (count, N), the latest first; 0 before the group's second frame."""
        result = np.zeros((count, len(steps)))
        for k in range(1, count + 1):
            np.copyto(result[k - 1, k:], steps[:-k], where=self.index_in_group[k:] > k)
        return result

    def cost_bits(self, errors: Integers) -> float:
        """Return the approximate size of prediction errors (N,) in bits."""
        return _core.error_bits(errors, self.is_first.view(np.uint8))


def choose_fit_frames(bounds: list[tuple[int, int]], max_frames: int) -> FitFrames:
    """Choose groups from all over a clip, with about ``max_frames`` frames in total."""
    total = bounds[-1][1]
    step = max(1, -(-total // max_frames))
    groups = bounds[::step]
    return FitFrames(
        np.concatenate([np.arange(*group) for group in groups]),
        np.concatenate([np.arange(stop - start) for start, stop in groups]),
    )


def fit_weights(features: Floats, target: Floats, counts: list[int]) -> list[Floats]:
    """Return robust least-squares weights of the first columns of ``features`` (N, K) for ``target`` (N,), per count.

    Rows with large errors get smaller weights: a large error costs few bits more than a small one.
    """
    weights = _core.robust_fits(np.ascontiguousarray(features), target, counts)
    ends = accumulate(counts)
    return [weights[end - count : end] for end, count in zip(ends, counts, strict=True)]


def quarter_log2(size: float) -> int:
    """Return 4 log2 of a number of at least 1, rounded down as in the C++ coder."""
    integer = max(1, int(size))
    length = integer.bit_length() - 1
    return 4 * length + ((integer >> (length - 2) if length >= 2 else integer << (2 - length)) & 3)


def decimal_ranks(numbers: Integers, digits: int) -> Integers:
    """Return the ranks of numbers among those with ``digits`` significant digits; 0 digits: the numbers themselves."""
    if not digits:
        return numbers
    base = 10**digits
    size = np.abs(numbers)
    ranks, below, low, step = size.copy(), 0, base, 10
    while (size >= low).any():
        ranks = np.where(size >= low, below + base + (size - low) // step, ranks)
        below, low, step = below + base - base // 10, low * 10, step * 10
    return np.sign(numbers) * ranks
