"""Rows of the tables as nouns, and back."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Sequence
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

BLOCK = 500  # clips asked for together: databases take only so many numbers in one question
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
    return _clips(connection, *_statements(chosen))


def clips_numbered(connection: sa.Connection, numbers: Sequence[int]) -> dict[int, Clip]:
    """The clips of these numbers; those that are gone are left out. Quicker than ``clips_of``: nothing is composed."""
    found: dict[int, Clip] = {}
    for first in range(0, len(numbers), BLOCK):
        found |= _clips(connection, *_NUMBERED, {"numbers": list(numbers[first : first + BLOCK])})
    return found


def _statements(chosen: Any) -> tuple[sa.Select[Any], sa.CompoundSelect[Any]]:
    """Two questions: for clips, and for their other names and tags; of those ``chosen``, None: all."""

    def among(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
        return sa.true() if chosen is None else column.in_(chosen)

    rows = sa.select(clips, blobs.c.bytes).join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
    words = sa.union_all(
        sa.select(names.c.clip, sa.literal(_NAME), names.c.name).where(among(names.c.clip)),
        sa.select(tags.c.clip, sa.literal(_TAG), tags.c.tag).where(among(tags.c.clip)),
    )
    return rows.where(among(clips.c.id)).order_by(clips.c.name, clips.c.id), words


_NAME, _TAG = 0, 1
_NUMBERED = _statements(sa.bindparam("numbers", expanding=True))


def _clips(
    connection: sa.Connection,
    rows: sa.Select[Any],
    words: sa.CompoundSelect[Any],
    values: dict[str, Any] | None = None,
) -> dict[int, Clip]:
    said: defaultdict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for number, kind, word in connection.execute(words, values):
        said[number][kind].append(word)
    return {
        row.id: _clip(connection, row._mapping, *(tuple(sorted(them, key=str)) for them in said[row.id]))
        for row in connection.execute(rows, values)
    }


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
