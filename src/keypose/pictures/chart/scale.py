"""Elements of a chart in data coordinates, their mapping to px, and round numbers along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, runs
from keypose.pictures.svg import number

MAX_VALUE = 1e305  # larger values are drawn at the edge
MIN_SPAN = 1e-300  # smaller ranges are widened
MIN_RELATIVE_SPAN = 1e-9  # relative to the values: smaller ranges are rounding errors and widened

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TOLERANCE = 1e-9  # relative to a step

MAX_POINTS_PER_PX = 4  # with more points only the highest and lowest of each px column are drawn
PASSES = 6
MAX_ERROR_PX = 0.3  # maximum error of a simplified line
SHAPES = ("circle", "square", "diamond", "triangle", "drop")


@dataclass(frozen=True)
class Axis:
    """A scale with its label. Without ``low`` and ``high`` it covers all data."""

    label: str = ""
    log: bool = False  # logarithmic; values <= 0 are omitted
    unit: str = ""  # after the label, in parentheses
    ticks: Sequence[float] | None = None  # None: as many round numbers as fit
    low: float | None = None
    high: float | None = None
    text: Callable[[float], str] | None = None  # text of a tick; None: the number
    is_integer: bool = False  # ticks at integers only, for keys and frames

    @property
    def full_label(self) -> str:
        """Label and unit."""
        return f"{self.label} ({self.unit})" if self.unit and self.label else self.label or self.unit


@dataclass(frozen=True)
class Line:
    """Points joined in order, with a gap where x or y is not finite.

    ``dashed=None``: the chart chooses a dash pattern, different for up to ten lines.
    """

    label: str
    x: ArrayLike  # (N,) never decreasing
    y: ArrayLike  # (N,)
    colour: str = "line0"  # name of a colour of the theme
    dashed: bool | None = None
    dots: bool = False  # at each point, with a different shape for each line
    width_px: float = 1.8
    filled: bool = False  # down to the bottom of the chart


@dataclass(frozen=True)
class Mark:
    """A vertical line at ``x``, or a dot if ``y`` is given, from which a line may drop to the axis.

    The label is omitted if there is no space; the first marks have precedence.
    """

    x: float
    label: str = ""
    y: float | None = None
    colour: str = "muted"
    dashed: bool = False
    drop: bool = False
    shape: str = "circle"


@dataclass(frozen=True)
class Band:
    """A coloured range of x behind the lines."""

    start: float
    end: float
    colour: str = "grid"
    opacity: float = 0.5


@dataclass(frozen=True)
class TopAxis:
    """A second x axis along the top; ``ticks`` are pairs of x and text."""

    label: str
    ticks: Sequence[tuple[float, str]]


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


def linear_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    """Return about ``max_ticks`` multiples of a round step from ``low`` to ``high``."""
    span = high / 4 - low / 4  # a quarter of the range, as high - low may overflow
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
    """Return powers of ten; if there are few, also 2 and 5 times them; if there are many, every second, third, ..."""
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


def line_path(xs: Floats, ys: Floats, *, floor: float | None = None) -> str:
    """Return path data through points in px, broken at NaN; with ``floor`` areas down to that y."""
    segments = []
    for start, stop in runs(np.isfinite(xs) & np.isfinite(ys)):
        x, y = simplify_points(*thin_points(xs[start:stop], ys[start:stop]))
        texts = [f"{number(a)} {number(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        if floor is not None:
            segments.append(f"M{number(x[0])} {number(floor)}L{'L'.join(texts)}L{number(x[-1])} {number(floor)}Z")
        else:
            segments.append(f"M{texts[0]}h0" if len(texts) == 1 else f"M{'L'.join(texts)}")
    return "".join(segments)


def thin_points(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest point of each column of 1 px, in order, with the first and last point."""
    columns = np.floor(xs).astype(np.int64)
    if len(xs) <= MAX_POINTS_PER_PX * (columns[-1] - columns[0] + 2) or (np.diff(xs) < 0).any():
        return xs, ys
    starts = np.flatnonzero(np.append(True, np.diff(columns) != 0))
    order = np.lexsort((ys, columns))  # sorted by y within each column
    lowest, highest = order[starts], order[np.append(starts[1:], len(xs)) - 1]
    indices = np.unique(np.concatenate(([0, len(xs) - 1], lowest, highest)))
    return xs[indices], ys[indices]


def simplify_points(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Return the line without points near the line between their neighbours; error at most ``MAX_ERROR_PX``."""
    for _ in range(PASSES):
        middle = np.arange(1, len(xs) - 1, 2)
        before, at, after = ((xs[middle + k], ys[middle + k]) for k in (-1, 0, 1))
        width = after[0] - before[0]
        share = (at[0] - before[0]) / np.where(width > 0, width, 1.0)
        error = np.abs(before[1] + share * (after[1] - before[1]) - at[1])
        redundant = middle[(width > 0) & (error <= MAX_ERROR_PX / PASSES)]
        if not len(redundant):
            break
        xs, ys = np.delete(xs, redundant), np.delete(ys, redundant)
    return xs, ys


def dots_path(xs: Floats, ys: Floats, shape: str, radius: float) -> str:
    """Return path data of a small shape, one of ``SHAPES``, at each finite point."""
    is_finite = np.isfinite(xs) & np.isfinite(ys)
    points = zip(xs[is_finite].tolist(), ys[is_finite].tolist(), strict=True)
    return "".join(_shape(shape, x, y, radius) for x, y in points)


def _shape(shape: str, x: float, y: float, radius: float) -> str:
    r, wide, steep = number(radius), number(2 * radius), number(1.3 * radius)
    match shape:
        case "square":
            return f"M{number(x - radius)} {number(y - radius)}h{wide}v{wide}h-{wide}z"
        case "diamond":
            return f"M{number(x)} {number(y - 1.3 * radius)}l{steep} {steep}l-{steep} {steep}l-{steep} -{steep}z"
        case "triangle":
            return f"M{number(x - radius)} {number(y + radius)}h{wide}L{number(x)} {number(y - 1.2 * radius)}z"
        case "drop":
            return f"M{number(x - radius)} {number(y - radius)}h{wide}L{number(x)} {number(y + 1.2 * radius)}z"
        case _:
            return f"M{number(x - radius)} {number(y)}a{r} {r} 0 1 0 {wide} 0a{r} {r} 0 1 0 -{wide} 0z"
