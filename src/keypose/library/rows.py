"""Rows of the tables as nouns, and back."""

from __future__ import annotations

import difflib
from collections import defaultdict
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any, NoReturn

from keypose.errors import FormatError, OptionError
from keypose.library.blobs import hash_of
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.tables import blobs, clips, names, tags
from keypose.library.wording import clean_name, words_of
from keypose.options import text

LEAST_HASH = 8  # digits by which a clip may be called
_HEX = frozenset("0123456789abcdef")
_TEXTS = ("hash", "name", "source", "licence", "note", "skeleton", "suffix", "blob", "added_at")
_WHOLES = ("n_frames", "n_joints", "bytes")
_NUMBERS = ("fps", "duration_s")


def now() -> str:
    """The time as it is kept."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def clips_of(connection: sa.Connection, chosen: sa.Select[Any] | None = None) -> dict[int, Clip]:
    """The clips whose numbers are ``chosen`` (None: all), by name, then in the order in which they came."""
    where = sa.true() if chosen is None else clips.c.id.in_(chosen)
    also = _grouped(connection, names.c.clip, names.c.name, chosen)
    tagged = _grouped(connection, tags.c.clip, tags.c.tag, chosen)
    found = connection.execute(
        sa.select(clips, blobs.c.bytes)
        .join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
        .where(where)
        .order_by(clips.c.name, clips.c.id)
    )
    return {row.id: _clip(connection, row._mapping, also[row.id], tagged[row.id]) for row in found}


def _grouped(
    connection: sa.Connection, key: sa.Column[Any], value: sa.Column[Any], chosen: sa.Select[Any] | None
) -> defaultdict[int, tuple[str, ...]]:
    where = sa.true() if chosen is None else key.in_(chosen)
    found: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
    for clip, one in connection.execute(sa.select(key, value).where(where)):
        found[clip] += (one,)
    return defaultdict(tuple, {clip: tuple(sorted(them, key=str)) for clip, them in found.items()})


def _clip(connection: sa.Connection, row: sa.RowMapping, also: tuple[str, ...], tagged: tuple[str, ...]) -> Clip:
    values = {what: row[what] for what in (*_TEXTS, *_WHOLES, *_NUMBERS, "within_mm")}
    sound = (
        all(isinstance(text, str) for text in (*(values[what] for what in _TEXTS), *also, *tagged))
        and all(isinstance(values[what], int) for what in _WHOLES)
        and all(isinstance(values[what], float) for what in _NUMBERS)
        and isinstance(values["within_mm"], float | None)
    )
    try:
        return Clip(also_named=also, tags=tagged, **_dated(values)) if sound else _damaged(connection, row)
    except ValueError:  # no date
        return _damaged(connection, row)


def _dated(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "added_at": datetime.fromisoformat(values["added_at"])}


def _damaged(connection: sa.Connection, row: sa.RowMapping) -> NoReturn:
    where = connection.engine.url.database or "the library"
    raise FormatError(where, f"the row of clip {row['id']} is damaged, expected texts and numbers")


def find(connection: sa.Connection, name_or_hash: str) -> tuple[int, Clip]:
    """The one clip of that name, other name, hash or beginning of a hash (8 digits and more)."""
    called = clean_name(text("clip", name_or_hash))
    chosen = sa.select(clips.c.id).where(clips.c.hash == called)
    found = clips_of(connection, chosen) or _named(connection, called)
    if not found and len(called) >= LEAST_HASH and _HEX.issuperset(called):
        found = clips_of(connection, sa.select(clips.c.id).where(clips.c.hash.startswith(called)))
    if not found:
        raise OptionError(f"no clip {called[:80]!r} in the library{_near(connection, called)}")
    if len(found) > 1:
        which = ", ".join(clip.hash[:12] for clip in list(found.values())[:5])
        raise OptionError(f"{len(found)} clips are called {called[:80]!r}, expected the hash of one of them: {which}"
                          f"{', ...' if len(found) > 5 else ''}")  # fmt: skip
    return next(iter(found.items()))


def _named(connection: sa.Connection, name: str) -> dict[int, Clip]:
    """Clips of that name; where there is none, those that also came under it."""
    return clips_of(connection, sa.select(clips.c.id).where(clips.c.name == name)) or clips_of(
        connection, sa.select(names.c.clip).where(names.c.name == name)
    )


def _near(connection: sa.Connection, called: str) -> str:
    known = list(connection.scalars(sa.select(clips.c.name).distinct().limit(5000)))
    near = difflib.get_close_matches(called[:80], known, n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def seal_of(clip: Clip) -> str:
    """One number for all that is kept about a clip: a row that was changed by accident no longer fits it."""
    return hash_of(repr(astuple(clip)).encode())


def words_for(clip: Clip) -> tuple[str, ...]:
    """The words by which a clip is found."""
    return words_of(clip.name, *clip.also_named, *clip.tags)


def settle(connection: sa.Connection, dialect: Dialect, number: int) -> Clip:
    """Seals the rows of a clip that were written, and makes it findable: the last step of every change."""
    clip = clips_of(connection, sa.select(clips.c.id).where(clips.c.id == number))[number]
    connection.execute(sa.update(clips).where(clips.c.id == number).values(seal=seal_of(clip)))
    dialect.index_words(connection, number, words_for(clip))
    dialect.count_change(connection)
    return clip
