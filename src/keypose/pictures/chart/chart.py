"""One chart: lines in axes, with marks, bands and a legend."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.options import number as checked
from keypose.pictures.chart import labels
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, draw_top, draw_x, draw_y
from keypose.pictures.chart.draw import Looks, draw_band, draw_line, draw_mark, draw_sample
from keypose.pictures.chart.layout import EDGE_PX, NAME_PX, TITLE_PX, Asked, Plan, lay_out
from keypose.pictures.chart.nouns import Axis, Band, Line, Mark, TopAxis
from keypose.pictures.picture import Picture
from keypose.pictures.svg import document, fitting, number, words
from keypose.pictures.theme import Theme, theme_of

LEAST_PX, MOST_PX = 80.0, 8000.0  # width and height of pictures


def chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    width_px: float = 640.0,
    height_px: float = 360.0,
    theme: str = "light",
    title: str = "",
    says: str = "",
    marks: Sequence[Mark] = (),
    bands: Sequence[Band] = (),
    top: TopAxis | None = None,
    paper: bool = True,
) -> Picture:
    """A picture of ``lines``; those with a label are named beside their ends, or below, as many as there is room for.

    ``says`` is what it shows in words, for who cannot see it; without it the title and the names of the lines. Numbers
    that are not finite are gaps. Long lines keep the highest and the lowest point of each px.
    """
    colours = theme_of(theme)
    width, height = size_from(width_px, height_px)
    asked = Asked(tuple(lines), x, y, tuple(marks), tuple(bands), top, title)
    body = _drawn(asked, lay_out(asked, width, height), colours)
    told = says or ". ".join(filter(None, (title, ", ".join(line.label for line in lines if line.label))))
    svg = document(body, width, height, colours, title=title or told, says=told, paper=paper)
    return Picture(svg, width, height, told)


def size_from(width_px: float, height_px: float) -> tuple[float, float]:
    """Width and height of a picture, checked."""
    width = checked("width_px", width_px, least=LEAST_PX, most=MOST_PX)
    return width, checked("height_px", height_px, least=LEAST_PX, most=MOST_PX)


def _drawn(asked: Asked, plan: Plan, theme: Theme) -> str:
    area, looks = plan.area, Looks(asked.lines)
    drawn = [draw_band(band, plan.x, area, theme) for band in asked.bands]
    drawn += [draw_x(area, plan.x_ticks, asked.x, theme), draw_y(area, plan.y_ticks, theme)]
    wide = plan.width - 2 * EDGE_PX
    if asked.title:
        shown = fitting(asked.title, wide, TITLE_PX, bold=True)
        drawn.append(words(EDGE_PX, plan.title_y, shown, TITLE_PX, theme["ink"], bold=True))
    if asked.y.says:
        drawn.append(words(EDGE_PX, plan.label_y, fitting(asked.y.says, wide, TEXT_PX), TEXT_PX, theme["ink"]))
    if asked.top is not None:
        drawn.append(draw_top(area, plan.x, asked.top, theme))
    drawn += [draw_line(line, plan.x, plan.y, area.bottom, looks, theme) for line in asked.lines]
    for mark, label in zip(asked.marks, plan.mark_labels, strict=True):
        drawn.append(draw_mark(mark, plan.x, plan.y, area, label, theme))
    drawn.append(_names_beside(asked, plan, theme) if plan.is_beside else _legend(asked, plan, looks, theme))
    return "".join(drawn)


def _names_beside(asked: Asked, plan: Plan, theme: Theme) -> str:
    """The names of lines right of the area, each at the height where its line ends, or near it."""
    right, drawn = plan.area.right, []
    for line, (x, y), place in zip(asked.named, plan.ends, plan.name_places, strict=True):
        colour = theme[line.colour]
        way = f"M{number(min(x, right) + 2)} {number(y)}L{number(right + 10)} {number(place)}h3"
        drawn.append(f'<path d="{way}" fill="none" stroke="{colour}" stroke-opacity="0.6" stroke-width="0.8"/>')
        name = fitting(line.label, plan.width - right - NAME_PX - 4, TEXT_PX)
        drawn.append(words(right + NAME_PX, place + 4, name, TEXT_PX, colour))
    return "".join(drawn)


def _legend(asked: Asked, plan: Plan, looks: Looks, theme: Theme) -> str:
    drawn = []
    for line, (row, left, text) in zip(asked.named, plan.legend, strict=False):
        y = plan.legend_y + row * ROW_PX
        drawn.append(draw_sample(line, left, y - 4, looks, theme))
        drawn.append(words(left + labels.SAMPLE_PX + 6, y, text, TEXT_PX, theme["ink"]))
    return "".join(drawn)
