"""Memory of a process and its descendants; shared pages count once."""

from __future__ import annotations

import contextlib
from pathlib import Path

PROC = Path("/proc")


def memory_mb(pid: int) -> float:
    """Return the proportional set size of a process and its descendants, in MB (Linux)."""
    return sum(map(_proportional_kb, _process_tree(pid))) / 1024


def _process_tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    pids, pending = [], [pid]
    while pending:
        current = pending.pop()
        pids.append(current)
        pending.extend(children.get(current, ()))
    return pids


def _proportional_kb(pid: int) -> int:
    """Return the proportional set size of a process in kB; 0 if it has ended."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
