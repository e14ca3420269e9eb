"""What tests of compressed files share: names in a folder, JSON that was printed, and damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def names(folder: Path) -> list[str]:
    """All files in and below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def document(ran: Any) -> Any:
    """The JSON that a command printed."""
    return json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def damaged_copy(source: Path, target: Path, byte: int | None = None) -> Path:
    """The file with one byte flipped, by itself the one in its middle."""
    data = bytearray(source.read_bytes())
    data[len(data) // 2 if byte is None else byte] ^= 0xFF
    target.write_bytes(data)
    return target
