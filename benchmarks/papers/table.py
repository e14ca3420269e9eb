"""Printed tables: the label, the paper's figure, ours, and a comment where they differ."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

COMMENT_WIDTH = 64


class Row(NamedTuple):
    """One printed comparison. Statements of a paper without a number are quoted in brackets."""

    label: str
    paper: str
    ours: str
    comment: str = ""


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print the rows below their title, with comments wrapped in the last column."""
    lines = [Row("what", "paper", "ours", "comment"), *rows]
    label_width, paper_width, own_width = (max(len(row[column]) for row in lines) for column in range(3))
    print(f"\n   {title}")
    for row in lines:
        comment, *more = textwrap.wrap(row.comment, COMMENT_WIDTH) or [""]
        print(f"   {row.label:<{label_width}}  {row.paper:>{paper_width}}  {row.ours:>{own_width}}  {comment}".rstrip())
        for line in more:
            print(f"   {'':<{label_width + paper_width + own_width + 6}}{line}")
