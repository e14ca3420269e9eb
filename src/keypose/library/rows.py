"""Conversion between rows of the tables and records; names, tags and words in the form in which they are stored."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from itertools import islice
from typing import Any

from keypose.errors import FormatError, Hint, OptionError
from keypose.formats import readable_suffixes
from keypose.library.blobs import sha256_hex
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.records import Clip, rebuild_hint
from keypose.library.tables import blobs, clips, is_not_in_trash, other_names, tags, trash
from keypose.validation import check_text, clean_line, is_device_name, is_sha256

Order = tuple[sa.ColumnElement[Any], ...]

MAX_IDS_PER_QUERY = 500  # as databases limit the parameters of a statement
MIN_HASH_DIGITS = 8  # minimum digits of an abbreviated hash
MAX_SOURCE_CHARS = 80  # in a message
_HEX = frozenset("0123456789abcdef")
_TEXT_COLUMNS = ("hash", "name", "source", "licence", "note", "skeleton", "suffix", "blob", "added_at")
_MIN_VALUES = {"n_frames": 1, "n_joints": 1, "bytes": 0}
_FLOAT_COLUMNS = ("fps", "duration_s", "tolerance_mm")
_FLAG_COLUMNS = ("is_placeholder",)
_TINY = 1e-300
_SUFFIXES = frozenset(suffix for plain in readable_suffixes() for suffix in (plain, f"{plain}.gz"))
_NAME, _TAG = 0, 1
BY_NAME: Order = (clips.c.name, clips.c.id)

MAX_NAME_CHARS = 500
MAX_TAG_CHARS = 100
MAX_TAGS = 100  # per call
MAX_NOTE_CHARS = 10_000
MAX_WORD_CHARS = 100
MAX_WORDS = 2000  # per clip: limit of PostgreSQL for one index row
MAX_STEM_BYTES = 120  # of a file name before its suffix
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])")  # Walk|Left, take|3
_DIACRITICS = re.compile("[\u0300-\u036f]+")
_NOT_IN_FILE_NAMES = re.compile(r'[<>:"/\\|?*\s]+')


def load_clips(
    connection: sa.Connection,
    id_query: sa.Select[Any] | None = None,
    order: Order = BY_NAME,
    damaged: dict[int, str] | None = None,
) -> dict[int, Clip]:
    """Return the clips of ``id_query`` (None: all) by id, sorted by name, then by id.

    Clips in the trash are included unless ``id_query`` excludes them. A damaged row is a FormatError, or is put into
    ``damaged`` by its id, with the problem.
    """
    return _read_clips(connection, *_build_statements(id_query, order), damaged=damaged)


def load_clips_by_id(connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Clip]:
    """Return the clips of these ids that exist. It is faster than ``load_clips``, as the statements are prepared."""
    clips_by_id: dict[int, Clip] = {}
    for first in range(0, len(clip_ids), MAX_IDS_PER_QUERY):
        clips_by_id |= _read_clips(
            connection, *_STATEMENTS_BY_ID, {"clip_ids": list(clip_ids[first : first + MAX_IDS_PER_QUERY])}
        )
    return clips_by_id


def _build_statements(id_query: Any, order: Order = BY_NAME) -> tuple[sa.Select[Any], sa.CompoundSelect[Any]]:
    """Return two statements for the clips of ``id_query`` (None: all): rows, and other names with tags."""

    def restrict(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
        return sa.true() if id_query is None else column.in_(id_query)

    rows = sa.select(clips, blobs.c.bytes).join_from(clips, blobs, clips.c.blob == blobs.c.hash, isouter=True)
    words = sa.union_all(
        sa.select(other_names.c.clip_id, sa.literal(_NAME), other_names.c.name).where(restrict(other_names.c.clip_id)),
        sa.select(tags.c.clip_id, sa.literal(_TAG), tags.c.tag).where(restrict(tags.c.clip_id)),
    )
    return rows.where(restrict(clips.c.id)).order_by(*order), words


_STATEMENTS_BY_ID = _build_statements(sa.bindparam("clip_ids", expanding=True))


def _read_clips(
    connection: sa.Connection,
    rows: sa.Select[Any],
    words: sa.CompoundSelect[Any],
    values: dict[str, Any] | None = None,
    damaged: dict[int, str] | None = None,
) -> dict[int, Clip]:
    names_and_tags: defaultdict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for clip_id, kind, word in connection.execute(words, values):
        names_and_tags[clip_id][kind].append(word)
    clips_by_id = {}
    for row in connection.execute(rows, values):
        other_names, clip_tags = (tuple(sorted(items, key=str)) for items in names_and_tags[row.id])
        values = row._asdict()
        problem = _find_invalid_column(values, other_names, clip_tags)
        if not problem:
            clips_by_id[row.id] = _build_clip(values, other_names, clip_tags)
        elif damaged is None:
            location = connection.engine.url.database or "the library"
            raise FormatError(
                location,
                f"the row of clip {row.id} is damaged ({problem})",
                code="needs_rebuild",
                expected="one that is whole",
                hint=rebuild_hint("repairs it from its bytes"),
            )
        else:
            damaged[row.id] = problem
    return clips_by_id


def _build_clip(row: Mapping[str, Any], other_names: tuple[str, ...], clip_tags: tuple[str, ...]) -> Clip:
    values = {column: row[column] for column in (*_TEXT_COLUMNS, *_MIN_VALUES, "fps", "duration_s", "tolerance_mm")}
    values |= {"added_at": datetime.fromisoformat(values["added_at"])}
    return Clip(other_names=other_names, tags=clip_tags, is_placeholder=bool(row["is_placeholder"]), **values)


def _find_invalid_column(row: Mapping[str, Any], other_names: tuple[str, ...], clip_tags: tuple[str, ...]) -> str:
    """Return the first invalid column of a row of ``clips``, with its value; "" if the row is valid."""
    if not all(isinstance(word, str) for word in (*other_names, *clip_tags)):
        return "another name or a tag is no text"
    return next(
        (
            f"{column}={row[column]!r:.60}"
            for column in (*_TEXT_COLUMNS, *_MIN_VALUES, *_FLOAT_COLUMNS, *_FLAG_COLUMNS)
            if not is_valid_column(row, column)
        ),
        "",
    )


def is_valid_column(row: Mapping[str, Any], column: str) -> bool:
    """Return whether a column of ``clips``, or the size of the blob, has a valid value."""
    value = row[column]
    if column in _MIN_VALUES:
        return isinstance(value, int) and value >= _MIN_VALUES[column]
    if column in _FLOAT_COLUMNS:
        if value is None:
            return column == "tolerance_mm"
        return isinstance(value, float) and (0.0 if column == "duration_s" else _TINY) <= value < math.inf
    if column in _FLAG_COLUMNS:
        return isinstance(value, int) and value in (0, 1)
    if not isinstance(value, str):
        return False
    if column in ("hash", "blob"):
        return is_sha256(value)
    return is_timestamp(value) if column == "added_at" else column != "suffix" or value in _SUFFIXES


def is_timestamp(value: object) -> bool:
    """Return whether a value is a stored time, with its time zone."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def find_clip(connection: sa.Connection, name_or_hash: str, *, in_trash: bool = False) -> tuple[int, Clip]:
    """Return id and record of the one clip of this name, other name, hash or hash prefix (at least 8 digits).

    Clips in the trash are found by their full hash only; with ``in_trash``, only clips in the trash are found.
    """
    name = clean_name(check_text("clip", name_or_hash))
    matches = _select_clips(connection, clips.c.hash == name.lower()) or _find_by_name_or_prefix(
        connection, name, in_trash
    )
    if not matches:
        raise _not_found_error(connection, name, in_trash)
    if len(matches) > 1:
        which = ", ".join(map(_format_candidate, list(matches.values())[:5]))
        raise OptionError(
            f"{len(matches)} clips are called {name[:80]!r}",
            expected=f"the hash of one of them: {which}{(', ...' if len(matches) > 5 else '')}",
            code="ambiguous_clip",
        )
    return next(iter(matches.items()))


