"""Helpers for tests of compressed files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def names(folder: Path) -> list[str]:
    """Return the names of all files in a folder, recursively."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def document(result: Any) -> Any:
    """Parse the JSON that a command printed."""
    return json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def damaged_copy(source: Path, target: Path, byte: int | None = None) -> Path:
    """Copy a file with one byte flipped, by default the middle one."""
    data = bytearray(source.read_bytes())
    data[len(data) // 2 if byte is None else byte] ^= 0xFF
    target.write_bytes(data)
    return target
