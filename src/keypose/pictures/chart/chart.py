"""Layout and drawing of a chart: lines in axes, with marks, bands and a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.options import check_option_number
from keypose.options.pictures import ErrorPlotOptions
from keypose.pictures.chart import draw
from keypose.pictures.chart.axes import (
    ROW_PX,
    TEXT_PX,
    Area,
    draw_top,
    draw_x,
    draw_y,
    horizontal_ticks,
    max_label_width,
    vertical_ticks,
)
from keypose.pictures.chart.draw import (
    Box,
    Label,
    LineStyles,
    draw_band,
    draw_legend_sample,
    draw_line,
    draw_mark,
    lay_out_legend,
    line_points,
    place_along_top,
    place_beside,
    spread_positions,
)
from keypose.pictures.chart.scale import Axis, Band, Line, Mark, Scale, TopAxis, build_scale
from keypose.pictures.svg import Picture, Theme, document, find_theme, fit_text, number, text_element, text_width

TITLE_PX = 14.0
EDGE_PX = 10.0
NAME_PX = 16.0  # from the area to the labels beside it
MARK_ROWS = 2
MAX_END_LABEL_SHARE = 0.3  # of the width, for labels at line ends
MIN_END_LABEL_WIDTH_PX = 360.0  # narrower pictures have their legend below
MIN_AREA_PX = 40.0  # minimum height of the lines; legend entries that need more space are dropped
MARGIN_SHARE = 0.04  # above and below the lines, relative to their height


def chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    width_px: float = 640.0,
    height_px: float = 360.0,
    theme: str = "light",
    title: str = "",
    alt_text: str = "",
    marks: Sequence[Mark] = (),
    bands: Sequence[Band] = (),
    top: TopAxis | None = None,
    paper: bool = True,
) -> Picture:
    """Return a chart of ``lines``, with as many labels as fit at the ends of lines or in a legend below.

    ``alt_text`` describes it for screen readers, by default the title and the labels of the lines. Values that are not
    finite are gaps. Long lines are reduced to the highest and the lowest point of each px.
    """
    colours = find_theme(theme)
    width = check_width(width_px)
    height = check_option_number(ErrorPlotOptions, "height_px", height_px)
    spec = ChartSpec(tuple(lines), x, y, tuple(marks), tuple(bands), top, title)
    body = _render(spec, lay_out(spec, width, height), colours)
    description = alt_text or ". ".join(filter(None, (title, ", ".join(line.label for line in lines if line.label))))
    svg = document(body, width, height, colours, title=title or description, alt_text=description, paper=paper)
    return Picture(svg, width, height, description)


def check_width(width_px: float) -> float:
    """Check and return the width of a picture."""
    return check_option_number(ErrorPlotOptions, "width_px", width_px)


def _render(spec: ChartSpec, plan: Plan, theme: Theme) -> str:
    area, styles = plan.area, LineStyles(spec.lines)
    elements = [draw_band(band, plan.x, area, theme) for band in spec.bands]
    elements += [draw_x(area, plan.x_ticks, spec.x, theme), draw_y(area, plan.y_ticks, theme)]
    max_width = plan.width - 2 * EDGE_PX
    if spec.title:
        title = fit_text(spec.title, max_width, TITLE_PX, bold=True)
        elements.append(text_element(EDGE_PX, plan.title_y, title, TITLE_PX, theme["ink"], bold=True))
    if spec.y.full_label:
        elements.append(
            text_element(EDGE_PX, plan.label_y, fit_text(spec.y.full_label, max_width, TEXT_PX), TEXT_PX, theme["ink"])
        )
    if spec.top is not None:
        elements.append(draw_top(area, plan.x, spec.top, theme))
    elements += [draw_line(line, plan.x, plan.y, area.bottom, styles, theme) for line in spec.lines]
    for mark, label in zip(spec.marks, plan.mark_labels, strict=True):
        elements.append(draw_mark(mark, plan.x, plan.y, area, label, theme))
    elements.append(
        _render_end_labels(spec, plan, theme) if plan.has_end_labels else _render_legend(spec, plan, styles, theme)
    )
    return "".join(elements)


def _render_end_labels(spec: ChartSpec, plan: Plan, theme: Theme) -> str:
    """Render the labels of lines right of the area, at or near the height where each line ends."""
    right, elements = plan.area.right, []
    for line, (x, y), label_y in zip(spec.labelled_lines, plan.ends, plan.label_ys, strict=True):
        colour = theme[line.colour]
        path = f"M{number(min(x, right) + 2)} {number(y)}L{number(right + 10)} {number(label_y)}h3"
        elements.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity="0.6" stroke-width="0.8"/>')
        name = fit_text(line.label, plan.width - right - NAME_PX - 4, TEXT_PX)
        elements.append(text_element(right + NAME_PX, label_y + 4, name, TEXT_PX, colour))
    return "".join(elements)


def _render_legend(spec: ChartSpec, plan: Plan, styles: LineStyles, theme: Theme) -> str:
    elements = []
    for line, (row, left, text) in zip(spec.labelled_lines, plan.legend, strict=False):
        y = plan.legend_y + row * ROW_PX
        elements.append(draw_legend_sample(line, left, y - 4, styles, theme))
        elements.append(text_element(left + draw.SAMPLE_PX + 6, y, text, TEXT_PX, theme["ink"]))
    return "".join(elements)


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
    """Lay out a chart: lines get the space that axes and labels do not need."""
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
