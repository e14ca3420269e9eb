"""Lists of clips, their facets and totals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from keypose.errors import FormatError, Hint, OptionError
from keypose.library.analysis import FACET_ACTIONS, FACET_BODY_PARTS
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.records import Clip, Facets, Stats
from keypose.library.rows import BY_NAME, Order, clean_name, clean_tags, load_clips, parse_query_words
from keypose.library.store import Store
from keypose.library.tables import actions, blobs, body_part_facets, clips, is_not_in_trash, tags
from keypose.options import check_option_int, check_option_number
from keypose.options.library import ClipFilterOptions, ListOptions
from keypose.validation import check_choice, check_text

SORTS: dict[str, Order] = {
    "name": BY_NAME,
    "newest": (clips.c.added_at.desc(), clips.c.id.desc()),
    "longest": (clips.c.duration_s.desc(), *BY_NAME),
    "shortest": (clips.c.duration_s, *BY_NAME),
}
MIN_DURATIONS_S = (0.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # lower bounds of the duration facets
MAX_DURATIONS_S = (*MIN_DURATIONS_S[1:], None)
_COUNT = sa.func.count()


def list_clips(
    store: Store, filters: Filters, sort: str, limit: int | None, skip: int, words: str | None = None
) -> tuple[Clip, ...]:
    """Return clips sorted by ``sort``; sorted by name, clips with the name ``words`` come first."""
    order = SORTS[check_choice("sort", sort, tuple(SORTS))]
    if words is not None and sort == "name":
        order = (_has_exact_name(words).desc(), *order)
    id_query = (
        filters.list_query(store.database.dialect).order_by(*order).offset(check_option_int(ListOptions, "skip", skip))
    )
    if limit is not None:
        id_query = id_query.limit(check_option_int(ListOptions, "limit", limit))
    with store.database.begin_read() as connection:
        return tuple(load_clips(connection, id_query, order).values())


def find_by_name(store: Store, name: str) -> tuple[Clip, ...]:
    """Return the clips of exactly this name."""
    id_query = sa.select(clips.c.id).where(is_not_in_trash(clips.c.id), clips.c.name == clean_name(name))
    with store.database.begin_read() as connection:
        return tuple(load_clips(connection, id_query).values())


def _has_exact_name(words: str) -> sa.ColumnElement[Any]:
    """Return 1 for clips of that name, ignoring case, else 0."""
    return sa.case((sa.func.lower(clips.c.name) == words.strip().lower(), 1), else_=0)


def count_clips(store: Store, filters: Filters) -> int:
    """Return the number of clips."""
    id_query = filters.list_query(store.database.dialect).subquery()
    with store.database.begin_read() as connection:
        return int(connection.execute(sa.select(_COUNT).select_from(id_query)).scalar_one())


def count_tags(connection: sa.Connection, id_query: sa.Select[tuple[int]]) -> tuple[tuple[str, int], ...]:
    """Return the tags of clips with their numbers of clips, the most used first."""
    tag_counts = sa.select(tags.c.tag, _COUNT).where(tags.c.clip_id.in_(id_query)).group_by(tags.c.tag)
    return tuple(
        (str(tag), int(count)) for tag, count in connection.execute(tag_counts.order_by(_COUNT.desc(), tags.c.tag))
    )


def facets(store: Store, filters: Filters) -> Facets:
    """Return counts for narrowing the list of the filtered clips."""
    id_query = filters.list_query(store.database.dialect)
    duration_counts = [
        sa.func.count().filter(_is_duration_between(*bounds))
        for bounds in zip(MIN_DURATIONS_S, MAX_DURATIONS_S, strict=True)
    ]
    body_part_counts = (
        sa.select(body_part_facets.c.body_part, _COUNT)
        .where(body_part_facets.c.clip_id.in_(id_query))
        .group_by(body_part_facets.c.body_part)
    )
    action_counts = sa.select(actions.c.kind, _COUNT).where(actions.c.clip_id.in_(id_query)).group_by(actions.c.kind)
    with store.database.begin_read() as connection:
        counts = connection.execute(sa.select(*duration_counts).where(clips.c.id.in_(id_query))).one()
        clips_by_part = {str(body_part): int(count) for body_part, count in connection.execute(body_part_counts)}
        clips_by_action = {str(kind): int(count) for kind, count in connection.execute(action_counts)}
        tag_counts = count_tags(connection, id_query)
    durations = tuple(zip(MIN_DURATIONS_S, MAX_DURATIONS_S, map(int, counts), strict=True))
    return Facets(
        tag_counts,
        durations,
        tuple((body_part, clips_by_part[body_part]) for body_part in FACET_BODY_PARTS if body_part in clips_by_part),
        tuple(
            sorted(
                ((kind, clips_by_action[kind]) for kind in FACET_ACTIONS if kind in clips_by_action),
                key=lambda pair: -pair[1],
            )
        ),
    )


def stats(store: Store) -> Stats:
    """Return totals of the library."""
    totals = sa.select(
        _COUNT,
        sa.func.coalesce(sa.func.sum(clips.c.duration_s), 0.0),
        sa.func.coalesce(sa.func.sum(clips.c.n_frames), 0),
        sa.func.count(clips.c.skeleton.distinct()),
        sa.func.coalesce(sa.func.sum(blobs.c.bytes), 0),
    ).join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
    with store.database.begin_read() as connection:
        count, duration_s, n_frames, skeletons, size = connection.execute(
            totals.where(is_not_in_trash(clips.c.id))
        ).one()
        tag_counts = count_tags(connection, Filters().list_query(store.database.dialect))
    if not all(isinstance(total, int | Decimal) for total in (n_frames, size)) or not 0 <= duration_s < math.inf:
        raise FormatError(
            store.database.dialect.location,
            "the sums of durations, frames or bytes are none",
            expected="numbers",
            hint=Hint(python="verify() says of which clips", command="keypose library verify says of which clips"),
            code="library_damaged",
        )
    return Stats(int(count), float(duration_s), int(n_frames), int(size), int(skeletons), tag_counts)


def _is_duration_between(min_s: float, max_s: float | None) -> sa.ColumnElement[bool]:
    is_long_enough = clips.c.duration_s >= min_s
    return is_long_enough if max_s is None else is_long_enough & (clips.c.duration_s < max_s)


@dataclass(frozen=True)
class Filters:
    """Conditions that a clip must meet; by default none."""

    words: tuple[str, ...] = ()  # each is a prefix of a word of its names or tags
    tags: tuple[str, ...] = ()  # the clip has all of them
    min_duration_s: float | None = None
    max_duration_s: float | None = None
    skeleton: str | None = None  # hash of the rig
    body_part: str | None = None  # a body part with a wide swing
    action: str | None = None  # a kind of action

    @classmethod
    def parse(
        cls,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
        action: str | None = None,
    ) -> Filters:
        """Check the options of a caller and return them as Filters."""
        min_s, max_s = (
            None if seconds is None else check_option_number(ClipFilterOptions, name, seconds)
            for name, seconds in (("min_duration_s", min_duration_s), ("max_duration_s", max_duration_s))
        )
        if min_s is not None and max_s is not None and min_s > max_s:
            raise OptionError(option="min_duration_s", value=min_s, expected=f"at most max_duration_s={max_s:g}")
        return cls(
            words=() if words is None else parse_query_words(words),
            tags=clean_tags(tags),
            min_duration_s=min_s,
            max_duration_s=max_s,
            skeleton=None if skeleton is None else check_text("skeleton", skeleton),
            body_part=None if body_part is None else check_choice("body_part", body_part, FACET_BODY_PARTS),
            action=None if action is None else check_choice("action", action, FACET_ACTIONS),
        )

    def search_query(self, dialect: Dialect) -> sa.Select[Any] | None:
        """Return a query for the ids of the clips to search; None: all. Clips in the trash are excluded elsewhere."""
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
        if self.action is not None:
            yield clips.c.id.in_(sa.select(actions.c.clip_id).where(actions.c.kind == self.action))
