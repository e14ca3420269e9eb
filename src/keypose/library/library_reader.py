"""Read access to the clips of a library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from keypose.library import drafts, listing, trash
from keypose.library.filters import Filters
from keypose.library.library_base import LibraryBase
from keypose.library.records import Clip, Draft, Facets, Stats
from keypose.library.rows import clip_exists, find_clip
from keypose.model import Motion


class LibraryReader(LibraryBase):
    """Read access to clips. Clips in the trash are in no list."""

    def __len__(self) -> int:
        return listing.count_clips(self._store, Filters())

    def __iter__(self) -> Iterator[Clip]:
        return iter(self.clips())

    def __contains__(self, clip: object) -> bool:
        """Return whether there is a clip of this name or hash; for a ``Clip``, whether it still exists."""
        with self._store.database.begin_read() as connection:
            return clip_exists(connection, clip.hash if isinstance(clip, Clip) else clip)

    def clip(self, clip: str) -> Clip:
        """Return the clip of this name or hash; a clip in the trash is found by its full hash only."""
        with self._store.database.begin_read() as connection:
            return find_clip(connection, clip)[1]

    def get(self, clip: str) -> Motion:
        """Return the motion of a clip, read from its checked bytes."""
        found_clip = self.clip(clip)
        return replace(self._store.load_motion(found_clip), name=found_clip.name)

    def original(self, clip: str) -> bytes:
        """Return the stored bytes of a clip, checked."""
        return self._store.read_bytes(self.clip(clip))

    def clips(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
        sort: str = "name",
        limit: int | None = None,
        skip: int = 0,
    ) -> tuple[Clip, ...]:
        """Return clips sorted by ``"name"``, or ``"newest"``, ``"longest"`` or ``"shortest"`` first.

        Sorted by name, clips whose name equals ``words`` come first.

        ``words``: each is a prefix of a word in the names or tags; ``tags``: the clip has all of them; ``skeleton``:
        the hash of its rig; ``body_part``: a limb that swings widely, such as ``"left_leg"``.
        """
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part)
        return listing.list_clips(self._store, filters, sort, limit, skip, words)

    def clips_named(self, name: str) -> tuple[Clip, ...]:
        """Return the clips of exactly this name: there may be several."""
        return listing.find_by_name(self._store, name)

    def count(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
    ) -> int:
        """Return the number of clips that ``clips`` would return."""
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part)
        return listing.count_clips(self._store, filters)

    def facets(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
    ) -> Facets:
        """Return counts of tags, durations and moving body parts of the clips that ``clips`` would return."""
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part)
        return listing.facets(self._store, filters)

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Return all tags with their numbers of clips, the most used first."""
        with self._store.database.begin_read() as connection:
            return listing.count_tags(connection, Filters().list_query(self._store.database.dialect))

    def stats(self) -> Stats:
        """Return totals of the library."""
        return listing.stats(self._store)

    def list_trash(self) -> tuple[tuple[Clip, datetime], ...]:
        """Return the clips in the trash and when they were moved there (UTC), the latest first."""
        return trash.list_trash(self._store)

    def draft(self, clip: str) -> Draft | None:
        """Return the draft of a clip, or None."""
        return drafts.load_draft(self._store, clip)
