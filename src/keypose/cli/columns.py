"""Tables that fit the terminal: one line for each row, and names as whole as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

LEAST_NAME = 24  # columns that a name is given before others have to go
SHORTEST_NAME = 8  # however narrow the terminal is
BETWEEN = 2  # blanks between two columns; and one at either side
ELLIPSIS = "…"


@dataclass(frozen=True)
class Column:
    """One column: its heading and its cells, which are printable as they are."""

    heading: str
    cells: Sequence[str]
    right: bool = False  # aligned there, as numbers are

    @property
    def width(self) -> int:
        """Of its widest cell."""
        return max(map(cell_len, (self.heading, *self.cells)))


def room_for_names(columns: Sequence[Column], width: int) -> int:
    """What a first column of names is left with, beside ``columns``, on a terminal of ``width``."""
    return width - 2 - sum(column.width + BETWEEN for column in columns)


def without_needless(names: Column, columns: Sequence[Column], width: int, needless: Sequence[str]) -> list[Column]:
    """``columns`` without as many of the ``needless`` headings, in that order, as names need to have room."""
    kept = list(columns)
    for heading in needless:
        if room_for_names(kept, width) >= min(names.width, LEAST_NAME):
            break
        kept = [column for column in kept if column.heading != heading]
    return kept


def table(names: Column, columns: Sequence[Column], width: int, styles: Sequence[str | None] = ()) -> Table:
    """``names``, shortened where they must be, and ``columns``; ``styles`` of the rows, where some differ."""
    room = max(SHORTEST_NAME, min(names.width, room_for_names(columns, width)))
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(names.heading, no_wrap=True, style="cyan", min_width=room)
    for column in columns:
        grid.add_column(column.heading, no_wrap=True, justify="right" if column.right else "left")
    for row, name in enumerate(names.cells):
        cells = (Text(shortened(name, room)), *(Text(column.cells[row]) for column in columns))
        grid.add_row(*cells, style=styles[row] if styles else None)
    return grid


def shortened(text: str, width: int) -> str:
    """``text`` with an ellipsis for its middle where it is wider; more is left of its end, where names differ."""
    if cell_len(text) <= width:
        return text
    before = (width - 1) // 3
    return _cut(text, before) + ELLIPSIS + _cut(text[::-1], width - 1 - before)[::-1]


def _cut(text: str, width: int) -> str:
    """As much of its start as ``width`` columns hold; some characters take two."""
    end = 0
    while end < len(text) and cell_len(text[: end + 1]) <= width:
        end += 1
    return text[:end]