def clip_exists(connection: sa.Connection, name_or_hash: object) -> bool:
    """Return whether there is a clip of this name, other name, hash or hash prefix that is not in the trash."""
    name = clean_name(check_text("clip", name_or_hash))
    is_listed = is_not_in_trash(clips.c.id)
    by_hash = _select_clips(connection, clips.c.hash == name.lower(), is_listed)
    return bool(by_hash or _find_by_name_or_prefix(connection, name, in_trash=False))


def _format_candidate(clip: Clip) -> str:
    source = clip.source if len(clip.source) <= MAX_SOURCE_CHARS else f"...{clip.source[-MAX_SOURCE_CHARS:]}"
    return f"{clip.hash[:12]} ({clip.suffix}{f' from {source}' if source else ''})"


def _find_by_name_or_prefix(connection: sa.Connection, name: str, in_trash: bool) -> dict[int, Clip]:
    """Return clips of this name; if there are none, of this other name, or with this hash prefix."""
    condition = ~is_not_in_trash(clips.c.id) if in_trash else is_not_in_trash(clips.c.id)
    has_other_name = clips.c.id.in_(sa.select(other_names.c.clip_id).where(other_names.c.name == name))
    matches = _select_clips(connection, clips.c.name == name, condition) or _select_clips(
        connection, has_other_name, condition
    )
    if not matches and len(name) >= MIN_HASH_DIGITS and _HEX.issuperset(name.lower()):
        return _select_clips(connection, clips.c.hash.startswith(name.lower()), condition)
    return matches


