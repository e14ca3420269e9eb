"""What a worker has at hand: the library, and the motions that it read lately."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from keypose.errors import OptionError
from keypose.formats import Limits
from keypose.library.library import Library
from keypose.library.nouns import Clip
from keypose.model import Motion
from keypose.server.failing import NoSuchClip
from keypose.server.work.kept import Kept

MOTION_BYTES = 384 << 20  # of motions that stay in memory
MOST_MOTIONS = 64
MADE_BYTES = 1 << 30  # of what was made of them
MOST_MADE = 8


@dataclass(frozen=True)
class Answer:
    """What a task gives: bytes, and what they are."""

    body: bytes
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, said: BaseModel, headers: Mapping[str, str] | None = None) -> Answer:
        """A type of the API, as JSON."""
        return cls(said.model_dump_json().encode(), headers=dict(headers or {}))


class Desk:
    """The place of a worker. ``kept`` holds what was made of clips, such as ladders, by their hashes."""

    def __init__(
        self,
        library: Library,
        limits: Limits | None = None,
        *,
        motion_bytes: int = MOTION_BYTES,
        made_bytes: int = MADE_BYTES,
    ) -> None:
        self.library = library
        self.limits = limits or Limits()
        self.kept = Kept(made_bytes, MOST_MADE)
        self._motions = Kept(motion_bytes, MOST_MOTIONS)

    def clip(self, digest: str) -> Clip:
        """What is known about the clip of that hash."""
        return clip_of(self.library, digest)

    def motion(self, digest: str) -> Motion:
        """The motion of that clip under its name of today, from memory where it was read lately."""
        name = self.clip(digest).name
        motion: Motion = self._motions.of(digest, lambda: self.library.get(digest))
        if motion.name != name:
            self._motions[digest] = motion = replace(motion, name=name)
        return motion

    def trim(self) -> None:
        """Forgets what is too much by now."""
        self.kept.trim()

    def clear(self) -> None:
        """Gives memory back."""
        self.kept.clear()
        self._motions.clear()


Task = Callable[[Desk, dict[str, Any]], Answer]


def clip_of(library: Library, digest: str) -> Clip:
    """The clip of a hash, and of nothing but a hash: another clip may be called like one."""
    try:
        clip = library.clip(digest)
    except OptionError:
        raise NoSuchClip(digest) from None
    if clip.hash != digest:
        raise NoSuchClip(digest)
    return clip
