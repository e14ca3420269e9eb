"""``keypose methods``: the ways of choosing keys, and their options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keypose.cli.options import Json

if TYPE_CHECKING:
    from typing import Any


def methods(*, json: Json = False) -> int:
    """Show the methods that choose keys, their papers and options.

    For example:
      keypose methods
      keypose methods --json
    """
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from keypose.cli import output

    rows = _rows()
    if json:
        output.show_json(rows)
        return 0
    for n, row in enumerate(rows):
        if n:
            output.line("")
        output.show(Text.assemble((row["name"], "bold"), f": {row['summary']}"))
        seen = f"features: {row['features']}; joints: {row['joints']}"
        output.show(Padding(Text(f"{row['paper']}\n{seen}", style="dim"), (0, 0, 0, 2)))
        grid = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
        grid.add_column(style="cyan", no_wrap=True)
        grid.add_column(overflow="fold")
        for option in row["options"]:
            grid.add_row(f" {option['flag']}", Text(option["help"] + _default(option["default"])))
        if row["options"]:
            output.show(grid)
    return 0


def _default(value: Any) -> str:
    if value in (None, []) or value is False:
        return ""
    return f" [{value:.4g}]" if isinstance(value, float) else f" [{value}]"


def _rows() -> list[dict[str, Any]]:
    from keypose.cli.keys_options import flag_of
    from keypose.verbs import methods as known

    return [
        {
            "name": method.name,
            "summary": method.summary,
            "paper": method.paper,
            "features": method.recipe,
            "joints": method.joints,
            "options": [
                {
                    "name": name,
                    "flag": flag_of(name),
                    "default": list(default) if isinstance(default, tuple) else default,
                    "help": method.options_help[name],
                }
                for name, default in method.options.items()
            ],
        }
        for method in known()
    ]
