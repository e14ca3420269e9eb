"""Plot a curve as text: braille dots if the terminal supports them, else stars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

ROWS = 10
MAX_COLUMNS = 60
MIN_COLUMNS = 16
MAX_DECADES = 5.0  # of the logarithmic scale; lower values are drawn at the bottom
MIN_DECADES = 0.1
BLANK = 0x2800  # empty braille character; each of its 2 x 4 dots is a bit
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(frozen=True)
class Symbols:
    """The characters of a plot."""

    chosen: str
    cliff: str
    down: str  # from the selected point to the axis
    left: str
    tick_left: str
    corner: str
    bottom: str
    tick_bottom: str
    curve: str | None  # None: braille


BRAILLE = Symbols("●", "◆", "┊", "│", "┤", "└", "─", "┬", None)
PLAIN = Symbols("O", "+", ":", "|", "+", "+", "-", "+", "*")


def plot_curve(
    counts: Sequence[int],
    costs: Sequence[float],
    chosen: int,
    cliffs: Sequence[int],
    width: int,
    symbols: Symbols = BRAILLE,
) -> Text | None:
    """Return a plot of costs, on a logarithmic scale, against numbers of keys; None for fewer than three or zero costs.

    ``counts`` increase, and ``chosen`` is one of them. The plot is as wide as fits, within MIN_COLUMNS and MAX_COLUMNS.
    """
    max_cost = max(costs)
    if len(counts) < 3 or max_cost <= 0:
        return None
    top = math.log10(max_cost)
    heights = [max(math.log10(cost), top - MAX_DECADES) if cost > 0 else -math.inf for cost in costs]
    bottom = min((height for height in heights if height > -math.inf), default=top)
    bottom = min(bottom, top - MIN_DECADES)
    per_cell = (1, 1) if symbols.curve else (2, 4)
    ticks = _tick_labels(bottom, top, per_cell[1])
    margin = max(map(len, ticks.values()), default=0)
    columns = max(MIN_COLUMNS, min(MAX_COLUMNS, width - margin - 3))
    points = [
        (
            _dot_index((count - counts[0]) / (counts[-1] - counts[0]), columns * per_cell[0]),
            _dot_index((top - max(height, bottom)) / (top - bottom), ROWS * per_cell[1]),
        )
        for count, height in zip(counts, heights, strict=True)
    ]
    cells = _cells(points, per_cell, columns, symbols)
    cell_by_count = {count: (y // per_cell[1], x // per_cell[0]) for count, (x, y) in zip(counts, points, strict=True)}
    for cliff in cliffs:
        if cliff in cell_by_count:
            row, column = cell_by_count[cliff]
            cells[row][column] = (symbols.cliff, "cyan")
    row, column = cell_by_count[chosen]
    cells[row][column] = (symbols.chosen, "bold green")
    for below in range(row + 1, ROWS):
        if cells[below][column][0] == " ":
            cells[below][column] = (symbols.down, "green")
    text = Text(no_wrap=True, overflow="crop")
    for row, line in enumerate(cells):
        label = ticks.get(row, "")
        text.append(f" {label:>{margin}} {symbols.tick_left if label else symbols.left}", "dim")
        for sign, style in line:
            text.append(sign, style or None)
        text.append("\n")
    return text.append(_axis(counts[0], counts[-1], columns, per_cell[0], margin, symbols))


def _cells(
    points: Sequence[tuple[int, int]], per_cell: tuple[int, int], columns: int, symbols: Symbols
) -> list[list[tuple[str, str]]]:
    """Return the cells of the plot, (symbol, style) each, with the curve through ``points``."""
    bits = [[0] * columns for _ in range(ROWS)]
    for x, y in _line_dots(points):
        bits[y // per_cell[1]][x // per_cell[0]] |= DOTS[y % per_cell[1]][x % per_cell[0]]
    return [[((symbols.curve or chr(BLANK + bit)) if bit else " ", "") for bit in row] for row in bits]


def _line_dots(points: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield every dot of the polyline through ``points``, without gaps."""
    yield points[0]
    for (x0, y0), (x1, y1) in pairwise(points):
        steps = max(abs(x1 - x0), abs(y1 - y0))
        for step in range(1, steps + 1):
            yield round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)


def _dot_index(fraction: float, dots: int) -> int:
    """Return the dot at a ``fraction``, from 0 to 1, of a side with ``dots`` dots."""
    return round(fraction * (dots - 1))


def _tick_labels(bottom: float, top: float, per_row: int) -> dict[int, str]:
    """Return labels of round values by row, none adjacent; powers of ten before fives, twos and threes."""
    ticks: dict[int, str] = {}
    for digit in (1, 5, 2, 3):
        for decade in range(math.floor(bottom), math.ceil(top) + 1):
            value = float(f"{digit}e{decade}")
            if bottom <= math.log10(value) <= top:
                row = _dot_index((top - math.log10(value)) / (top - bottom), ROWS * per_row) // per_row
                if not {row - 1, row, row + 1} & ticks.keys():
                    ticks[row] = f"{value:g}"
    return ticks


def _axis(first: int, last: int, columns: int, per_column: int, margin: int, symbols: Symbols) -> Text:
    """Return the horizontal axis, labelled with round numbers of keys."""
    sizes = (digit * 10**exponent for exponent in range(20) for digit in (1, 2, 5))
    step = next(size for size in sizes if (last - first) / size * (len(str(last)) + 3) <= columns)
    line, labels = [symbols.bottom] * columns, [" "] * (columns + len(str(last)))
    for count in range(-(-first // step) * step, last + 1, step):
        at = _dot_index((count - first) / (last - first), columns * per_column) // per_column
        line[at] = symbols.tick_bottom
        start = max(0, at - len(str(count)) // 2)
        labels[start : start + len(str(count))] = str(count)
    indent = " " * (margin + 3)
    return Text(f" {' ' * margin} {symbols.corner}{''.join(line)}\n{indent}{''.join(labels).rstrip()}", "dim")
