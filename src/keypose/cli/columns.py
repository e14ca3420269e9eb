"""Tables that fit the terminal: one line per row, names shortened as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

PREFERRED_NAME_WIDTH = 24  # optional columns are dropped until names have this width
MIN_NAME_WIDTH = 8  # on any terminal
COLUMN_GAP = 2  # blanks between two columns, and one at either side
ELLIPSIS = "…"


@dataclass(frozen=True)
class Column:
    """One column: a heading and cells without unprintable characters."""

    heading: str
    cells: Sequence[str]
    right_aligned: bool = False  # for numbers

    @property
    def width(self) -> int:
        """Return the width of the widest cell."""
        return max(map(cell_len, (self.heading, *self.cells)))


def name_width(columns: Sequence[Column], width: int) -> int:
    """Return the width left for a column of names beside ``columns`` on a terminal of ``width``."""
    return width - 2 - sum(column.width + COLUMN_GAP for column in columns)


def drop_optional_columns(
    names: Column, columns: Sequence[Column], width: int, optional_headings: Sequence[str]
) -> list[Column]:
    """Drop columns with ``optional_headings``, in that order, until names have room; return the rest."""
    remaining = list(columns)
    for heading in optional_headings:
        if name_width(remaining, width) >= min(names.width, PREFERRED_NAME_WIDTH):
            break
        remaining = [column for column in remaining if column.heading != heading]
    return remaining


def build_table(names: Column, columns: Sequence[Column], width: int, styles: Sequence[str | None] = ()) -> Table:
    """Return a table of ``names`` (shortened to fit) and ``columns``; ``styles`` has one style per row."""
    width_of_names = max(MIN_NAME_WIDTH, min(names.width, name_width(columns, width)))
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(names.heading, no_wrap=True, style="cyan", min_width=width_of_names)
    for column in columns:
        grid.add_column(column.heading, no_wrap=True, justify="right" if column.right_aligned else "left")
    for row, name in enumerate(names.cells):
        cells = (Text(shorten(name, width_of_names)), *(Text(column.cells[row]) for column in columns))
        grid.add_row(*cells, style=styles[row] if styles else None)
    return grid


def shorten(text: str, width: int) -> str:
    """Replace the middle of ``text`` by an ellipsis if it is too wide; keep more of the end, where names differ."""
    if cell_len(text) <= width:
        return text
    before = (width - 1) // 3
    return _truncate(text, before) + ELLIPSIS + _truncate(text[::-1], width - 1 - before)[::-1]


def _truncate(text: str, width: int) -> str:
    """Return the start of ``text`` that fits into ``width`` columns; some characters take two."""
    end = 0
    while end < len(text) and cell_len(text[: end + 1]) <= width:
        end += 1
    return text[:end]
