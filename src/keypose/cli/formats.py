"""``keypose formats``: what can be read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keypose.cli.options import Json

if TYPE_CHECKING:
    from typing import Any


def formats(*, json: Json = False) -> int:
    """Show which formats can be read and written, which keep keys, what they need.

    For example:
      keypose formats
      keypose formats --json
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from keypose.cli import output

    rows = _rows()
    if json:
        output.show_json(rows)
        return 0
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("format", "suffixes", "read", "write", "keys", "needs"):
        grid.add_column(heading, overflow="fold", style="cyan" if heading == "format" else None)
    for row in rows:
        absent = f"not installed: pip install 'keypose[{row['extra']}]'"
        needs = "" if row["extra"] is None else f"{row['extra']}, " + ("installed" if row["installed"] else absent)
        keys = ", ".join(verb for verb in ("read", "write") if row[f"{verb}_keys"]) or "-"
        grid.add_row(row["name"], " ".join(row["suffixes"]), _yes(row["read"]), _yes(row["write"]), keys, needs)
    output.show(grid)
    output.line("keys: whether keys and the curves between them are kept, or every frame")
    return 0


def _yes(value: bool) -> str:
    return "yes" if value else "-"


def _rows() -> list[dict[str, Any]]:
    from keypose.batch.keeping import keeps_keys
    from keypose.formats import FORMATS

    extras = _extras()
    rows = []
    for format_ in FORMATS:
        extra = next((n for n in extras if any(n.startswith(suffix[1:]) for suffix in format_.suffixes)), None)
        rows.append(
            {
                "name": format_.name,
                "suffixes": [*format_.suffixes, *(f"{s}.gz" for s in format_.suffixes if format_.gzip)],
                "read": True,
                "write": format_.write is not None,
                "read_keys": format_.read_keyed is not None,
                "write_keys": keeps_keys(format_),
                "extra": extra,
                "installed": extra is None or extras[extra],
            }
        )
    return rows


def _extras() -> dict[str, bool]:
    """The extras of this package by name, and whether all that each asks for is installed."""
    import re
    from importlib.metadata import PackageNotFoundError, distribution, requires

    installed: dict[str, bool] = {}
    for line in requires("keypose") or ():
        found = re.match(r"([A-Za-z0-9._-]+).*extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if found is None:
            continue
        package, extra = found.groups()
        try:
            present = distribution(package) is not None
        except PackageNotFoundError:
            present = False
        installed[extra] = installed.get(extra, True) and present
    return installed
