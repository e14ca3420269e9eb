"""Charts of errors against budgets: one line per method and in-betweens, the median over clips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.api.compare import Comparison, Row
from keypose.api.compare.tables import ClipIdentity
from keypose.arrays import Floats
from keypose.pictures.chart import Axis, Line, chart
from keypose.pictures.svg import SERIES, Picture

N_GRID_POINTS = 24  # points of a median curve
WIDTH_PX, HEIGHT_PX = 860.0, 440.0
MIN_MM = 0.01  # smaller errors, including 0, are drawn as this
KEY_PERCENT_TICKS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
STORED_PERCENT_TICKS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
REFERENCE_METHOD, BASELINE_METHOD = "salient-inbetween", "uniform"


@dataclass(frozen=True)
class Measure:
    """A column of the comparison rows and its label."""

    column: str
    label: str


MEASURES = (Measure("mean_mm", "mean error"), Measure("max_mm", "largest error"))


def plot_error_curves(comparison: Comparison, inbetweens: str, measure: Measure, theme: str = "page") -> Picture | None:
    """Plot error against removed frames, one line per method; None if no line has two points."""
    methods = dict.fromkeys(row.method for row in comparison if row.inbetweens == inbetweens)
    lines = []
    for index, method in enumerate(methods):
        rows = [row for row in comparison if (row.method, row.inbetweens) == (method, inbetweens)]
        points = _median_curve(rows, _key_percent, measure.column)
        if points is not None:
            lines.append(Line(method, *points, colour=f"line{index % SERIES}"))
    if not lines:
        return None
    ticks = _visible_ticks(KEY_PERCENT_TICKS, lines)
    return chart(
        lines,
        Axis("frames removed", log=True, unit="%", ticks=ticks, text=lambda percent: f"{100 - percent:g}"),
        Axis(measure.label, log=True, unit="mm"),
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        theme=theme,
        alt_text=f"{measure.label} in mm against frames removed, with {inbetweens} in-betweens; "
        + _describe_lines(lines),
    )


def plot_value_curves(comparison: Comparison, measure: Measure, theme: str = "page") -> Picture | None:
    """Plot error against stored values for keys and references; None if no line has two points."""
    methods = dict.fromkeys(row.method for row in comparison if row.kind != "reference")
    plotted_methods = [name for name in (REFERENCE_METHOD, BASELINE_METHOD) if name in methods] or list(methods)[:2]
    method_pairs = [method_pair for method_pair in comparison.method_pairs if method_pair[0] in plotted_methods]
    method_pairs += dict.fromkeys((row.method, row.inbetweens) for row in comparison if row.kind == "reference")
    lines = []
    for index, pair in enumerate(method_pairs):
        rows = [row for row in comparison if (row.method, row.inbetweens) == pair]
        points = _median_curve(rows, lambda row: row.stored_percent, measure.column)
        if points is not None:
            name = pair[0] if pair[1] == "own" else ", ".join(pair)
            lines.append(Line(name, *points, colour=f"line{index % SERIES}"))
    if not lines:
        return None
    return chart(
        lines,
        Axis(
            "stored values, of those of every frame",
            log=True,
            unit="%",
            ticks=_visible_ticks(STORED_PERCENT_TICKS, lines),
        ),
        Axis(measure.label, log=True, unit="mm"),
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        theme=theme,
        alt_text=f"{measure.label} in mm against stored values; " + _describe_lines(lines),
    )


def _key_percent(row: Row) -> float | None:
    return None if row.removed_percent is None else 100.0 - row.removed_percent


def _median_curve(
    rows: Sequence[Row], row_x: Callable[[Row], float | None], column: str
) -> tuple[Floats, Floats] | None:
    """Return x and y of the curve of ``rows``: the points of a single clip, or the median over clips.

    The median covers the common range of the clips. Between points curves are linear on logarithmic scales.
    """
    clips: dict[ClipIdentity, dict[float, float]] = {}
    for row in rows:
        x, y = row_x(row), getattr(row, column)
        if x is not None and y is not None and x > 0:
            clips.setdefault(row.identity, {})[x] = max(y, MIN_MM)
    curves = [(np.log(sorted(points)), np.log([points[x] for x in sorted(points)])) for points in clips.values()]
    curves = [curve for curve in curves if len(curve[0]) > 1]
    if not curves:
        return None
    if len(curves) == 1:
        return np.exp(curves[0][0]), np.exp(curves[0][1])
    low, high = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    if low >= high:
        return None
    grid = np.linspace(low, high, N_GRID_POINTS)
    return np.exp(grid), np.exp(np.median([np.interp(grid, x, y) for x, y in curves], axis=0))


def _visible_ticks(ticks: Sequence[float], lines: Sequence[Line]) -> list[float] | None:
    """Return the ticks on the chart; None if there are fewer than two."""
    low, high = (end(end(np.asarray(line.x)) for line in lines) for end in (min, max))
    visible = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
    return visible if len(visible) > 1 else None


def _describe_lines(lines: Sequence[Line]) -> str:
    ends = [f"{line.label} from {np.asarray(line.y)[-1]:.3g} to {np.asarray(line.y)[0]:.3g}" for line in lines]
    return ", ".join(ends)
