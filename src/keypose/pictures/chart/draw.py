"""Lines, marks and bands, drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.pictures.chart.axes import TEXT_PX, Area
from keypose.pictures.chart.labels import SAMPLE_PX, Label
from keypose.pictures.chart.nouns import Band, Line, Mark
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.strokes import SHAPES, dots_of, path_of
from keypose.pictures.svg import number, words
from keypose.pictures.theme import Theme

# Of lines that differ by colour too: neighbours differ most, and each repeats itself within a sample of a legend.
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
PLAIN_DASH = "5 4"
AREA_OPACITY = 0.22


class Looks:
    """How each of some lines is told from the others: its dash and the shape of its dots."""

    def __init__(self, lines: Sequence[Line]) -> None:
        each = dict.fromkeys((line.label, line.colour) for line in lines)
        self._places = {which: place for place, which in enumerate(each)}

    def dash(self, line: Line) -> str:
        """The dashes, as an attribute of SVG."""
        if line.dashed is None and not line.filled:
            place = self._place(line) // len(SHAPES) if line.dots else self._place(line)
            pattern = DASHES[place % len(DASHES)]
        else:
            pattern = PLAIN_DASH if line.dashed else ""
        return f' stroke-dasharray="{pattern}"' if pattern else ""

    def shape(self, line: Line) -> str:
        """The shape of its dots."""
        return SHAPES[self._place(line) % len(SHAPES)]

    def _place(self, line: Line) -> int:
        return self._places[line.label, line.colour]


def points_of(line: Line, x: Scale, y: Scale) -> tuple[Floats, Floats]:
    """The points of a line in px."""
    xs, ys = x.px(line.x), y.px(line.y)
    if xs.shape != ys.shape or xs.ndim != 1:
        raise OptionError(f"line {line.label!r}: {xs.shape} x and {ys.shape} y, expected as many of both")
    return xs, ys


def draw_line(line: Line, x: Scale, y: Scale, floor: float, looks: Looks, theme: Theme) -> str:
    """A line, its area and its dots."""
    xs, ys = points_of(line, x, y)
    colour, drawn = theme[line.colour], []
    if line.filled:
        drawn.append(f'<path d="{path_of(xs, ys, floor=floor)}" fill="{colour}" fill-opacity="{AREA_OPACITY}"/>')
    ends = looks.dash(line) or ' stroke-linecap="round"'  # which would fill the gaps between dashes
    drawn.append(
        f'<path d="{path_of(xs, ys)}" fill="none" stroke="{colour}" stroke-width="{number(line.width_px)}" '
        f'stroke-linejoin="round"{ends}/>'
    )
    if line.dots:
        drawn.append(f'<path d="{dots_of(xs, ys, looks.shape(line), DOT_PX)}" fill="{colour}"/>')
    return "".join(drawn)


def draw_sample(line: Line, left: float, middle: float, looks: Looks, theme: Theme) -> str:
    """A short piece of a line, for a legend."""
    colour = theme[line.colour]
    drawn = (f'<path d="M{number(left)} {number(middle)}h{number(SAMPLE_PX)}" fill="none" stroke="{colour}" '
             f'stroke-width="{number(line.width_px)}"{looks.dash(line)}/>')  # fmt: skip
    if line.dots:
        at = np.array([left + SAMPLE_PX / 2]), np.array([middle])
        drawn += f'<path d="{dots_of(*at, looks.shape(line), DOT_PX)}" fill="{colour}"/>'
    return drawn


def draw_band(band: Band, x: Scale, area: Area, theme: Theme) -> str:
    """A band over the whole height; nothing of one that is outside."""
    left, right = (min(max(x.at(end), area.left), area.right) for end in (band.start, band.end))
    if not right > left:
        return ""
    size = f'width="{number(max(right - left, 0.5))}" height="{number(area.height)}"'
    return (f'<rect x="{number(left)}" y="{number(area.top)}" {size} fill="{theme[band.colour]}" '
            f'fill-opacity="{band.opacity:g}"/>')  # fmt: skip


def draw_mark(mark: Mark, x: Scale, y: Scale, area: Area, label: Label | None, theme: Theme) -> str:
    """An upright line or a dot, and its label if there is room for it."""
    colour, at = theme[mark.colour], x.at(mark.x)
    dash = f' stroke-dasharray="{PLAIN_DASH}"' if mark.dashed else ""
    if mark.y is None:
        top = area.top - 3 if label else area.top
        drawn = f'<path d="M{number(at)} {number(top)}V{number(area.bottom)}" stroke="{colour}" fill="none"{dash}/>'
    else:
        high = y.at(mark.y)
        way = f"M{number(at)} {number(high)}V{number(area.bottom)}"
        drawn = f'<path d="{way}" stroke="{colour}" fill="none"{dash}/>' if mark.drop else ""
        dot = dots_of(np.array([at]), np.array([high]), mark.shape, MARK_PX)
        drawn += f'<path d="{dot}" fill="{colour}" stroke="{theme["paper"]}"/>'
    if label:
        drawn += words(label.x, label.y, label.text, TEXT_PX, colour)
    return drawn
