"""What is wrong with a stored motion, and what is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor

MOST_NAMED = 5  # of many that are damaged


@dataclass(frozen=True)
class Damage:
    """A part of a file that cannot be read, though others can; or bytes behind its end, which are no part of it."""

    group: int | None  # counted from 0; None: keys or swings beside the frames, or bytes behind the end
    start_s: float
    end_s: float
    what: str  # "its bytes are damaged"

    @property
    def loses_nothing(self) -> bool:
        """Whether all of the motion can be read despite it: so it is with bytes behind the end."""
        return self.group is None and self.start_s == self.end_s

    def __str__(self) -> str:
        if self.group is None:
            return self.what
        return f"group {self.group} ({seconds(self.start_s)} to {seconds(self.end_s)} s): {self.what}"


def seconds(time_s: float) -> str:
    """A time as a person types it: never later than it is, so that it means the same frame."""
    return f"{floor(time_s * 1e4 + 1e-6) / 1e4:.10g}"


def summary(damage: Sequence[Damage]) -> str:
    """Damages of groups in one sentence; neighbours with the same damage together."""
    together: list[list[Damage]] = []
    for each in damage:
        last = together[-1][-1] if together else None
        if last is not None and (last.what, (last.group or 0) + 1) == (each.what, each.group):
            together[-1].append(each)
        else:
            together.append([each])
    said = [str(run[0]) if len(run) == 1 else _said(run) for run in together[:MOST_NAMED]]
    return "; ".join(said) + (f"; and {len(together) - MOST_NAMED} more" if len(together) > MOST_NAMED else "")


def _said(run: list[Damage]) -> str:
    first, last = run[0], run[-1]
    return f"groups {first.group} to {last.group} ({seconds(first.start_s)} to {seconds(last.end_s)} s): {first.what}"


def spans(bounds_s: Iterable[tuple[float, float]], bad: set[int]) -> tuple[tuple[float, float], ...]:
    """The longest spans of groups of which none is bad."""
    found: list[tuple[float, float]] = []
    before_is_sound = False
    for g, (start_s, end_s) in enumerate(bounds_s):
        if g not in bad:
            start_s = found.pop()[0] if before_is_sound else start_s
            found.append((start_s, end_s))
        before_is_sound = g not in bad
    return tuple(found)
