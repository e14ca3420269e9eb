"""``keypose methods``: list the methods that choose keys, and their options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from keypose.api.select import methods as known
from keypose.cli import output
from keypose.cli.options import Json, option_flag

if TYPE_CHECKING:
    from typing import Any


def methods(*, json: Json = False) -> int:
    """Show the methods that choose keys, their papers and options.

    For example:
      keypose methods
      keypose methods --json
    """
    rows = _rows()
    if json:
        output.print_json(rows)
        return 0
    for n, row in enumerate(rows):
        if n:
            output.print_line("")
        output.print_renderable(Text.assemble((row["name"], "bold"), f": {row['summary']}"))
        features_line = f"features: {row['features']}; joints: {row['joints']}"
        output.print_renderable(Padding(Text(f"{row['paper']}\n{features_line}", style="dim"), (0, 0, 0, 2)))
        grid = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
        grid.add_column(style="cyan", no_wrap=True)
        grid.add_column(overflow="fold")
        for option in row["options"]:
            grid.add_row(f" {option['flag']}", Text(option["help"] + _format_default(option["default"])))
        if row["options"]:
            output.print_renderable(grid)
    return 0


def _format_default(value: Any) -> str:
    if value in (None, []) or value is False:
        return ""
    return f" [{value:.4g}]" if isinstance(value, float) else f" [{value}]"


def _rows() -> list[dict[str, Any]]:
    return [
        {
            "name": method.name,
            "summary": method.summary,
            "paper": method.paper,
            "features": method.feature_kind,
            "joints": method.joints,
            "options": [
                {
                    "name": name,
                    "flag": option_flag(name),
                    "default": list(default) if isinstance(default, tuple) else default,
                    "help": method.options_help[name],
                }
                for name, default in method.options.items()
            ],
        }
        for method in known()
    ]
