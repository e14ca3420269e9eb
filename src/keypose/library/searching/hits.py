"""What a search finds, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from keypose.library.nouns import Clip
from keypose.library.rankers.swings import Agreement

MOST_PARTS_SAID = 2


class SpanPair(NamedTuple):
    """A stretch of the query and the stretch of the found clip that is like it, in seconds."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    unlikeness: float  # less is nearer: of windows in spreads of what is usual (below 0), of poses in centimetres


@dataclass(frozen=True, eq=False)
class Why:
    """What agrees between the query and a hit.

    ``swings`` are looked up when they are first asked for; a clip that is gone by then has none.
    """

    spans: tuple[SpanPair, ...] = ()  # the nearest first
    centimetres: float | None = None  # search by pose: the mean distance of joints on a figure of 1.7 m
    look: Callable[[], tuple[Agreement, ...]] | None = field(default=None, repr=False)

    @property
    def swings(self) -> tuple[Agreement, ...]:
        """The swings that do the same at the same time, the longest common time first."""
        seen: tuple[Agreement, ...] | None = self.__dict__.get("_seen")
        if seen is None:  # no cached_property: that of Python 3.11 lets no other thread look meanwhile
            seen = self.__dict__["_seen"] = () if self.look is None else self.look()
        return seen

    def __getstate__(self) -> dict[str, object]:
        """A hit that travels takes its swings along, not the library."""
        return {"spans": self.spans, "centimetres": self.centimetres, "look": None, "_seen": self.swings}


@dataclass(frozen=True)
class Hit:
    """A clip that was found, and where in it.

    Frames count as in slices: ``library.get(hit.clip.hash)[hit.start:hit.end]`` is what was found.
    """

    clip: Clip
    score: float  # 0 to 1, higher is nearer; 1: the same
    start: int  # first frame
    end: int  # the frame after the last
    start_s: float
    end_s: float
    query_start_s: float  # what of the query it is like
    query_end_s: float
    mirrored: bool = False  # it is like the query with left and right exchanged
    also: tuple[str, ...] = ()  # names of clips that are the same take as this one
    also_hashes: tuple[str, ...] = ()  # of the same clips
    why: Why = field(default_factory=Why, compare=False)

    @property
    def name(self) -> str:
        """Of the clip."""
        return self.clip.name

    @property
    def says(self) -> str:
        """Where it is and what agrees, in one line."""
        return "; ".join(filter(None, (self._where(), self._swinging(), self._copies())))

    def _where(self) -> str:
        side = ", mirrored" if self.mirrored else ""
        if self.why.centimetres is not None:
            return f"second {self.start_s:.1f}{side}; joints {self.why.centimetres:.1f} cm apart on average"
        return f"seconds {self.start_s:.1f} to {self.end_s:.1f}{side}"

    def _swinging(self) -> str:
        named = [part.replace("_", " ") for part in dict.fromkeys(each.part for each in self.why.swings)]
        if not named:
            return ""
        said = named[:MOST_PARTS_SAID]
        return f"{' and '.join(said)} {'swings' if len(said) == 1 else 'swing'} alike"

    def _copies(self) -> str:
        return f"same take as {', '.join(self.also)}" if self.also else ""
