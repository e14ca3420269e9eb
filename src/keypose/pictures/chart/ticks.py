"""Round numbers along an axis, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Sequence

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
CLOSE = 1e-9  # of a step: as good as on it


def linear_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Multiples of a round step from ``low`` to ``high``, at most ``most`` of them (never fewer than one fits)."""
    span = high / 4 - low / 4  # of which there may be no whole one
    step = round_step(span / max(1, most) * 4) if span * 4 < math.inf else 0.0
    if not 0 < step < math.inf:
        return ()
    first, last = math.ceil(low / step - CLOSE), math.floor(high / step + CLOSE)
    if last - first > 10 * max(1, most):  # the numbers are too large for so fine a step
        return ()
    return tuple(_rounded(n * step, step) for n in range(first, last + 1))


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5, 10, ... that is at least so much; 0 where there is none."""
    if not 0 < least < 1e306:
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    return next((size * power for size in STEPS if size * power >= least * (1 - CLOSE)), 10 * power)


def whole_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """The same, with whole numbers only: of keys or frames there is no half."""
    ticks = linear_ticks(low, high, most)
    if all(tick == round(tick) for tick in ticks):
        return ticks
    return tuple(float(n) for n in range(math.ceil(low), math.floor(high) + 1))[: max(1, most)]


def log_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Powers of ten; where these are few, 2 and 5 times them; where they are many, every second, third, ..."""
    first, last = math.floor(math.log10(low) - CLOSE), math.ceil(math.log10(high) + CLOSE)
    for digits in ((1, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1, 3), (1,)):
        found = _powers(low, high, range(first, last + 1), digits)
        if 2 <= len(found) <= max(2, most):
            return found
    for every in range(2, 700):
        found = _powers(low, high, range(first - first % every, last + 1, every), (1,))
        if len(found) <= max(1, most):
            break
    return found or linear_ticks(low, high, most)


def _powers(low: float, high: float, exponents: range, digits: Sequence[int]) -> tuple[float, ...]:
    numbers = (float(f"{digit}e{exponent}") for exponent in exponents for digit in digits)
    return tuple(n for n in numbers if low * (1 - CLOSE) <= n <= high * (1 + CLOSE))


def tick_text(value: float) -> str:
    """A number as it stands on an axis: 12, 1,200, 0.25, 1e7."""
    size = abs(value)
    if size and (size >= 1e6 or size < 1e-4):
        mantissa, exponent = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:,.6f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"


def _rounded(value: float, step: float) -> float:
    """Without the last bits that multiplying has added: 0.3, not 0.30000000000000004."""
    digits = 3 - math.floor(math.log10(step))
    return round(value, digits) + 0.0 if -300 < digits < 300 else value
