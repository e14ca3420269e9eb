"""Damage of a stored motion, and the spans that are intact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor

MAX_LISTED = 5  # damaged runs in a message


@dataclass(frozen=True)
class Damage:
    """A section of a file that cannot be read, or extra bytes after its end."""

    group: int | None  # from 0; None: keys or swings beside the frames, or bytes after the end
    start_s: float
    end_s: float
    problem: str  # "its bytes are damaged"

    @property
    def is_harmless(self) -> bool:
        """Return whether the complete motion can still be read, as with extra bytes after the end."""
        return self.group is None and self.start_s == self.end_s

    def __str__(self) -> str:
        if self.group is None:
            return self.problem
        return f"group {self.group} ({format_seconds(self.start_s)} to {format_seconds(self.end_s)} s): {self.problem}"


def format_seconds(time_s: float) -> str:
    """Format a time, rounded down, so that it still denotes the same frame."""
    return f"{floor(time_s * 1e4 + 1e-6) / 1e4:.10g}"


def summarize_damage(damage: Sequence[Damage]) -> str:
    """Describe damaged groups in one sentence; neighbours with the same problem are combined."""
    runs: list[list[Damage]] = []
    for item in damage:
        last = runs[-1][-1] if runs else None
        if last is not None and (last.problem, (last.group or 0) + 1) == (item.problem, item.group):
            runs[-1].append(item)
        else:
            runs.append([item])
    descriptions = [str(run[0]) if len(run) == 1 else _describe_run(run) for run in runs[:MAX_LISTED]]
    return "; ".join(descriptions) + (f"; and {len(runs) - MAX_LISTED} more" if len(runs) > MAX_LISTED else "")


def _describe_run(run: list[Damage]) -> str:
    first, last = run[0], run[-1]
    times = f"{format_seconds(first.start_s)} to {format_seconds(last.end_s)} s"
    return f"groups {first.group} to {last.group} ({times}): {first.problem}"


def find_intact_spans(
    bounds_s: Iterable[tuple[float, float]], damaged_groups: set[int]
) -> tuple[tuple[float, float], ...]:
    """Return the maximal spans (start, end) in seconds without damaged groups."""
    intact: list[tuple[float, float]] = []
    previous_is_intact = False
    for g, (start_s, end_s) in enumerate(bounds_s):
        if g not in damaged_groups:
            start_s = intact.pop()[0] if previous_is_intact else start_s
            intact.append((start_s, end_s))
        previous_is_intact = g not in damaged_groups
    return tuple(intact)
