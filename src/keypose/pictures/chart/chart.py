"""Draws a chart: lines in axes, with marks, bands and a legend."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.pictures.chart import labels
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, draw_top, draw_x, draw_y
from keypose.pictures.chart.draw import LineStyles, draw_band, draw_legend_sample, draw_line, draw_mark
from keypose.pictures.chart.elements import Axis, Band, Line, Mark, TopAxis
from keypose.pictures.chart.layout import EDGE_PX, NAME_PX, TITLE_PX, ChartSpec, Plan, lay_out
from keypose.pictures.picture import Picture
from keypose.pictures.svg import document, fit_text, number, text_element
from keypose.pictures.theme import Theme, find_theme
from keypose.validation import check_number

MIN_SIZE_PX, MAX_SIZE_PX = 80.0, 8000.0  # width and height of pictures


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
    """Return a chart of ``lines``; labels stand at the ends of lines or in a legend below, as many as fit.

    ``alt_text`` describes it for screen readers, by default the title and the labels of the lines. Values that are not
    finite are gaps. Long lines keep the highest and the lowest point of each px.
    """
    colours = find_theme(theme)
    width, height = check_size(width_px, height_px)
    spec = ChartSpec(tuple(lines), x, y, tuple(marks), tuple(bands), top, title)
    body = _render(spec, lay_out(spec, width, height), colours)
    description = alt_text or ". ".join(filter(None, (title, ", ".join(line.label for line in lines if line.label))))
    svg = document(body, width, height, colours, title=title or description, alt_text=description, paper=paper)
    return Picture(svg, width, height, description)


def check_size(width_px: float, height_px: float) -> tuple[float, float]:
    """Check and return width and height of a picture."""
    width = check_number("width_px", width_px, min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)
    return width, check_number("height_px", height_px, min_value=MIN_SIZE_PX, max_value=MAX_SIZE_PX)


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
        elements.append(text_element(left + labels.SAMPLE_PX + 6, y, text, TEXT_PX, theme["ink"]))
    return "".join(elements)
