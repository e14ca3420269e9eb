"""Conditions on clips as SQL, the same for lists and searches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from keypose.errors import OptionError
from keypose.library.body_part_facets import FACET_BODY_PARTS
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.tables import body_part_facets, clips, is_not_in_trash, tags
from keypose.library.text_normalization import clean_tags, parse_query_words
from keypose.validation import check_choice, check_number, check_text


@dataclass(frozen=True)
class Filters:
    """Conditions that a clip must meet; by default none."""

    words: tuple[str, ...] = ()  # each is a prefix of a word of its names or tags
    tags: tuple[str, ...] = ()  # the clip has all of them
    min_duration_s: float | None = None
    max_duration_s: float | None = None
    skeleton: str | None = None  # hash of the rig
    body_part: str | None = None  # one that swings widely

    @classmethod
    def parse(
        cls,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
    ) -> Filters:
        """Check the options of a caller and return them as Filters."""
        min_s, max_s = (
            None if seconds is None else check_number(name, seconds, min_value=0.0)
            for name, seconds in (("min_duration_s", min_duration_s), ("max_duration_s", max_duration_s))
        )
        if min_s is not None and max_s is not None and min_s > max_s:
            raise OptionError(f"min_duration_s={min_s:g}, expected at most max_duration_s={max_s:g}")
        return cls(
            words=() if words is None else parse_query_words(words),
            tags=clean_tags(tags),
            min_duration_s=min_s,
            max_duration_s=max_s,
            skeleton=None if skeleton is None else check_text("skeleton", skeleton),
            body_part=None if body_part is None else check_choice("body_part", body_part, FACET_BODY_PARTS),
        )

    def search_query(self, dialect: Dialect) -> sa.Select[Any] | None:
        """Return a query for the ids that a search may find; None: all. Clips in the trash are excluded elsewhere."""
        conditions = list(self._conditions(dialect))
        return sa.select(clips.c.id).where(*conditions) if conditions else None

    def list_query(self, dialect: Dialect) -> sa.Select[Any]:
        """Return a query for the ids of a list, without clips in the trash."""
        return sa.select(clips.c.id).where(is_not_in_trash(clips.c.id), *self._conditions(dialect))

    def _conditions(self, dialect: Dialect) -> Iterable[sa.ColumnElement[bool]]:
        if self.words:
            yield clips.c.id.in_(dialect.clips_with_words(self.words))
        if self.tags:
            tagged_ids = sa.select(tags.c.clip_id).where(tags.c.tag.in_(self.tags)).group_by(tags.c.clip_id)
            yield clips.c.id.in_(tagged_ids.having(sa.func.count() == len(self.tags)))
        if self.min_duration_s is not None:
            yield clips.c.duration_s >= self.min_duration_s
        if self.max_duration_s is not None:
            yield clips.c.duration_s <= self.max_duration_s
        if self.skeleton is not None:
            yield clips.c.skeleton == self.skeleton
        if self.body_part is not None:
            yield clips.c.id.in_(
                sa.select(body_part_facets.c.clip_id).where(body_part_facets.c.body_part == self.body_part)
            )
