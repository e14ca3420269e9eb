"""The data of a page of results."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.library.records import Clip
from keypose.library.search.hits import Hit
from keypose.pictures.picture import Picture

MAX_HITS = 1000  # per page
MAX_STRIPS = 200  # per page, so that browsers stay fast


@dataclass(frozen=True)
class PageQuery:
    """The query of a search."""

    title: str  # of the page: "walk.bvh, frames 30:90"
    library: str  # its location
    strip: Picture | None = None
    facts: tuple[tuple[str, str], ...] = ()  # names and values of filters and options
    command: str = ""  # that repeats the search


@dataclass(frozen=True)
class PageHit:
    """One hit with its pictures."""

    clip: Clip
    hit: Hit | None = None  # None: found by words
    key_frames: tuple[int, ...] = ()  # of the poses in ``strip``, in order
    strip: Picture | None = None
    span_strip: Picture | None = None  # poses of the matching span, if it is not the whole clip

    @property
    def keys_within(self) -> tuple[int, ...]:
        """Indices of the key poses that lie in the matching span."""
        if self.hit is None:
            return ()
        return tuple(k for k, frame in enumerate(self.key_frames) if self.hit.start <= frame < self.hit.end)
