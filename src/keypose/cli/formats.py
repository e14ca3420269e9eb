"""``keypose formats``: what can be read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from keypose.cli.options import Json

if TYPE_CHECKING:
    from typing import Any

BLENDER = "bpy"  # Blender's module; another Python may have it
INTERPRETER = "KEYPOSE_BLENDER_PYTHON"  # names that one
ANSWER_S = 60.0  # that it has for an answer


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
        keys = ", ".join(verb for verb in ("read", "write") if row[f"{verb}_keys"]) or "-"
        grid.add_row(row["name"], " ".join(row["suffixes"]), _yes(row["read"]), _yes(row["write"]), keys, _needs(row))
    output.show(grid)
    output.line("keys: whether keys and the curves between them are kept, or every frame")
    for python in sorted({row["python"] for row in rows if row["python"]}):
        output.line(f"Blender is that of {INTERPRETER}={python}")
    for line in _to_install({row["extra"] for row in rows if not row["installed"]}):
        output.line(line)
    return 0


def _needs(row: dict[str, Any]) -> str:
    if row["extra"] is None:
        return ""
    return f"{row['extra']}, {'installed' if row['installed'] else 'not installed'}"


def _to_install(extras: set[str]) -> list[str]:
    """What to type for the extras that are not there; whole lines, so that no terminal breaks a command."""
    of_blender = _needing(BLENDER)
    lines = [
        f"to install {extra}: pip install 'keypose[{extra}]'" + (" (Python 3.11)" if extra in of_blender else "")
        for extra in sorted(extras)
    ]
    if extras & of_blender:
        lines.append(f"or, for Blender's files and FBX, {INTERPRETER}=a Python that has {BLENDER}")
        if given := os.environ.get(INTERPRETER):
            lines.append(f"{INTERPRETER}={given}: does not start, or has no {BLENDER}")
    return lines


def _yes(value: bool) -> str:
    return "yes" if value else "-"


def _rows() -> list[dict[str, Any]]:
    from keypose.batch.keeping import keeps_keys
    from keypose.formats import FORMATS

    missing = _missing()
    elsewhere = _other_python() if any(packages == {BLENDER} for packages in missing.values()) else None
    rows = []
    for format_ in FORMATS:
        extra = next((n for n in missing if any(n.startswith(suffix[1:]) for suffix in format_.suffixes)), None)
        absent = missing[extra] if extra is not None else set()
        python = elsewhere if absent == {BLENDER} else None
        rows.append(
            {
                "name": format_.name,
                "suffixes": [*format_.suffixes, *(f"{s}.gz" for s in format_.suffixes if format_.gzip)],
                "read": True,
                "write": format_.write is not None or format_.write_swings is not None,
                "read_keys": format_.read_keyed is not None,
                "write_keys": keeps_keys(format_),
                "extra": extra,
                "installed": not absent or python is not None,
                "python": python,
            }
        )
    return rows


def _packages() -> dict[str, set[str]]:
    """The extras of this package by name, and the packages that each asks for."""
    import re
    from importlib.metadata import requires

    packages: dict[str, set[str]] = {}
    for line in requires("keypose") or ():
        found = re.match(r"([A-Za-z0-9._-]+).*extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if found is not None:
            packages.setdefault(found[2], set()).add(found[1])
    return packages


def _needing(package: str) -> set[str]:
    return {extra for extra, packages in _packages().items() if package in packages}


def _missing() -> dict[str, set[str]]:
    """The extras, and those of the packages that each asks for which are not installed."""
    return {extra: {name for name in packages if not _is_installed(name)} for extra, packages in _packages().items()}


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(package) is not None
    except PackageNotFoundError:
        return False


def _other_python() -> str | None:
    """The Python that the environment names for Blender's module, if it has it: it is asked."""
    import subprocess

    given = os.environ.get(INTERPRETER)
    if not given:
        return None
    question = f"import importlib.util as u, sys; sys.exit(u.find_spec({BLENDER!r}) is None)"
    try:
        asked = subprocess.run([given, "-c", question], stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_S)
    except (OSError, subprocess.SubprocessError):
        return None
    return given if asked.returncode == 0 else None
