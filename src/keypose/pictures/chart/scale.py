"""Mapping of numbers to px along one axis, for any finite numbers, including degenerate ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.pictures.chart.elements import Axis
from keypose.pictures.chart.ticks import integer_ticks, linear_ticks, log_ticks

MAX_VALUE = 1e305  # larger values are drawn at the edge
MIN_SPAN = 1e-300  # smaller ranges are widened
MIN_RELATIVE_SPAN = 1e-9  # relative to the values: smaller ranges are rounding errors and widened


@dataclass(frozen=True)
class Scale:
    """Maps ``low`` to ``start_px`` and ``high`` to ``end_px``."""

    low: float
    high: float
    start_px: float
    end_px: float
    log: bool = False
    is_integer: bool = False  # ticks at integers only

    def px(self, values: ArrayLike) -> Floats:
        """Return positions in px; NaN for values that are not finite and, on a log scale, not above 0.

        Values outside the scale are clipped to half the length of the axis beyond its ends.
        """
        numbers = np.asarray(values, np.float64)
        low, high = self.low, self.high
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.log:
                numbers = np.where(numbers > 0, np.log10(np.where(numbers > 0, numbers, 1.0)), np.nan)
                low, high = math.log10(low), math.log10(high)
            numbers = np.where(np.isfinite(numbers), np.clip(numbers, -MAX_VALUE, MAX_VALUE), np.nan)
            share = (numbers / 4 - low / 4) / (high / 4 - low / 4)
        return np.asarray(self.start_px + np.clip(share, -0.5, 1.5) * (self.end_px - self.start_px))

    def at(self, value: float) -> float:
        """Return the position of one number in px."""
        return float(self.px([value])[0])

    def ticks(self, max_ticks: int) -> tuple[float, ...]:
        """Return about ``max_ticks`` round numbers at most."""
        ticks = log_ticks if self.log else integer_ticks if self.is_integer else linear_ticks
        return ticks(self.low, self.high, max_ticks)


def build_scale(
    axis: Axis, values: Iterable[ArrayLike], start_px: float, end_px: float, *, margin_share: float = 0.0
) -> Scale:
    """Return the scale of all finite ``values`` (above 0 on a log axis), widened by ``margin_share`` on each side.

    ``axis.low`` and ``axis.high`` take precedence.
    """
    arrays = [np.asarray(each, np.float64).ravel() for each in values]
    numbers = np.concatenate([np.zeros(0), *arrays])
    numbers = np.clip(numbers[np.isfinite(numbers)], -MAX_VALUE, MAX_VALUE)
    if axis.log:
        numbers = np.maximum(numbers[numbers > 0], MIN_SPAN)
    low, high = (
        (float(numbers.min()), float(numbers.max())) if len(numbers) else ((1.0, 10.0) if axis.log else (0.0, 1.0))
    )
    low, high = _widen(low, high, margin_share, axis.log)
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    if not low < high:
        low, high = _widen(low, low, 0.0, axis.log)
    return Scale(low, high, start_px, end_px, axis.log, axis.is_integer)


def _widen(low: float, high: float, margin_share: float, log: bool) -> tuple[float, float]:
    """Return ``low`` and ``high`` with margins, widened if the range is empty."""
    if log:
        if high <= low * (1 + MIN_RELATIVE_SPAN):
            return low / 2, high * 2
        factor = (high / low) ** margin_share if high / low < MAX_VALUE else 1.0
        return max(low / factor, MIN_SPAN), min(high * factor, MAX_VALUE)
    size = max(abs(low), abs(high))
    if high / 4 - low / 4 <= max(MIN_RELATIVE_SPAN * size / 4, MIN_SPAN):
        off = 0.05 * size if size > MIN_SPAN / MIN_RELATIVE_SPAN else 1.0
        return low - off, high + off
    margin = margin_share * (high / 4 - low / 4) * 4 if size < MAX_VALUE / 10 else 0.0
    return low - margin, high + margin
