"""Draws lines, marks and bands of a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.pictures.chart.axes import TEXT_PX, Area
from keypose.pictures.chart.elements import Band, Line, Mark
from keypose.pictures.chart.labels import SAMPLE_PX, Label
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.strokes import SHAPES, dots_path, line_path
from keypose.pictures.svg import number, text_element
from keypose.pictures.theme import Theme

# Dash patterns of lines: neighbours differ most, and each repeats within a legend sample.
DASHES = (
    "",
    "7 3",
    "1.5 2.5",
    "9 3 1.5 3",
    "16 4",
    "8 2.5 1.5 2.5 1.5 2.5",
    "1.5 6",
    "15 3 5 3",
    "4 5",
    "7 2 7 2 1.5 2",
)
DOT_PX = 2.6
MARK_PX = 4.0
DEFAULT_DASH = "5 4"
AREA_OPACITY = 0.22


class LineStyles:
    """Dash pattern and dot shape of each line, so that lines differ by more than colour."""

    def __init__(self, lines: Sequence[Line]) -> None:
        keys = dict.fromkeys((line.label, line.colour) for line in lines)
        self._indices = {key: index for index, key in enumerate(keys)}

    def dash(self, line: Line) -> str:
        """Return the dash pattern as an SVG attribute."""
        if line.dashed is None and not line.filled:
            index = self._index(line) // len(SHAPES) if line.dots else self._index(line)
            pattern = DASHES[index % len(DASHES)]
        else:
            pattern = DEFAULT_DASH if line.dashed else ""
        return f' stroke-dasharray="{pattern}"' if pattern else ""

    def shape(self, line: Line) -> str:
        """Return the shape of the dots of ``line``."""
        return SHAPES[self._index(line) % len(SHAPES)]

    def _index(self, line: Line) -> int:
        return self._indices[line.label, line.colour]


def line_points(line: Line, x: Scale, y: Scale) -> tuple[Floats, Floats]:
    """Return the points of a line in px."""
    xs, ys = x.px(line.x), y.px(line.y)
    if xs.shape != ys.shape or xs.ndim != 1:
        raise OptionError(f"line {line.label!r}: {xs.shape} x and {ys.shape} y, expected as many of both")
    return xs, ys


def draw_line(line: Line, x: Scale, y: Scale, floor: float, styles: LineStyles, theme: Theme) -> str:
    """Draw a line, its filled area and its dots."""
    xs, ys = line_points(line, x, y)
    colour, elements = theme[line.colour], []
    if line.filled:
        elements.append(f'<path d="{line_path(xs, ys, floor=floor)}" fill="{colour}" fill-opacity="{AREA_OPACITY}"/>')
    ends = styles.dash(line) or ' stroke-linecap="round"'  # round caps would fill the gaps between dashes
    elements.append(
        f'<path d="{line_path(xs, ys)}" fill="none" stroke="{colour}" stroke-width="{number(line.width_px)}" '
        f'stroke-linejoin="round"{ends}/>'
    )
    if line.dots:
        elements.append(f'<path d="{dots_path(xs, ys, styles.shape(line), DOT_PX)}" fill="{colour}"/>')
    return "".join(elements)


def draw_legend_sample(line: Line, left: float, middle: float, styles: LineStyles, theme: Theme) -> str:
    """Draw a short sample of a line for a legend."""
    colour = theme[line.colour]
    svg = (f'<path d="M{number(left)} {number(middle)}h{number(SAMPLE_PX)}" fill="none" stroke="{colour}" '
             f'stroke-width="{number(line.width_px)}"{styles.dash(line)}/>')  # fmt: skip
    if line.dots:
        at = np.array([left + SAMPLE_PX / 2]), np.array([middle])
        svg += f'<path d="{dots_path(*at, styles.shape(line), DOT_PX)}" fill="{colour}"/>'
    return svg


def draw_band(band: Band, x: Scale, area: Area, theme: Theme) -> str:
    """Draw a band over the whole height of the area; empty if it is outside."""
    left, right = (min(max(x.at(end), area.left), area.right) for end in (band.start, band.end))
    if not right > left:
        return ""
    size = f'width="{number(max(right - left, 0.5))}" height="{number(area.height)}"'
    return (f'<rect x="{number(left)}" y="{number(area.top)}" {size} fill="{theme[band.colour]}" '
            f'fill-opacity="{band.opacity:g}"/>')  # fmt: skip


def draw_mark(mark: Mark, x: Scale, y: Scale, area: Area, label: Label | None, theme: Theme) -> str:
    """Draw a vertical line or a dot, with its label if there is space."""
    colour, at = theme[mark.colour], x.at(mark.x)
    dash = f' stroke-dasharray="{DEFAULT_DASH}"' if mark.dashed else ""
    if mark.y is None:
        top = area.top - 3 if label else area.top
        svg = f'<path d="M{number(at)} {number(top)}V{number(area.bottom)}" stroke="{colour}" fill="none"{dash}/>'
    else:
        high = y.at(mark.y)
        path = f"M{number(at)} {number(high)}V{number(area.bottom)}"
        svg = f'<path d="{path}" stroke="{colour}" fill="none"{dash}/>' if mark.drop else ""
        dot = dots_path(np.array([at]), np.array([high]), mark.shape, MARK_PX)
        svg += f'<path d="{dot}" fill="{colour}" stroke="{theme["paper"]}"/>'
    if label:
        svg += text_element(label.x, label.y, label.text, TEXT_PX, colour)
    return svg
