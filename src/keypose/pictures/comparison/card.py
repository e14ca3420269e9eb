"""What a notebook shows of a comparison."""

from __future__ import annotations

from keypose.pictures.comparison import tables
from keypose.verbs.comparing import Comparison


def comparison_card(comparison: Comparison) -> str:
    """HTML of the medians of mean and largest error: no script, nothing from outside."""
    return (f'<div style="font:13px/1.5 system-ui,sans-serif">{tables.errors_table(comparison)}'
            f'<div style="opacity:0.65">mm on a figure of 1.7 m; {tables.MARK} least of those with exactly as many '
            f"keys</div></div>")  # fmt: skip
