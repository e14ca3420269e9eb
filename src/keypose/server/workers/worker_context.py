"""State of a worker: the library, and caches of motions and results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from keypose.cache import LruCache
from keypose.clip_edit import ClipEditor
from keypose.errors import OptionError
from keypose.formats import Limits
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.model import Motion
from keypose.server.error_responses import ClipNotFound
from keypose.server.workers.process import StoredBody

MOTION_BYTES = 384 << 20  # of cached motions
MAX_MOTIONS = 64
CACHE_BYTES = 1 << 30  # of cached results
MAX_CACHED = 8


@dataclass(frozen=True)
class TaskResult:
    """Body, media type and headers of a response."""

    body: bytes | StoredBody
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_model(cls, model: BaseModel, headers: Mapping[str, str] | None = None) -> TaskResult:
        """Return an API type as a JSON response."""
        return cls(model.model_dump_json().encode(), headers=dict(headers or {}))

    @property
    def size(self) -> int:
        """Number of bytes of the body."""
        return len(self.body) if isinstance(self.body, bytes) else self.body.size

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body, once; a large one comes from disk."""
        if isinstance(self.body, bytes):
            yield self.body
            return
        async for chunk in self.body.chunks():
            yield chunk

    def json(self) -> Any:
        """Return the value of a small JSON body."""
        assert isinstance(self.body, bytes)
        return json.loads(self.body)


class WorkerContext:
    """Library and caches of a worker. ``cache`` holds results by clip hash, such as editors."""

    def __init__(
        self,
        library: Library,
        limits: Limits | None = None,
        *,
        motion_bytes: int = MOTION_BYTES,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self.library = library
        self.limits = limits or Limits()
        self.cache = LruCache(MAX_CACHED, cache_bytes)
        self._motions = LruCache(MAX_MOTIONS, motion_bytes)

    def clip(self, digest: str) -> Clip:
        """Return the record of the clip of that hash."""
        return find_clip(self.library, digest)

    def motion(self, digest: str) -> Motion:
        """Return the motion of that clip under its current name, cached."""
        name = self.clip(digest).name
        motion: Motion = self._motions.get_or_make(digest, lambda: self.library.get(digest))
        if motion.name != name:
            self._motions[digest] = motion = replace(motion, name=name)
        return motion

    def trim(self) -> None:
        """Evict results beyond the limits."""
        self.cache.trim()

    def clear(self) -> None:
        """Empty the caches."""
        self.cache.clear()
        self._motions.clear()


Task = Callable[[WorkerContext, dict[str, Any]], TaskResult]


def find_clip(library: Library, digest: str) -> Clip:
    """Return the clip of exactly this hash; ClipNotFound otherwise, even if a clip has it as its name."""
    try:
        clip = library.clip(digest)
    except OptionError:
        raise ClipNotFound(digest) from None
    if clip.hash != digest:
        raise ClipNotFound(digest)
    return clip


def get_editor(context: WorkerContext, digest: str) -> ClipEditor:
    """Return the editor of a clip from the cache, or a new one if the motion has changed."""
    motion = context.motion(digest)
    editor: ClipEditor = context.cache.get_or_make(digest, lambda: ClipEditor(motion))
    if editor.motion is not motion:
        editor = context.cache[digest] = ClipEditor(motion)
    return editor
