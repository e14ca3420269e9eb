"""Round numbers along an axis, and their format."""

from __future__ import annotations

import math
from collections.abc import Sequence

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TOLERANCE = 1e-9  # relative to a step


def linear_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    """Return about ``max_ticks`` multiples of a round step from ``low`` to ``high``."""
    span = high / 4 - low / 4  # a quarter, since high - low may overflow
    step = round_step(span / max(1, max_ticks) * 4) if span * 4 < math.inf else 0.0
    if not 0 < step < math.inf:
        return ()
    first, last = math.ceil(low / step - TOLERANCE), math.floor(high / step + TOLERANCE)
    if last - first > 10 * max(1, max_ticks):  # the numbers are too large for the precision of the step
        return ()
    return tuple(_round_to_step(n * step, step) for n in range(first, last + 1))


def round_step(min_step: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5, 10, ... that is at least ``min_step``; 0 if there is none."""
    if not 0 < min_step < 1e306:
        return 0.0
    power = 10.0 ** math.floor(math.log10(min_step))
    return next((size * power for size in STEPS if size * power >= min_step * (1 - TOLERANCE)), 10 * power)


def integer_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    """Return linear ticks at integers only."""
    ticks = linear_ticks(low, high, max_ticks)
    if all(tick == round(tick) for tick in ticks):
        return ticks
    return tuple(float(n) for n in range(math.ceil(low), math.floor(high) + 1))[: max(1, max_ticks)]


def log_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    """Return powers of ten; if few, also 2 and 5 times them; if many, every second, third, ..."""
    first, last = math.floor(math.log10(low) - TOLERANCE), math.ceil(math.log10(high) + TOLERANCE)
    for digits in ((1, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1, 3), (1,)):
        ticks = _powers(low, high, range(first, last + 1), digits)
        if 2 <= len(ticks) <= max(2, max_ticks):
            return ticks
    for stride in range(2, 700):
        ticks = _powers(low, high, range(first - first % stride, last + 1, stride), (1,))
        if len(ticks) <= max(1, max_ticks):
            break
    return ticks or linear_ticks(low, high, max_ticks)


def _powers(low: float, high: float, exponents: range, digits: Sequence[int]) -> tuple[float, ...]:
    numbers = (float(f"{digit}e{exponent}") for exponent in exponents for digit in digits)
    return tuple(n for n in numbers if low * (1 - TOLERANCE) <= n <= high * (1 + TOLERANCE))


def format_tick(value: float) -> str:
    """Return a number as tick text: 12, 1,200, 0.25, 1e7."""
    size = abs(value)
    if size and (size >= 1e6 or size < 1e-4):
        mantissa, exponent = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:,.6f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"


def _round_to_step(value: float, step: float) -> float:
    """Return ``value`` without rounding errors of multiplication: 0.3, not 0.30000000000000004."""
    digits = 3 - math.floor(math.log10(step))
    return round(value, digits) + 0.0 if -300 < digits < 300 else value
