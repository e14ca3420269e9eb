"""Search results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from keypose.library.rankers.swing_overlap import SwingMatch
from keypose.library.records import Clip

MAX_NAMED_PARTS = 2


class SpanPair(NamedTuple):
    """A span of the query and the matching span of the clip, in seconds."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    distance: float  # windows: standardised, below 0; poses: centimetres


@dataclass(frozen=True, eq=False)
class MatchDetails:
    """What agrees between the query and a hit.

    ``swings`` are loaded when first needed; a clip that was deleted by then has none.
    """

    spans: tuple[SpanPair, ...] = ()  # the nearest first
    joint_distance_cm: float | None = None  # search by pose: mean, on a figure of 1.7 m
    load_swings: Callable[[], tuple[SwingMatch, ...]] | None = field(default=None, repr=False)

    @property
    def swings(self) -> tuple[SwingMatch, ...]:
        """The agreeing swings, the longest common time first."""
        swings: tuple[SwingMatch, ...] | None = self.__dict__.get("_swings")
        if swings is None:  # not cached_property: in Python 3.11 it blocks other threads
            swings = self.__dict__["_swings"] = () if self.load_swings is None else self.load_swings()
        return swings

    def __getstate__(self) -> dict[str, object]:
        """Pickle the swings themselves instead of the library."""
        return {**vars(self), "load_swings": None, "_swings": self.swings}


@dataclass(frozen=True)
class Hit:
    """A clip that was found, and the matching span.

    Frames are a half-open range: ``library.get(hit.clip.hash)[hit.start:hit.end]`` is the span.
    """

    clip: Clip
    score: float  # 0 to 1, higher is nearer; 1: the same
    start: int  # first frame
    end: int  # the frame after the last
    start_s: float
    end_s: float
    query_start_s: float  # matching span of the query
    query_end_s: float
    mirrored: bool = False  # matches with left and right exchanged
    duplicates: tuple[str, ...] = ()  # names of copies of the same take
    duplicate_hashes: tuple[str, ...] = ()  # of the same clips
    details: MatchDetails = field(default_factory=MatchDetails, compare=False)

    @property
    def name(self) -> str:
        """Name of the clip."""
        return self.clip.name

    @property
    def explanation(self) -> str:
        """The span and what agrees, in one line."""
        return "; ".join(filter(None, (self._span_text(), self._swing_text(), self._duplicate_text())))

    def _span_text(self) -> str:
        side = ", mirrored" if self.mirrored else ""
        if self.details.joint_distance_cm is not None:
            return f"second {self.start_s:.1f}{side}; joints {self.details.joint_distance_cm:.1f} cm apart on average"
        return f"seconds {self.start_s:.1f} to {self.end_s:.1f}{side}"

    def _swing_text(self) -> str:
        parts = [part.replace("_", " ") for part in dict.fromkeys(each.body_part for each in self.details.swings)]
        if not parts:
            return ""
        named_parts = parts[:MAX_NAMED_PARTS]
        return f"{' and '.join(named_parts)} {'swings' if len(named_parts) == 1 else 'swing'} alike"

    def _duplicate_text(self) -> str:
        return f"same take as {', '.join(self.duplicates)}" if self.duplicates else ""
