"""How much memory a process and all that it started hold: pages that several share count once."""

from __future__ import annotations

import contextlib
from pathlib import Path

PROC = Path("/proc")


def megabytes(pid: int) -> float:
    """Of a process and its descendants, on Linux."""
    return sum(map(_proportional, _with_descendants(pid))) / 1024


def _with_descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        left.extend(parents.get(one, ()))
    return found


def _proportional(pid: int) -> int:
    """Kilobytes."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
