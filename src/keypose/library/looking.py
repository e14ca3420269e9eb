"""Looking at clips: what there is, chosen by words, tags and more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from keypose.library import drafts, listing, throwing
from keypose.library.filters import Filters
from keypose.library.nouns import Clip, Draft, Facets, Stats
from keypose.library.opened import Opened
from keypose.library.rows import find, is_called
from keypose.model import Motion


class Looking(Opened):
    """The clips of a library, looked at and not changed. What was thrown away is in no list."""

    def __len__(self) -> int:
        return listing.count_clips(self._store, Filters())

    def __iter__(self) -> Iterator[Clip]:
        return iter(self.clips())

    def __contains__(self, clip: object) -> bool:
        """Whether one or several clips are called so, by name or hash; of a ``Clip``, whether it is still there."""
        with self._store.database.reading() as connection:
            return is_called(connection, clip.hash if isinstance(clip, Clip) else clip)

    def clip(self, clip: str) -> Clip:
        """What is known about the clip of that name or hash; one that was thrown away has its whole hash alone."""
        with self._store.database.reading() as connection:
            return find(connection, clip)[1]

    def get(self, clip: str) -> Motion:
        """The motion of a clip, read from its bytes, which are checked."""
        found = self.clip(clip)
        return replace(self._store.motion(found), name=found.name)

    def original(self, clip: str) -> bytes:
        """The bytes of a clip as they came, checked."""
        return self._store.bytes_of(self.clip(clip))

    def clips(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        part: str | None = None,
        sort: str = "name",
        limit: int | None = None,
        skip: int = 0,
    ) -> tuple[Clip, ...]:
        """The clips by name, or the ``"newest"``, ``"longest"`` or ``"shortest"`` first.

        By name, those that are called exactly as the words come before the others.

        ``words``: each must be in the names or tags, or begin a word there; ``tags``: it must have all of them;
        ``skeleton``: the hash of one, for clips of that rig alone; ``part``: a limb that swings widely, such as
        ``"left_leg"``.
        """
        chosen = Filters.of(words, tags, least_duration_s, most_duration_s, skeleton, part)
        return listing.list_clips(self._store, chosen, sort, limit, skip, words)

    def named(self, name: str) -> tuple[Clip, ...]:
        """The clips of exactly that name: there may be several."""
        return listing.named_clips(self._store, name)

    def count(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        part: str | None = None,
    ) -> int:
        """How many clips ``clips`` would give."""
        chosen = Filters.of(words, tags, least_duration_s, most_duration_s, skeleton, part)
        return listing.count_clips(self._store, chosen)

    def facets(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        part: str | None = None,
    ) -> Facets:
        """The tags, durations and parts of the body that the clips have which ``clips`` would give."""
        chosen = Filters.of(words, tags, least_duration_s, most_duration_s, skeleton, part)
        return listing.facets(self._store, chosen)

    def tags(self) -> tuple[tuple[str, int], ...]:
        """All tags, each with its number of clips, the most used first."""
        with self._store.database.reading() as connection:
            return listing.used_tags(connection, Filters().listed(self._store.database.dialect))

    def stats(self) -> Stats:
        """How much there is."""
        return listing.stats(self._store)

    def thrown_away(self) -> tuple[tuple[Clip, datetime], ...]:
        """The clips that were thrown away, and when (UTC); the last one first."""
        return throwing.list_thrown_away(self._store)

    def draft(self, clip: str) -> Draft | None:
        """The edit that somebody is at; None where nobody is."""
        return drafts.draft(self._store, clip)
