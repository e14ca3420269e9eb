"""Lists of clips, and what is in them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from keypose.errors import FormatError
from keypose.library.extra import sa
from keypose.library.filters import Filters
from keypose.library.limbs import LIMBS
from keypose.library.nouns import Clip, Facets, Stats
from keypose.library.rows import BY_NAME, Order, clips_of
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, is_there, swinging, tags
from keypose.library.wording import clean_name
from keypose.options import one_of, whole

SORTS: dict[str, Order] = {
    "name": BY_NAME,
    "newest": (clips.c.added_at.desc(), clips.c.id.desc()),
    "longest": (clips.c.duration_s.desc(), *BY_NAME),
    "shortest": (clips.c.duration_s, *BY_NAME),
}
LEAST_S = (0.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # durations from here to the next are counted together
MOST_S = (*LEAST_S[1:], None)
MOST = 2**62  # rows: what databases can count
_COUNT = sa.func.count()


def list_clips(
    store: Store, filters: Filters, sort: str, limit: int | None, skip: int, words: str | None = None
) -> tuple[Clip, ...]:
    """Clips, in the order of ``sort``; by name, those that are called exactly as the ``words`` come first."""
    order = SORTS[one_of("sort", sort, tuple(SORTS))]
    if words is not None and sort == "name":
        order = (_is_called(words).desc(), *order)
    chosen = filters.listed(store.database.dialect).order_by(*order).offset(whole("skip", skip, least=0, most=MOST))
    if limit is not None:
        chosen = chosen.limit(whole("limit", limit, least=0, most=MOST))
    with store.database.reading() as connection:
        return tuple(clips_of(connection, chosen, order).values())


def named_clips(store: Store, name: str) -> tuple[Clip, ...]:
    """The clips of exactly that name."""
    chosen = sa.select(clips.c.id).where(is_there(clips.c.id), clips.c.name == clean_name(name))
    with store.database.reading() as connection:
        return tuple(clips_of(connection, chosen).values())


def _is_called(words: str) -> sa.ColumnElement[Any]:
    """1 for clips of that name, in whatever case, and 0 for others."""
    return sa.case((sa.func.lower(clips.c.name) == words.strip().lower(), 1), else_=0)


def count_clips(store: Store, filters: Filters) -> int:
    """How many clips there are."""
    listed = filters.listed(store.database.dialect).subquery()
    with store.database.reading() as connection:
        return int(connection.execute(sa.select(_COUNT).select_from(listed)).scalar_one())


def used_tags(connection: sa.Connection, listed: sa.Select[tuple[int]]) -> tuple[tuple[str, int], ...]:
    """The tags of clips, each with its number of clips, the most used first."""
    used = sa.select(tags.c.tag, _COUNT).where(tags.c.clip.in_(listed)).group_by(tags.c.tag)
    return tuple((str(tag), int(times)) for tag, times in connection.execute(used.order_by(_COUNT.desc(), tags.c.tag)))


def facets(store: Store, filters: Filters) -> Facets:
    """By what one may choose among clips that were chosen already."""
    listed = filters.listed(store.database.dialect)
    lasting = [sa.func.count().filter(_lasts(*bounds)) for bounds in zip(LEAST_S, MOST_S, strict=True)]
    limbs = sa.select(swinging.c.limb, _COUNT).where(swinging.c.clip.in_(listed)).group_by(swinging.c.limb)
    with store.database.reading() as connection:
        counts = connection.execute(sa.select(*lasting).where(clips.c.id.in_(listed))).one()
        swing = {str(limb): int(times) for limb, times in connection.execute(limbs)}
        tagged = used_tags(connection, listed)
    durations = tuple(zip(LEAST_S, MOST_S, map(int, counts), strict=True))
    return Facets(tagged, durations, tuple((limb, swing[limb]) for limb in LIMBS if limb in swing))


def stats(store: Store) -> Stats:
    """How much there is."""
    totals = sa.select(
        _COUNT,
        sa.func.coalesce(sa.func.sum(clips.c.duration_s), 0.0),
        sa.func.coalesce(sa.func.sum(clips.c.n_frames), 0),
        sa.func.count(clips.c.skeleton.distinct()),
        sa.func.coalesce(sa.func.sum(blobs.c.bytes), 0),
    ).join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
    with store.database.reading() as connection:
        count, duration_s, n_frames, skeletons, size = connection.execute(totals.where(is_there(clips.c.id))).one()
        tagged = used_tags(connection, Filters().listed(store.database.dialect))
    if not all(isinstance(whole, int | Decimal) for whole in (n_frames, size)) or not 0 <= duration_s < math.inf:
        raise FormatError(store.database.dialect.where, "the sums of durations, frames or bytes are none, expected "
                                                        "numbers: verify() says of which clips")  # fmt: skip
    return Stats(int(count), float(duration_s), int(n_frames), int(size), int(skeletons), tagged)


def _lasts(least_s: float, most_s: float | None) -> sa.ColumnElement[bool]:
    longer = clips.c.duration_s >= least_s
    return longer if most_s is None else longer & (clips.c.duration_s < most_s)
