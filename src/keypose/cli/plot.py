"""A curve as a small plot of text: braille dots where the terminal has them, stars where not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

ROWS = 10
MOST_COLUMNS = 60
LEAST_COLUMNS = 16
DECADES = 5.0  # of a logarithmic scale, at most: what is lower stands at the bottom
LEAST_DECADES = 0.1
BLANK = 0x2800  # braille; each of its 2 x 4 dots is a bit
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(frozen=True)
class Signs:
    """What a plot is drawn with."""

    chosen: str
    cliff: str
    down: str  # from the chosen point to its axis
    left: str
    tick_left: str
    corner: str
    bottom: str
    tick_bottom: str
    curve: str | None  # None: braille


BRAILLE = Signs("●", "◆", "┊", "│", "┤", "└", "─", "┬", None)
PLAIN = Signs("O", "+", ":", "|", "+", "+", "-", "+", "*")


def curve(
    counts: Sequence[int],
    costs: Sequence[float],
    chosen: int,
    cliffs: Sequence[int],
    width: int,
    signs: Signs = BRAILLE,
) -> Text | None:
    """Costs, on a logarithmic scale, against numbers of keys; None where there is nothing to see.

    ``counts`` increase, and ``chosen`` is one of them. The plot is as wide as there is room for, within reason.
    """
    greatest = max(costs)
    if len(counts) < 3 or greatest <= 0:
        return None
    top = math.log10(greatest)
    heights = [max(math.log10(cost), top - DECADES) if cost > 0 else -math.inf for cost in costs]
    bottom = min((height for height in heights if height > -math.inf), default=top)
    bottom = min(bottom, top - LEAST_DECADES)
    per_cell = (1, 1) if signs.curve else (2, 4)
    ticks = _ticks(bottom, top, per_cell[1])
    margin = max(map(len, ticks.values()), default=0)
    columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, width - margin - 3))
    points = [
        (
            _dot((count - counts[0]) / (counts[-1] - counts[0]), columns * per_cell[0]),
            _dot((top - max(height, bottom)) / (top - bottom), ROWS * per_cell[1]),
        )
        for count, height in zip(counts, heights, strict=True)
    ]
    cells = _cells(points, per_cell, columns, signs)
    place = {count: (y // per_cell[1], x // per_cell[0]) for count, (x, y) in zip(counts, points, strict=True)}
    for cliff in cliffs:
        if cliff in place:
            row, column = place[cliff]
            cells[row][column] = (signs.cliff, "cyan")
    row, column = place[chosen]
    cells[row][column] = (signs.chosen, "bold green")
    for below in range(row + 1, ROWS):
        if cells[below][column][0] == " ":
            cells[below][column] = (signs.down, "green")
    text = Text(no_wrap=True, overflow="crop")
    for row, line in enumerate(cells):
        label = ticks.get(row, "")
        text.append(f" {label:>{margin}} {signs.tick_left if label else signs.left}", "dim")
        for sign, style in line:
            text.append(sign, style or None)
        text.append("\n")
    return text.append(_axis(counts[0], counts[-1], columns, per_cell[0], margin, signs))


def _cells(
    points: Sequence[tuple[int, int]], per_cell: tuple[int, int], columns: int, signs: Signs
) -> list[list[tuple[str, str]]]:
    """The cells of the plot, each a sign and its style, with the curve through ``points`` in dots."""
    bits = [[0] * columns for _ in range(ROWS)]
    for x, y in _line(points):
        bits[y // per_cell[1]][x // per_cell[0]] |= DOTS[y % per_cell[1]][x % per_cell[0]]
    return [[((signs.curve or chr(BLANK + bit)) if bit else " ", "") for bit in row] for row in bits]


def _line(points: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Every dot of the line through points, without holes."""
    yield points[0]
    for (x0, y0), (x1, y1) in pairwise(points):
        steps = max(abs(x1 - x0), abs(y1 - y0))
        for step in range(1, steps + 1):
            yield round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)


def _dot(part: float, dots: int) -> int:
    """The dot at a part, from 0 to 1, of a side of so many."""
    return round(part * (dots - 1))


def _ticks(bottom: float, top: float, per_row: int) -> dict[int, str]:
    """Rows worth a label, no two beside each other, and their round values; tens before fives, twos and threes."""
    ticks: dict[int, str] = {}
    for digit in (1, 5, 2, 3):
        for decade in range(math.floor(bottom), math.ceil(top) + 1):
            value = float(f"{digit}e{decade}")
            if bottom <= math.log10(value) <= top:
                row = _dot((top - math.log10(value)) / (top - bottom), ROWS * per_row) // per_row
                if not {row - 1, row, row + 1} & ticks.keys():
                    ticks[row] = f"{value:g}"
    return ticks


def _axis(first: int, last: int, columns: int, per_column: int, margin: int, signs: Signs) -> Text:
    """The line below, with round numbers of keys."""
    sizes = (digit * 10**exponent for exponent in range(20) for digit in (1, 2, 5))
    step = next(size for size in sizes if (last - first) / size * (len(str(last)) + 3) <= columns)
    line, labels = [signs.bottom] * columns, [" "] * (columns + len(str(last)))
    for count in range(-(-first // step) * step, last + 1, step):
        at = _dot((count - first) / (last - first), columns * per_column) // per_column
        line[at] = signs.tick_bottom
        start = max(0, at - len(str(count)) // 2)
        labels[start : start + len(str(count))] = str(count)
    indent = " " * (margin + 3)
    return Text(f" {' ' * margin} {signs.corner}{''.join(line)}\n{indent}{''.join(labels).rstrip()}", "dim")
