"""``keypose formats``: list the formats that can be read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from keypose.cli.options import Json

if TYPE_CHECKING:
    from typing import Any

BLENDER = "bpy"  # Blender's Python module; another Python may provide it
INTERPRETER_VARIABLE = "KEYPOSE_BLENDER_PYTHON"  # names that other Python
INTERPRETER_TIMEOUT_S = 60.0  # for the check whether it has the module


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
        output.print_json(rows)
        return 0
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("format", "suffixes", "read", "write", "keys", "needs"):
        grid.add_column(heading, overflow="fold", style="cyan" if heading == "format" else None)
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
    output.print_line("keys: whether keys and the curves between them are kept, or every frame")
    for python in sorted({row["python"] for row in rows if row["python"]}):
        output.print_line(f"Blender is that of {INTERPRETER_VARIABLE}={python}")
    for line in _install_hints({row["extra"] for row in rows if not row["installed"]}):
        output.print_line(line)
    return 0


def _needs(row: dict[str, Any]) -> str:
    if row["extra"] is None:
        return ""
    return f"{row['extra']}, {'installed' if row['installed'] else 'not installed'}"


def _install_hints(extras: set[str]) -> list[str]:
    """Return install commands for missing extras, one per line, so that no terminal wraps a command."""
    blender_extras = _extras_requiring(BLENDER)
    lines = [
        f"to install {extra}: pip install 'keypose[{extra}]'" + (" (Python 3.11)" if extra in blender_extras else "")
        for extra in sorted(extras)
    ]
    if extras & blender_extras:
        lines.append(f"or, for Blender's files and FBX, {INTERPRETER_VARIABLE}=a Python that has {BLENDER}")
        if interpreter := os.environ.get(INTERPRETER_VARIABLE):
            lines.append(f"{INTERPRETER_VARIABLE}={interpreter}: does not start, or has no {BLENDER}")
    return lines


def _yes_or_dash(value: bool) -> str:
    return "yes" if value else "-"


def _rows() -> list[dict[str, Any]]:
    from keypose.batch.convert import keeps_keys
    from keypose.formats import FORMATS

    missing_by_extra = _missing_packages()
    blender_python = _blender_python() if any(packages == {BLENDER} for packages in missing_by_extra.values()) else None
    rows = []
    for format_ in FORMATS:
        extra = next(
            (n for n in missing_by_extra if any(n.startswith(suffix[1:]) for suffix in format_.suffixes)), None
        )
        missing_packages = missing_by_extra[extra] if extra is not None else set()
        python = blender_python if missing_packages == {BLENDER} else None
        rows.append(
            {
                "name": format_.name,
                "suffixes": [*format_.suffixes, *(f"{s}.gz" for s in format_.suffixes if format_.gzip)],
                "read": True,
                "write": format_.write is not None or format_.write_swings is not None,
                "read_keys": format_.read_keyed is not None,
                "write_keys": keeps_keys(format_),
                "extra": extra,
                "installed": not missing_packages or python is not None,
                "python": python,
            }
        )
    return rows


def _packages_by_extra() -> dict[str, set[str]]:
    """Return the packages that each extra of keypose requires."""
    import re
    from importlib.metadata import requires

    packages: dict[str, set[str]] = {}
    for line in requires("keypose") or ():
        match = re.match(r"([A-Za-z0-9._-]+).*extra\s*==\s*['\"]([^'\"]+)['\"]", line)
        if match is not None:
            packages.setdefault(match[2], set()).add(match[1])
    return packages


def _extras_requiring(package: str) -> set[str]:
    return {extra for extra, packages in _packages_by_extra().items() if package in packages}


def _missing_packages() -> dict[str, set[str]]:
    """Return the packages of each extra that are not installed."""
    return {
        extra: {name for name in packages if not _is_installed(name)}
        for extra, packages in _packages_by_extra().items()
    }


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(package) is not None
    except PackageNotFoundError:
        return False


def _blender_python() -> str | None:
    """Return the Python named by INTERPRETER_VARIABLE if it has Blender's module, else None."""
    import subprocess

    interpreter = os.environ.get(INTERPRETER_VARIABLE)
    if not interpreter:
        return None
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({BLENDER!r}) is None)"
    try:
        completed = subprocess.run(
            [interpreter, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=INTERPRETER_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return interpreter if completed.returncode == 0 else None
