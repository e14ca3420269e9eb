"""``keypose formats``: list the formats that can be read and written."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from keypose.cli import output
from keypose.cli.options import Json
from keypose.formats import FORMATS
from keypose.formats.base import BLENDER_VARIABLE

if TYPE_CHECKING:
    from typing import Any

    from keypose.formats.base import Extra

INTERPRETER_TIMEOUT_S = 60.0  # for the check whether another Python has a module


def formats(*, json: Json = False) -> int:
    """Show which formats can be read and written, which keep keys, what they need.

    For example:
      keypose formats
      keypose formats --json
    """
    rows = _rows()
    if json:
        output.print_json(rows)
        return 0
    longest_suffix = max(len(suffix) for row in rows for suffix in row["suffixes"])
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("format", "suffixes", "read", "write", "keys", "needs"):
        min_width = longest_suffix if heading == "suffixes" else None
        grid.add_column(heading, overflow="fold", min_width=min_width, style="cyan" if heading == "format" else None)
    for row in rows:
        keys = ", ".join(action for action in ("read", "write") if row[f"{action}_keys"]) or "-"
        grid.add_row(
            row["name"],
            " ".join(row["suffixes"]),
            _yes_or_dash(row["read"]),
            _yes_or_dash(row["write"]),
            keys,
            _needs(row),
        )
    output.print_renderable(grid)
    output.print_line("keys: whether the file stores keys and the curves between them, or every frame")
    for line in (*_other_pythons(rows), *_install_hints({row["extra"] for row in rows if not row["installed"]})):
        output.print_line(line)
    return 0


def _needs(row: dict[str, Any]) -> str:
    if row["extra"] is None:
        return ""
    return f"{row['extra']}, {'installed' if row['installed'] else 'not installed'}"


def _other_pythons(rows: list[dict[str, Any]]) -> list[str]:
    pythons = {row["python"] for row in rows if row["python"] is not None}
    return [f"Blender is that of {BLENDER_VARIABLE}={python}" for python in sorted(pythons)]


def _install_hints(names: set[str]) -> list[str]:
    """Return install commands for missing extras, one per line, so that no terminal wraps a command."""
    extras = {format_.extra.name: format_.extra for format_ in FORMATS if format_.extra and format_.extra.name in names}
    lines = [f"to install {name}: {extra.install_hint}" for name, extra in sorted(extras.items())]
    for variable, module in sorted({(each.variable, each.module) for each in extras.values() if each.variable}):
        lines.append(f"or, for Blender's files and FBX, {variable}=a Python that has {module}")
        if python := os.environ.get(variable):
            lines.append(f"{variable}={python}: does not start, or has no {module}")
    return lines


def _yes_or_dash(value: bool) -> str:
    return "yes" if value else "-"


def _rows() -> list[dict[str, Any]]:
    pythons = {format_.extra: _find_python(format_.extra) for format_ in FORMATS if format_.extra is not None}
    rows = []
    for format_ in FORMATS:
        python = None if format_.extra is None else pythons[format_.extra]
        rows.append(
            {
                "name": format_.name,
                "suffixes": list(format_.all_suffixes),
                "read": True,
                "write": format_.write is not None or format_.write_swings is not None,
                "read_keys": format_.read_keyed is not None,
                "write_keys": format_.keeps_keys,
                "extra": None if format_.extra is None else format_.extra.name,
                "installed": format_.extra is None or python is not None,
                "python": None if python == sys.executable else python,
            }
        )
    return rows


def _find_python(extra: Extra) -> str | None:
    """Return the Python that has the module of an extra, None if there is none; another Python is started to see."""
    python = extra.find_python()
    if python is None or python == sys.executable:
        return python
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({extra.module!r}) is None)"
    try:
        completed = subprocess.run(
            [python, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=INTERPRETER_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return python if completed.returncode == 0 else None
