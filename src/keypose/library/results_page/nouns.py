"""What goes into a page of results."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.library.nouns import Clip
from keypose.library.searching.hits import Hit
from keypose.pictures.picture import Picture

MOST_FOUND = 1000  # on one page
MOST_STRIPS = 200  # pictures: what a browser shows without effort


@dataclass(frozen=True)
class Asked:
    """What was searched for."""

    title: str  # of the page: "walk.bvh, frames 30:90"
    where: str  # which library
    strip: Picture | None = None
    facts: tuple[tuple[str, str], ...] = ()  # filters and the like: a name, and what it was
    command: str = ""  # to be typed again


@dataclass(frozen=True)
class Found:
    """One clip that was found, and its picture."""

    clip: Clip
    hit: Hit | None = None  # where and why; None: it was found by words
    key_frames: tuple[int, ...] = ()  # of the poses in ``strip``, in order
    strip: Picture | None = None
    part: Picture | None = None  # poses of the span that was found, where it is but a part of the clip

    @property
    def keys_within(self) -> tuple[int, ...]:
        """Which of the poses, by their places from 0, lie in the span that was found."""
        if self.hit is None:
            return ()
        return tuple(k for k, frame in enumerate(self.key_frames) if self.hit.start <= frame < self.hit.end)
