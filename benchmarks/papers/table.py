"""The printed tables: what is compared, the paper's figure, ours, and a word where they differ."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

COMMENT_WIDTH = 64


class Row(NamedTuple):
    """One comparison, as it is printed. A paper that gives no number is quoted in brackets."""

    what: str
    paper: str
    ours: str
    comment: str = ""


def show(title: str, rows: Sequence[Row]) -> None:
    """Prints the rows under their title, comments wrapped in the last column."""
    lines = [Row("what", "paper", "ours", "comment"), *rows]
    what, paper, ours = (max(len(row[column]) for row in lines) for column in range(3))
    print(f"\n   {title}")
    for row in lines:
        comment, *more = textwrap.wrap(row.comment, COMMENT_WIDTH) or [""]
        print(f"   {row.what:<{what}}  {row.paper:>{paper}}  {row.ours:>{ours}}  {comment}".rstrip())
        for line in more:
            print(f"   {'':<{what + paper + ours + 6}}{line}")
