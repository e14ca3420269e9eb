"""Notebook card of a comparison."""

from __future__ import annotations

from keypose.api.compare import Comparison
from keypose.pictures.comparison import tables


def comparison_card(comparison: Comparison) -> str:
    """Return HTML with medians of mean and largest error: no script, no external resources."""
    return (f'<div style="font:13px/1.5 system-ui,sans-serif">{tables.errors_table(comparison)}'
            f'<div style="opacity:0.65">mm on a figure of 1.7 m; {tables.BEST_MARK} least of those with exactly '
            f"as many keys</div></div>")  # fmt: skip