def _select_clips(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> dict[int, Clip]:
    return load_clips(connection, sa.select(clips.c.id).where(*conditions))


def _not_found_error(connection: sa.Connection, name: str, in_trash: bool) -> OptionError:
    """Return the error that there is no such clip, with similar names."""
    is_candidate = ~is_not_in_trash(clips.c.id) if in_trash else is_not_in_trash(clips.c.id)
    hint = _suggest_names(name, connection.scalars(sa.select(clips.c.name).where(is_candidate).distinct().limit(5000)))
    if in_trash:
        return OptionError(
            f"no clip {name[:80]!r} is in the trash", code="unknown_clip", expected="one that is", hint=hint
        )
    trashed = _find_by_name_or_prefix(connection, name, in_trash=True)
    if trashed:
        digest = next(iter(trashed.values())).hash[:12]
        return OptionError(
            f"clip {name[:80]!r} is in the trash",
            code="clip_in_trash",
            expected="one that is not",
            hint=Hint(python=f"restore({digest!r}) brings it back", command="adding its file again brings it back"),
        )
    return OptionError(f"no clip {name[:80]!r} in the library", code="unknown_clip", hint=hint)


def _suggest_names(name: str, existing_names: Iterable[str]) -> str | None:
    """Return a hint with up to three similar names; the same letters in another case are the most similar."""
    by_lower = {existing.lower(): existing for existing in existing_names}
    near = difflib.get_close_matches(name[:80].lower(), by_lower, n=3)
    return f"did you mean {' or '.join(repr(by_lower[each]) for each in near)}?" if near else None


def is_in_trash(connection: sa.Connection, clip_id: int) -> bool:
    """Return whether a clip is in the trash."""
    return connection.execute(sa.select(trash.c.clip_id).where(trash.c.clip_id == clip_id)).first() is not None


def row_checksum(clip: Clip) -> str:
    """Return the checksum of a record, for detecting accidental changes of its row."""
    return sha256_hex(repr(astuple(clip)).encode())


def search_words(clip: Clip) -> tuple[str, ...]:
    """Return the words with which a clip is found."""
    return split_words(clip.name, *clip.other_names, *clip.tags)


def delete_unused_blob_row(connection: sa.Connection, digest: str) -> None:
    """Delete the row of a blob that no clip uses; ``Store.delete_unused_bytes`` deletes its file."""
    needed = sa.exists().where(clips.c.blob == digest)
    connection.execute(sa.delete(blobs).where(blobs.c.hash == digest, ~needed))


def finalize_clip(connection: sa.Connection, dialect: Dialect, clip_id: int) -> Clip:
    """Update checksum, word index and change counter: the last step of every change to a clip."""
    clip = load_clips(connection, sa.select(clips.c.id).where(clips.c.id == clip_id))[clip_id]
    connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(checksum=row_checksum(clip)))
    dialect.index_words(connection, clip_id, search_words(clip))
    dialect.increment_changes(connection)
    return clip


