"""From numbers to px, along one axis; any finite numbers, also those whose difference is none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.pictures.chart.nouns import Axis
from keypose.pictures.chart.ticks import linear_ticks, log_ticks, whole_ticks

GREATEST = 1e305  # numbers beyond are drawn at the edge
LEAST = 1e-300  # a scale that covers less covers nothing
FLAT = 1e-9  # of the numbers: a span below this part of them is rounding


@dataclass(frozen=True)
class Scale:
    """``low`` is drawn at ``start_px``, ``high`` at ``end_px``."""

    low: float
    high: float
    start_px: float
    end_px: float
    log: bool = False
    whole: bool = False  # round numbers must be whole ones

    def px(self, values: ArrayLike) -> Floats:
        """Where numbers are drawn; NaN for those that are not finite and, on a log scale, not above 0.

        What is far outside is drawn somewhere outside: half the length of the axis off, at most.
        """
        given = np.asarray(values, np.float64)
        low, high = self.low, self.high
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.log:
                given = np.where(given > 0, np.log10(np.where(given > 0, given, 1.0)), np.nan)
                low, high = math.log10(low), math.log10(high)
            given = np.where(np.isfinite(given), np.clip(given, -GREATEST, GREATEST), np.nan)
            part = (given / 4 - low / 4) / (high / 4 - low / 4)
        return np.asarray(self.start_px + np.clip(part, -0.5, 1.5) * (self.end_px - self.start_px))

    def at(self, value: float) -> float:
        """Where one number is drawn."""
        return float(self.px([value])[0])

    def ticks(self, most: int) -> tuple[float, ...]:
        """At most about so many round numbers."""
        ticks = log_ticks if self.log else whole_ticks if self.whole else linear_ticks
        return ticks(self.low, self.high, most)


def scale_of(axis: Axis, values: Iterable[ArrayLike], start_px: float, end_px: float, *, room: float = 0.0) -> Scale:
    """The scale that covers all finite ``values`` (of a log axis those above 0), and a part ``room`` more on each side.

    Where the axis says itself where it starts or ends, that holds.
    """
    some = [np.asarray(each, np.float64).ravel() for each in values]
    joined = np.concatenate([np.zeros(0), *some])
    joined = np.clip(joined[np.isfinite(joined)], -GREATEST, GREATEST)
    if axis.log:
        joined = np.maximum(joined[joined > 0], LEAST)
    low, high = (float(joined.min()), float(joined.max())) if len(joined) else ((1.0, 10.0) if axis.log else (0.0, 1.0))
    low, high = _spread(low, high, room, axis.log)
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    if not low < high:
        low, high = _spread(low, low, 0.0, axis.log)
    return Scale(low, high, start_px, end_px, axis.log, axis.whole)


def _spread(low: float, high: float, room: float, log: bool) -> tuple[float, float]:
    """A span that is one, with some room around it."""
    if log:
        if high <= low * (1 + FLAT):
            return low / 2, high * 2
        factor = (high / low) ** room if high / low < GREATEST else 1.0
        return max(low / factor, LEAST), min(high * factor, GREATEST)
    size = max(abs(low), abs(high))
    if high / 4 - low / 4 <= max(FLAT * size / 4, LEAST):
        off = 0.05 * size if size > LEAST / FLAT else 1.0
        return low - off, high + off
    margin = room * (high / 4 - low / 4) * 4 if size < GREATEST / 10 else 0.0
    return low - margin, high + margin
