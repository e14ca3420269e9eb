"""Draws lines, marks and bands of a chart, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.pictures.chart.axes import ROW_PX, TEXT_GAP_PX, TEXT_PX, Area
from keypose.pictures.chart.scale import SHAPES, Band, Line, Mark, Scale, dots_path, line_path
from keypose.pictures.svg import Theme, fit_text, number, text_element, text_width

# Dash patterns of lines: successive ones are most different, and each is shorter than a legend sample.
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

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
SAMPLE_PX = 34.0  # length of the line in a legend


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
        raise OptionError(f"line {line.label!r}: {xs.shape} x and {ys.shape} y", expected="as many of both")
    return xs, ys


def draw_line(line: Line, x: Scale, y: Scale, floor: float, styles: LineStyles, theme: Theme) -> str:
    """Draw a line, its filled area and its dots."""
    xs, ys = line_points(line, x, y)
    colour, elements = theme[line.colour], []
    if line.filled:
        elements.append(f'<path d="{line_path(xs, ys, floor=floor)}" fill="{colour}" fill-opacity="{AREA_OPACITY}"/>')
    ends = styles.dash(line) or ' stroke-linecap="round"'  # not with dashes, as round caps would fill the gaps
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
    """Draw a vertical line or a dot, with its label if there is space for it."""
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


@dataclass(frozen=True)
class Label:
    """A text that starts at ``x`` with its base line at ``y``."""

    x: float
    y: float
    text: str

    @property
    def box(self) -> Box:
        """Upper bound of the covered box in px."""
        return self.x, self.y - TEXT_PX, self.x + text_width(self.text, TEXT_PX), self.y + 0.3 * TEXT_PX


def spread_positions(targets: Sequence[float], low: float, high: float, min_gap: float = ROW_PX) -> list[float]:
    """Return positions near ``targets``, at least ``min_gap`` apart, from ``low`` to ``high`` if they fit."""
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    min_gap = min(min_gap, (high - low) / max(1, len(targets) - 1))
    groups: list[list[float]] = []  # [sum of (target - own offset), count]; members are min_gap apart
    for rank, i in enumerate(order):
        groups.append([min(max(targets[i], low), high) - rank * min_gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    bases = [total / count for total, count in groups for _ in range(int(count))]
    last = (len(targets) - 1) * min_gap
    positions = [0.0] * len(targets)
    for rank, i in enumerate(order):
        positions[i] = min(max(bases[rank], low), high - last) + rank * min_gap
    return positions


def place_along_top(labels: Sequence[tuple[float, str]], area: Area, rows: int) -> list[Label | None]:
    """Return a label above the area for each of (x, text), near its x, in the lowest row with space.

    None if no row has space; the first labels have precedence.
    """
    occupied: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    placed_labels: list[Label | None] = []
    for x, text in labels:
        wide = text_width(text, TEXT_PX)
        candidates = ((row, start) for row in range(rows) for start in (x - wide / 2, x - 3, x + 3 - wide))
        label = None
        for row, start in candidates:
            inside = start >= area.left - TEXT_GAP_PX and start + wide <= area.right + TEXT_GAP_PX
            free = all(
                start >= right + TEXT_GAP_PX or start + wide + TEXT_GAP_PX <= left for left, right in occupied[row]
            )
            if text and inside and free:
                occupied[row].append((start, start + wide))
                label = Label(start, area.top - 4 - row * ROW_PX, text)
                break
        placed_labels.append(label)
    return placed_labels


def place_beside(
    x: float, y: float, text: str, area: Area, occupied: list[Box], lines: Sequence[tuple[Floats, Floats]] = ()
) -> Label | None:
    """Return a label near a point: inside the area, off all ``occupied`` boxes, off ``lines`` if possible.

    The box of the label is added to ``occupied``. None if there is no space.
    """
    wide = text_width(text, TEXT_PX)
    right, left, middle = x + 6, x - 6 - wide, x - wide / 2
    above, below = y - 5, y + TEXT_PX + 3
    candidates = [(right, above), (right, below), (left, below), (left, above), (middle, y - 10), (middle, below + 6)]
    candidates += [(right, above - TEXT_PX), (right, below + TEXT_PX), (left, above - TEXT_PX), (left, below + TEXT_PX)]
    free = [
        label
        for label in (Label(*position, text) for position in candidates)
        if text and _is_free(label.box, area, occupied)
    ]
    best = next((label for label in free if not any(_crosses(line, label.box) for line in lines)), None)
    best_label = best or next(iter(free), None)
    if best_label:
        occupied.append(best_label.box)
    return best_label


def _is_free(box: Box, area: Area, occupied: Sequence[Box]) -> bool:
    a, b, c, d = box
    inside = a >= area.left and c <= area.right and b >= area.top and d <= area.bottom
    return inside and all(c < left or a > right or d < top or b > bottom for left, top, right, bottom in occupied)


def _crosses(line: tuple[Floats, Floats], box: Box) -> bool:
    """Return whether a line crosses a box, sampled every 2 px."""
    xs, ys = line
    is_finite = np.isfinite(xs) & np.isfinite(ys)
    if not is_finite.any():
        return False
    left, top, right, bottom = box
    at = np.arange(max(left, xs[is_finite][0]), min(right, xs[is_finite][-1]), 2.0)
    heights = np.interp(at, xs[is_finite], ys[is_finite])
    return bool(((heights >= top) & (heights <= bottom)).any())


def lay_out_legend(texts: Sequence[str], left: float, width: float) -> list[tuple[int, float, str]]:
    """Return row, x and truncated text of each legend entry."""
    entries = []
    row, x = 0, left
    for text in texts:
        label = fit_text(text, width - SAMPLE_PX - 6, TEXT_PX)
        wide = SAMPLE_PX + 6 + text_width(label, TEXT_PX)
        if x > left and x + wide > left + width:
            row, x = row + 1, left
        entries.append((row, x, label))
        x += wide + 2 * TEXT_GAP_PX
    return entries
