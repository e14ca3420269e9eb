"""Rows of the tables as nouns, and back."""

from __future__ import annotations

import difflib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any

from keypose.errors import FormatError, OptionError
from keypose.formats import readable_suffixes
from keypose.library.blobs import hash_of
from keypose.library.blobs.base import is_hash
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.tables import blobs, clips, is_there, names, tags, thrown_away
from keypose.library.wording import clean_name, words_of
from keypose.options import text

Order = tuple[sa.ColumnElement[Any], ...]

BLOCK = 500  # clips asked for together: databases take only so many numbers in one question
LEAST_HASH = 8  # digits by which a clip may be called
LONGEST_SOURCE = 80  # characters in a message
_HEX = frozenset("0123456789abcdef")
_TEXTS = ("hash", "name", "source", "licence", "note", "skeleton", "suffix", "blob", "added_at")
_LEAST = {"n_frames": 1, "n_joints": 1, "bytes": 0}
_NUMBERS = ("fps", "duration_s", "within_mm")
_TINY = 1e-300
_SUFFIXES = frozenset(suffix for plain in readable_suffixes() for suffix in (plain, f"{plain}.gz"))
_NAME, _TAG = 0, 1
BY_NAME: Order = (clips.c.name, clips.c.id)


def written(time: datetime) -> str:
    """A time as it is kept: of two, the later one comes later as text too."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def now() -> str:
    """The time as it is kept."""
    return written(datetime.now(UTC))


def clips_of(
    connection: sa.Connection,
    chosen: sa.Select[Any] | None = None,
    order: Order = BY_NAME,
    damaged: dict[int, str] | None = None,
) -> dict[int, Clip]:
    """The clips whose numbers are ``chosen`` (None: all), by name, then in the order in which they came.

    Those that were thrown away are among them, where they are not left out of ``chosen``. A damaged row is an error,
    or else put into ``damaged`` by its number, with what is wrong in it.
    """
    return _clips(connection, *_statements(chosen, order), damaged=damaged)


def clips_numbered(connection: sa.Connection, numbers: Sequence[int]) -> dict[int, Clip]:
    """The clips of these numbers; those that are gone are left out. Quicker than ``clips_of``: nothing is composed."""
    found: dict[int, Clip] = {}
    for first in range(0, len(numbers), BLOCK):
        found |= _clips(connection, *_NUMBERED, {"numbers": list(numbers[first : first + BLOCK])})
    return found


def _statements(chosen: Any, order: Order = BY_NAME) -> tuple[sa.Select[Any], sa.CompoundSelect[Any]]:
    """Two questions: for clips, and for their other names and tags; of those ``chosen``, None: all."""

    def among(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
        return sa.true() if chosen is None else column.in_(chosen)

    rows = sa.select(clips, blobs.c.bytes).join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
    words = sa.union_all(
        sa.select(names.c.clip, sa.literal(_NAME), names.c.name).where(among(names.c.clip)),
        sa.select(tags.c.clip, sa.literal(_TAG), tags.c.tag).where(among(tags.c.clip)),
    )
    return rows.where(among(clips.c.id)).order_by(*order), words


_NUMBERED = _statements(sa.bindparam("numbers", expanding=True))


def _clips(
    connection: sa.Connection,
    rows: sa.Select[Any],
    words: sa.CompoundSelect[Any],
    values: dict[str, Any] | None = None,
    damaged: dict[int, str] | None = None,
) -> dict[int, Clip]:
    said: defaultdict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for number, kind, word in connection.execute(words, values):
        said[number][kind].append(word)
    found = {}
    for row in connection.execute(rows, values):
        also, tagged = (tuple(sorted(them, key=str)) for them in said[row.id])
        values = row._asdict()
        wrong = _wrong(values, also, tagged)
        if not wrong:
            found[row.id] = _clip(values, also, tagged)
        elif damaged is None:
            where = connection.engine.url.database or "the library"
            raise FormatError(where, f"the row of clip {row.id} is damaged ({wrong}), expected one that is whole: "
                                     "rebuild() makes it sound by its bytes")  # fmt: skip
        else:
            damaged[row.id] = wrong
    return found


def _clip(row: Mapping[str, Any], also: tuple[str, ...], tagged: tuple[str, ...]) -> Clip:
    values = {what: row[what] for what in (*_TEXTS, *_LEAST, "fps", "duration_s", "within_mm")}
    return Clip(also_named=also, tags=tagged, **values | {"added_at": datetime.fromisoformat(values["added_at"])})


def _wrong(row: Mapping[str, Any], also: tuple[str, ...], tagged: tuple[str, ...]) -> str:
    """What a row of ``clips``, with the size of its bytes, says that it cannot; nothing where it is sound."""
    if not all(isinstance(word, str) for word in (*also, *tagged)):
        return "another name or a tag is no text"
    return next((f"{what}={row[what]!r:.60}" for what in (*_TEXTS, *_LEAST, *_NUMBERS) if not is_right(row, what)), "")


def is_right(row: Mapping[str, Any], what: str) -> bool:
    """Whether a column of a row of ``clips``, or the size of its bytes, holds what it can hold."""
    value = row[what]
    if what in _LEAST:
        return isinstance(value, int) and value >= _LEAST[what]
    if what in _NUMBERS:
        if value is None:
            return what == "within_mm"
        return isinstance(value, float) and (0.0 if what == "duration_s" else _TINY) <= value < math.inf
    if not isinstance(value, str):
        return False
    if what in ("hash", "blob"):
        return is_hash(value)
    return is_date(value) if what == "added_at" else what != "suffix" or value in _SUFFIXES


def is_date(value: object) -> bool:
    """Whether this is a time as it is kept: with its zone."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def find(connection: sa.Connection, name_or_hash: str, *, gone: bool = False) -> tuple[int, Clip]:
    """The one clip of that name, other name, hash or beginning of a hash (8 digits and more).

    Clips that were thrown away are called by their whole hash alone; with ``gone``, only they are called.
    """
    called = clean_name(text("clip", name_or_hash))
    found = _called(connection, clips.c.hash == called.lower()) or _by_name_or_beginning(connection, called, gone)
    if not found:
        raise OptionError(_nothing(connection, called, gone))
    if len(found) > 1:
        which = ", ".join(map(_told_apart, list(found.values())[:5]))
        raise OptionError(f"{len(found)} clips are called {called[:80]!r}, expected the hash of one of them: {which}"
                          f"{', ...' if len(found) > 5 else ''}")  # fmt: skip
    return next(iter(found.items()))


