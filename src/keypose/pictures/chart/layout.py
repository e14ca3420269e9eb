"""Layout of a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, horizontal_ticks, max_label_width, vertical_ticks
from keypose.pictures.chart.draw import line_points
from keypose.pictures.chart.elements import Axis, Band, Line, Mark, TopAxis
from keypose.pictures.chart.labels import Box, Label, lay_out_legend, place_along_top, place_beside, spread_positions
from keypose.pictures.chart.scale import Scale, build_scale
from keypose.pictures.svg import fit_text, text_width

TITLE_PX = 14.0
EDGE_PX = 10.0
NAME_PX = 16.0  # from the area to the labels beside it
MARK_ROWS = 2
MAX_END_LABEL_SHARE = 0.3  # of the width, for labels at line ends
MIN_END_LABEL_WIDTH_PX = 360.0  # narrower pictures have their legend below
MIN_AREA_PX = 40.0  # height left for the lines; legend entries beyond are dropped
MARGIN_SHARE = 0.04  # above and below the lines, relative to their height


@dataclass(frozen=True)
class ChartSpec:
    """All input of a chart."""

    lines: tuple[Line, ...]
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    bands: tuple[Band, ...]
    top: TopAxis | None
    title: str

    @property
    def labelled_lines(self) -> list[Line]:
        """The lines that have a label."""
        return [line for line in self.lines if line.label]


@dataclass(frozen=True)
class Plan:
    """Positions in px."""

    width: float
    area: Area
    x: Scale
    y: Scale
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    title_y: float
    label_y: float  # of the label of the vertical axis
    mark_labels: list[Label | None]
    has_end_labels: bool  # labels at line ends; otherwise a legend
    ends: list[tuple[float, float]]  # of labelled lines
    label_ys: list[float]  # y of their labels
    legend: list[tuple[int, float, str]]
    legend_y: float


def lay_out(spec: ChartSpec, width: float, height: float) -> Plan:
    """Lay out a chart: axes and labels take the space they need, lines the rest."""
    is_vertical = [mark.y is None for mark in spec.marks]
    plan = _lay_out(spec, width, height, MARK_ROWS if any(is_vertical) else 0)
    used = {label.y for label, is_above in zip(plan.mark_labels, is_vertical, strict=True) if is_above and label}
    return plan if not any(is_vertical) or len(used) == MARK_ROWS else _lay_out(spec, width, height, len(used))


def _lay_out(spec: ChartSpec, width: float, height: float, mark_rows: int) -> Plan:
    above = ROW_PX * (bool(spec.y.full_label) + mark_rows + (spec.top is not None))
    head = EDGE_PX + (TITLE_PX + 6 if spec.title else 0.0) + above
    foot = height - EDGE_PX - ROW_PX * (1 + bool(spec.x.full_label))
    max_label_px = MAX_END_LABEL_SHARE * width - NAME_PX
    names = [text_width(fit_text(line.label, max_label_px, TEXT_PX), TEXT_PX) for line in spec.labelled_lines]
    has_end_labels = bool(names) and width >= MIN_END_LABEL_WIDTH_PX and len(names) * ROW_PX <= foot - head
    legend = (
        []
        if has_end_labels
        else lay_out_legend([line.label for line in spec.labelled_lines], EDGE_PX, width - 2 * EDGE_PX)
    )
    max_rows = max(0, int((foot - head - MIN_AREA_PX) / ROW_PX))
    legend = [entry for entry in legend if entry[0] < max_rows]
    rows = legend[-1][0] + 1 if legend else 0
    foot = max(foot - ROW_PX * rows - (4 if rows else 0), head + 10)
    dots = [mark.y for mark in spec.marks if mark.y is not None]
    y = build_scale(spec.y, [*(line.y for line in spec.lines), dots], foot, head, margin_share=MARGIN_SHARE)
    y_ticks = vertical_ticks(spec.y, y)
    left = min(EDGE_PX + max_label_width(y_ticks) + 6, 0.5 * width)
    right = max(width - EDGE_PX - (max(names) + NAME_PX if has_end_labels else 6), 0.5 * width + 10)
    area = Area(left, head, right, foot)
    x = build_scale(spec.x, [*(line.x for line in spec.lines), [mark.x for mark in spec.marks]], left, right)
    points = [line_points(line, x, y) for line in spec.lines]
    ends = [_line_end(p, area) for p, line in zip(points, spec.lines, strict=True) if line.label]
    return Plan(
        width=width,
        area=area,
        x=x,
        y=y,
        x_ticks=horizontal_ticks(spec.x, x),
        y_ticks=y_ticks,
        title_y=EDGE_PX + TITLE_PX - 2,
        label_y=head - above + ROW_PX - 7,
        mark_labels=_place_mark_labels(spec, x, y, area, points, mark_rows),
        has_end_labels=has_end_labels,
        ends=ends,
        label_ys=spread_positions([end_y for _, end_y in ends], area.top + 4, area.bottom - 2),
        legend=legend,
        legend_y=height - EDGE_PX - ROW_PX * (rows - 1),
    )


def _line_end(points: tuple[Floats, Floats], area: Area) -> tuple[float, float]:
    """Return the last finite point of a line, limited to the area."""
    xs, ys = points
    last = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))[-1:]
    if not len(last):
        return area.right, area.bottom
    return float(xs[last[0]]), min(max(float(ys[last[0]]), area.top), area.bottom)


def _place_mark_labels(
    spec: ChartSpec, x: Scale, y: Scale, area: Area, points: Sequence[tuple[Floats, Floats]], rows: int
) -> list[Label | None]:
    above = Area(area.left, area.top - (0.0 if spec.top is None else ROW_PX), area.right, area.bottom)
    texts = [(x.at(mark.x), fit_text(mark.label, area.width, TEXT_PX)) for mark in spec.marks]
    vertical_labels = [text for text, mark in zip(texts, spec.marks, strict=True) if mark.y is None]
    on_top = iter(place_along_top(vertical_labels, above, rows))
    occupied: list[Box] = []
    for mark in spec.marks:
        if mark.y is not None:
            px, py = x.at(mark.x), y.at(mark.y)
            occupied.append((px - 4, py - 4, px + 4, py + 4))
            occupied += [(px - 1, py, px + 1, area.bottom)] if mark.drop else []
    return [
        next(on_top) if mark.y is None else place_beside(px, y.at(mark.y), text, area, occupied, points)
        for mark, (px, text) in zip(spec.marks, texts, strict=True)
    ]
