"""Errors against budgets as charts: one line for each way, the median over clips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.chart import Axis, Line, chart
from keypose.pictures.picture import Picture
from keypose.pictures.theme import SERIES
from keypose.verbs.comparing import Comparison, Row
from keypose.verbs.comparing.rows import ClipIdentity

GRID = 24  # points of a median curve
WIDTH_PX, HEIGHT_PX = 860.0, 440.0
LEAST_MM = 0.01  # smaller errors, and none at all, are drawn as this
KEPT_TICKS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
STORED_TICKS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
BEST, PLAINEST = "salient-inbetween", "uniform"


@dataclass(frozen=True)
class Measure:
    """One column of the rows, as it is called in words."""

    column: str
    words: str


MEASURES = (Measure("mean_mm", "mean error"), Measure("max_mm", "largest error"))


def error_curves(comparison: Comparison, inbetweens: str, measure: Measure, theme: str = "page") -> Picture | None:
    """Error against frames removed, one line for each method with these in-betweens; None without two points each."""
    methods = dict.fromkeys(row.method for row in comparison if row.inbetweens == inbetweens)
    lines = []
    for place, method in enumerate(methods):
        rows = [row for row in comparison if (row.method, row.inbetweens) == (method, inbetweens)]
        points = _median_curve(rows, _kept, measure.column)
        if points is not None:
            lines.append(Line(method, *points, colour=f"line{place % SERIES}"))
    if not lines:
        return None
    ticks = _within(KEPT_TICKS, lines)
    return chart(
        lines,
        Axis("frames removed", log=True, unit="%", ticks=ticks, text=lambda kept: f"{100 - kept:g}"),
        Axis(measure.words, log=True, unit="mm"),
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        theme=theme,
        says=f"{measure.words} in mm against frames removed, with {inbetweens} in-betweens; " + _in_words(lines),
    )


def value_curves(comparison: Comparison, measure: Measure, theme: str = "page") -> Picture | None:
    """Error against stored values: keys with each kind of in-betweens beside the references; None without points."""
    methods = dict.fromkeys(row.method for row in comparison if row.kind != "reference")
    shown = [name for name in (BEST, PLAINEST) if name in methods] or list(methods)[:2]
    ways = [way for way in comparison.ways if way[0] in shown]
    ways += dict.fromkeys((row.method, row.inbetweens) for row in comparison if row.kind == "reference")
    lines = []
    for place, way in enumerate(ways):
        rows = [row for row in comparison if (row.method, row.inbetweens) == way]
        points = _median_curve(rows, lambda row: row.stored_percent, measure.column)
        if points is not None:
            name = way[0] if way[1] == "own" else ", ".join(way)
            lines.append(Line(name, *points, colour=f"line{place % SERIES}"))
    if not lines:
        return None
    return chart(
        lines,
        Axis("stored values, of those of every frame", log=True, unit="%", ticks=_within(STORED_TICKS, lines)),
        Axis(measure.words, log=True, unit="mm"),
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        theme=theme,
        says=f"{measure.words} in mm against stored values; " + _in_words(lines),
    )


def _kept(row: Row) -> float | None:
    return None if row.removed_percent is None else 100.0 - row.removed_percent


def _median_curve(
    rows: Sequence[Row], across: Callable[[Row], float | None], column: str
) -> tuple[Floats, Floats] | None:
    """x and y of one way: its points on one clip; of several the median, where all of them have the curve.

    Between the points of a clip the curve is straight on logarithmic scales.
    """
    clips: dict[ClipIdentity, dict[float, float]] = {}
    for row in rows:
        x, y = across(row), getattr(row, column)
        if x is not None and y is not None and x > 0:
            clips.setdefault(row.identity, {})[x] = max(y, LEAST_MM)
    curves = [(np.log(sorted(points)), np.log([points[x] for x in sorted(points)])) for points in clips.values()]
    curves = [curve for curve in curves if len(curve[0]) > 1]
    if not curves:
        return None
    if len(curves) == 1:
        return np.exp(curves[0][0]), np.exp(curves[0][1])
    low, high = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    if low >= high:
        return None
    grid = np.linspace(low, high, GRID)
    return np.exp(grid), np.exp(np.median([np.interp(grid, x, y) for x, y in curves], axis=0))


def _within(ticks: Sequence[float], lines: Sequence[Line]) -> list[float] | None:
    """The ticks that lie on the chart; None if hardly any does."""
    low, high = (end(end(np.asarray(line.x)) for line in lines) for end in (min, max))
    some = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
    return some if len(some) > 1 else None


def _in_words(lines: Sequence[Line]) -> str:
    ends = [f"{line.label} from {np.asarray(line.y)[-1]:.3g} to {np.asarray(line.y)[0]:.3g}" for line in lines]
    return ", ".join(ends)