def is_called(connection: sa.Connection, name_or_hash: object) -> bool:
    """Whether there are clips of that name, other name, hash or beginning of one; those thrown away are not there."""
    called = clean_name(text("clip", name_or_hash))
    there = is_there(clips.c.id)
    by_hash = _called(connection, clips.c.hash == called.lower(), there)
    return bool(by_hash or _by_name_or_beginning(connection, called, gone=False))


def _told_apart(clip: Clip) -> str:
    source = clip.source if len(clip.source) <= LONGEST_SOURCE else f"...{clip.source[-LONGEST_SOURCE:]}"
    return f"{clip.hash[:12]} ({clip.suffix}{f' from {source}' if source else ''})"


def _by_name_or_beginning(connection: sa.Connection, called: str, gone: bool) -> dict[int, Clip]:
    """Clips of that name; where there is none, those that also came under it, or whose hash begins so."""
    there = ~is_there(clips.c.id) if gone else is_there(clips.c.id)
    also = clips.c.id.in_(sa.select(names.c.clip).where(names.c.name == called))
    found = _called(connection, clips.c.name == called, there) or _called(connection, also, there)
    if not found and len(called) >= LEAST_HASH and _HEX.issuperset(called.lower()):
        return _called(connection, clips.c.hash.startswith(called.lower()), there)
    return found


def _called(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> dict[int, Clip]:
    return clips_of(connection, sa.select(clips.c.id).where(*conditions))


def _nothing(connection: sa.Connection, called: str, gone: bool) -> str:
    """That no clip is called so, and which may be meant."""
    if gone:
        return f"no clip {called[:80]!r} was thrown away, expected one that was"
    thrown = _by_name_or_beginning(connection, called, gone=True)
    if thrown:
        digest = next(iter(thrown.values())).hash[:12]
        return f"clip {called[:80]!r} was thrown away, expected one that is there: restore({digest!r}) brings it back"
    known = list(connection.scalars(sa.select(clips.c.name).where(is_there(clips.c.id)).distinct().limit(5000)))
    near = difflib.get_close_matches(called[:80], known, n=3)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"no clip {called[:80]!r} in the library{hint}"


def is_thrown_away(connection: sa.Connection, number: int) -> bool:
    """Whether lists and searches leave a clip out."""
    return connection.execute(sa.select(thrown_away.c.clip).where(thrown_away.c.clip == number)).first() is not None


def seal_of(clip: Clip) -> str:
    """One number for all that is kept about a clip: a row that was changed by accident no longer fits it."""
    return hash_of(repr(astuple(clip)).encode())


def words_for(clip: Clip) -> tuple[str, ...]:
    """The words by which a clip is found."""
    return words_of(clip.name, *clip.also_named, *clip.tags)


def forget_blob(connection: sa.Connection, digest: str) -> None:
    """Forgets the row of bytes that no clip has any more; their file is removed by ``Store.drop_bytes``."""
    needed = sa.exists().where(clips.c.blob == digest)
    connection.execute(sa.delete(blobs).where(blobs.c.hash == digest, ~needed))


def settle(connection: sa.Connection, dialect: Dialect, number: int) -> Clip:
    """Seals the rows of a clip that were written, and makes it findable: the last step of every change."""
    clip = clips_of(connection, sa.select(clips.c.id).where(clips.c.id == number))[number]
    connection.execute(sa.update(clips).where(clips.c.id == number).values(seal=seal_of(clip)))
    dialect.index_words(connection, number, words_for(clip))
    dialect.count_change(connection)
    return clip