def clean_name(name: str) -> str:
    """Return the name of a clip as one line without control characters; OptionError if it is empty."""
    cleaned = clean_line(check_text("name", name), MAX_NAME_CHARS).strip()
    if not cleaned:
        raise OptionError(option="name", value=name[:20], expected="a name that can be read")
    return cleaned


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in lower case, without duplicates, sorted."""
    if isinstance(tags, str):
        raise OptionError(option="tags", value=tags, expected=f"several texts: ({tags!r},)")
    try:
        items = list(islice(tags, MAX_TAGS + 1))
    except TypeError:
        raise OptionError(option="tags", value=tags, expected="several texts") from None
    if len(items) > MAX_TAGS:
        raise OptionError(f"more than {MAX_TAGS}", option="tags", expected=f"at most {MAX_TAGS} at once")
    cleaned = {" ".join(clean_line(check_text("tag", tag), MAX_TAG_CHARS).lower().split()) for tag in items}
    if "" in cleaned:
        raise OptionError("an empty one", option="tags", expected="a word or a few")
    return tuple(sorted(cleaned))


def clean_note(field: str, note: str) -> str:
    """Return a text field as one line."""
    return clean_line(check_text(field, note), MAX_NOTE_CHARS).strip()


def split_words(*texts: str) -> tuple[str, ...]:
    """Return the search words of ``texts`` in lower case: those of ``02_WalkLeft`` are 02, walkleft, walk and left."""
    words: dict[str, None] = {}
    for part in texts:
        for word in _WORD.findall(_strip_diacritics(part)):
            words.update(dict.fromkeys(each.lower()[:MAX_WORD_CHARS] for each in (word, *_HUMP.split(word))))
    return tuple(words)[:MAX_WORDS]


def _strip_diacritics(value: str) -> str:
    """Return text without diacritics, the same for all databases: "uber" finds "Über"."""
    return unicodedata.normalize("NFKC", _DIACRITICS.sub("", unicodedata.normalize("NFKD", value)))


def parse_query_words(query: str) -> tuple[str, ...]:
    """Return the words of a search; each must be a word, or a prefix of one."""
    normal = _strip_diacritics(clean_line(check_text("words", query), MAX_NAME_CHARS))
    words = tuple(dict.fromkeys(word.lower()[:MAX_WORD_CHARS] for word in _WORD.findall(normal)))
    if not words:
        raise OptionError(option="words", value=query[:40], expected="at least one word of letters or digits")
    return words


def file_stem(name: str) -> str:
    """Return a file name without suffix that is valid on every system and does not leave its folder."""
    stem = _NOT_IN_FILE_NAMES.sub("_", unicodedata.normalize("NFC", clean_line(name, MAX_NAME_CHARS))).strip("._ ")
    stem = stem.encode("utf-8")[:MAX_STEM_BYTES].decode("utf-8", "ignore").rstrip("._ ")
    return f"_{stem}" if not stem or is_device_name(stem) else stem
