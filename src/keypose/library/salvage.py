"""Repair of a damaged SQLite file: its indexes are built again; if that is not enough, what can be read of the tables
that people fill is copied into a new file. Everything else is computed again from the bytes of the clips. A file that
cannot be opened is copied first, with a sound header and schema."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from keypose.errors import FileError, FormatError, Hint
from keypose.library import library_info
from keypose.library.blobs import Blobs, open_blobs
from keypose.library.blobs.folder import choose_location, is_identity, load_owner
from keypose.library.db import SqliteDialect, choose_dialect
from keypose.library.db.sqlite_schema import copy_file, open_damaged, remove_file
from keypose.library.extra import sa
from keypose.library.records import Fault
from keypose.library.rows import is_timestamp
from keypose.library.store import Database, Store, choose_recorded_location
from keypose.library.tables import (
    analyses,
    clips,
    drafts,
    library_info_copy,
    metadata,
    now_text,
    other_names,
    tags,
    trash,
)
from keypose.library.tables import identity as identity_table
from keypose.library.tables import library_info as info_table
from keypose.validation import is_sha256

MAX_GAP = 1_000_000  # rows looked up one by one between damaged pages
_CHILD_TABLES = (other_names, tags, trash, drafts)
_INDEXED_COLUMNS = {"name": "ix_clips_name", "blob": "ix_clips_blob", "hash": "sqlite_autoindex_clips_1"}
_EMPTY_CLIP: Mapping[str, Any] = {
    column.name: None if column.nullable else "" if isinstance(column.type, sa.String | sa.Text) else 0
    for column in clips.c
}

Row = tuple[Any, ...]


@dataclass(frozen=True)
class _Origin:
    """A library whose damaged file is replaced."""

    dialect: SqliteDialect
    identity: str | None
    blob_location: str
    blobs: Blobs


def repair_file(
    location: str | PathLike[str], requested_blobs: str | PathLike[str] | None, busy_s: float
) -> Iterator[Fault]:
    """Replace the file of a library if it cannot be opened; yield what was lost."""
    dialect = choose_dialect(location, busy_s)
    try:
        Database(location, create=False, busy_s=busy_s, blobs=requested_blobs).close()
        return
    except FormatError as error:
        if not isinstance(dialect, SqliteDialect) or error.code not in ("library_damaged", "not_a_library"):
            raise
    copy, sound_file = (_temporary_path(dialect) for _ in range(2))
    try:
        with _translate_errors(dialect), _try_to_lock(dialect):
            _create_file(sound_file, dialect, "", "")
            copy_file(dialect.real_path, copy, sound_file)
            with open_damaged(copy) as old:
                origin = _find_origin(dialect, old, requested_blobs)
                if origin is None:  # it may belong to another program
                    expected = Hint("a file that kp.Library has made", "a file that keypose library add has made")
                    raise FormatError(dialect.location, "is no library", expected=expected, code="not_a_library")
                faults = _replace_file(origin, old)
    finally:
        remove_file(copy)
        remove_file(sound_file)
    yield from faults


def repair_database(store: Store) -> Iterator[Fault]:
    """Repair the file of an SQLite database if it is damaged; yield what was lost."""
    dialect = store.database.dialect
    if not isinstance(dialect, SqliteDialect) or not _is_damaged(store, dialect):
        return
    with contextlib.suppress(FormatError):
        with store.database.begin_write() as connection:
            connection.exec_driver_sql("REINDEX")
        if not _is_damaged(store, dialect):
            return
    yield from _copy_readable_rows(store, dialect)


def drop_stray_rows(connection: sa.Connection) -> Iterator[Fault]:
    """Delete rows that belong to no clip; yield those that people have written."""
    for table in metadata.sorted_tables:
        if "clip_id" not in table.c:
            continue
        is_stray = sa.or_(table.c.clip_id.is_(None), table.c.clip_id.not_in(sa.select(clips.c.id)))
        if table in _CHILD_TABLES:
            for row in connection.execute(sa.select(table).where(is_stray)).mappings():
                text = ", ".join(f"{column}={value!r:.60}" for column, value in row.items())
                yield Fault("row", table.name, f"a row belonged to no clip and is lost: {text}")
        connection.execute(sa.delete(table).where(is_stray))


def find_invalid_rows(connection: sa.Connection) -> Iterator[tuple[sa.Table, int, str]]:
    """Yield the rows of drafts and of the trash with invalid values: table, id of the clip, problem."""
    for row in connection.execute(sa.select(trash)):
        if not is_timestamp(row.trashed_at):
            yield trash, row.clip_id, "the date when it was moved to the trash is damaged"
    for row in connection.execute(sa.select(drafts)):
        is_valid = isinstance(row.revision, int) and isinstance(row.data, str) and is_timestamp(row.changed_at)
        if not is_valid:
            yield drafts, row.clip_id, "its draft is damaged"


def repair_invalid_rows(connection: sa.Connection) -> Iterator[Fault]:
    """Delete invalid drafts, and set invalid dates of the trash to the current time; yield them."""
    for table, clip_id, problem in list(find_invalid_rows(connection)):
        if table is trash:
            connection.execute(sa.update(trash).where(trash.c.clip_id == clip_id).values(trashed_at=now_text()))
        else:
            connection.execute(sa.delete(drafts).where(drafts.c.clip_id == clip_id))
        yield Fault("row", f"clip {clip_id}", f"{problem}: {'now is the new one' if table is trash else 'it is lost'}")


def _is_damaged(store: Store, dialect: SqliteDialect) -> bool:
    try:
        with store.database.begin_read(raw_text=True) as connection:
            return any(dialect.find_page_problems(connection))
    except FormatError:
        return True


def _copy_readable_rows(store: Store, dialect: SqliteDialect) -> Iterator[Fault]:
    """Replace the file by a new one with everything that can be read; yield what was lost."""
    origin = _Origin(dialect, store.database.identity, store.database.blob_location, store.blobs)
    store.database.close()
    with _translate_errors(dialect), dialect.lock_file() as old:  # nobody writes in the meantime
        faults = _replace_file(origin, old)
    yield from faults


@contextlib.contextmanager
def _translate_errors(dialect: SqliteDialect) -> Iterator[None]:
    try:
        yield
    except dialect.driver_errors as error:
        raise dialect.translate_error(error) from error
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be replaced ({error.strerror or error})", path=dialect.location) from None


@contextlib.contextmanager
def _try_to_lock(dialect: SqliteDialect) -> Iterator[None]:
    """Hold the write lock of a file, unless it is too damaged for that: then nobody else can write to it either."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(dialect.lock_file())
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
        yield


def _find_origin(
    dialect: SqliteDialect, old: sqlite3.Connection, requested_blobs: str | PathLike[str] | None
) -> _Origin | None:
    """Return what is known about the library of a file that cannot be opened; None if it is not one."""
    locations = [
        value
        for table in (info_table, library_info_copy)
        for (value,) in _read(old, f"SELECT blob_location FROM {table.name}")
        if isinstance(value, str)
    ]
    identities = [value for (value,) in _read(old, f"SELECT identity FROM {identity_table.name}") if is_identity(value)]
    identity = next(iter(identities), None)
    recorded = choose_recorded_location(locations, identity, dialect) if locations else None
    blob_location = choose_location(requested_blobs, recorded, dialect)
    blobs = open_blobs(blob_location, dialect)
    identity = identity or load_owner(blobs)
    return None if identity is None and not locations else _Origin(dialect, identity, blob_location, blobs)


def _temporary_path(dialect: SqliteDialect) -> Path:
    """Return a new path beside the file, of a name that is swept if its writer is killed."""
    return dialect.real_path.with_name(f".{dialect.real_path.name[:20]}.{secrets.token_hex(6)}.tmp")


def _create_file(file: Path, dialect: SqliteDialect, blob_location: str, identity: str) -> None:
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(file)), poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        library_info.create_tables(connection, dialect, blob_location, identity)


def _replace_file(origin: _Origin, old: sqlite3.Connection) -> list[Fault]:
    """Replace the file by a new one with everything that can be read from ``old``; return what was lost."""
    dialect = origin.dialect
    new_file = _temporary_path(dialect)
    try:
        _create_file(new_file, dialect, origin.blob_location, origin.identity or secrets.token_hex(16))
        with contextlib.closing(sqlite3.connect(new_file)) as new, new:
            faults = _copy(origin, old, new)
        damaged_file = dialect.replace_file(new_file)
    finally:
        remove_file(new_file)
    problem = f"what could be read was copied into a new file; the damaged one is {damaged_file.name}"
    return [Fault("database", dialect.location, problem, fixed=True), *faults]


def _copy(origin: _Origin, old: sqlite3.Connection, new: sqlite3.Connection) -> list[Fault]:
    faults: list[Fault] = []
    rows, is_complete = _read_table(old, clips)
    clips_by_id = {row[0]: dict(zip(clips.c.keys(), row, strict=True)) for row in rows}
    for clip_id, partial in sorted(_read_indexes(old, clips_by_id.keys()).items()):
        is_found = is_sha256(str(partial.get("blob"))) or is_sha256(str(partial.get("hash")))
        name = partial.get("name")
        subject = name if isinstance(name, str) else f"clip {clip_id}"
        if is_found:
            clips_by_id[clip_id] = {**_EMPTY_CLIP, **partial, "id": clip_id}
        lost = "its source, licence and note are" if is_found else "its names, tags, source, licence and note are"
        faults.append(Fault("row", subject, f"its row could not be read: {lost} lost"))
    if not is_complete and not faults:
        faults.append(Fault("database", clips.name, "some rows could not be read"))
    _insert(new, clips, (_fill(row) for row in clips_by_id.values()))
    inserted_ids = {clip_id for (clip_id,) in new.execute("SELECT id FROM clips")}
    for table in _CHILD_TABLES:
        rows, is_complete = _read_table(old, table)
        _insert(new, table, (row for row in rows if row[0] in inserted_ids and None not in row))
        if not is_complete:
            faults.append(Fault("database", table.name, "some rows could not be read"))
    _copy_blob_sizes(origin, old, new, clips_by_id.values())
    sequence = [count for (count,) in _read(old, "SELECT seq FROM sqlite_sequence") if isinstance(count, int)]
    new.execute("UPDATE sqlite_sequence SET seq = max(seq, ?)", (max(sequence, default=0),))
    for row in _read(old, f"SELECT created_at, changes FROM {info_table.name}"):
        if None not in row:
            new.execute(f"UPDATE {info_table.name} SET created_at = ?, changes = ?", row)
    return faults


def _copy_blob_sizes(
    origin: _Origin, old: sqlite3.Connection, new: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]
) -> None:
    sizes: dict[str, int] = dict(_read(old, "SELECT hash, bytes FROM blobs NOT INDEXED"))
    for digest in {row["blob"] for row in rows if isinstance(row["blob"], str) and is_sha256(row["blob"])}:
        if digest not in sizes:
            with contextlib.suppress(FormatError, OSError):
                sizes[digest] = len(origin.blobs.read(digest))
        new.execute("INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?, ?)", (digest, sizes.get(digest, 0)))


def _read_indexes(old: sqlite3.Connection, found_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the columns of clips that only the indexes still have, by id; of a clip that other tables name, none."""
    columns: dict[int, dict[str, Any]] = {}
    for column, index in _INDEXED_COLUMNS.items():
        for clip_id, value in _read(old, f"SELECT id, {column} FROM clips INDEXED BY {index}"):
            columns.setdefault(clip_id, {})[column] = value
    for table in (*_CHILD_TABLES, analyses):
        for (clip_id,) in _read(old, f"SELECT clip_id FROM {table.name}"):
            columns.setdefault(clip_id, {})
    known_ids = {*found_ids}
    return {
        clip_id: values for clip_id, values in columns.items() if isinstance(clip_id, int) and clip_id not in known_ids
    }


def _read_table(old: sqlite3.Connection, table: sa.Table) -> tuple[list[Row], bool]:
    """Return the rows before, after and between damaged pages, and whether these are all."""
    n_columns = len([*_read(old, f"PRAGMA table_info({table.name})")])
    if n_columns == 0:
        return [], False
    names = ", ".join(("number", *(f"column_{n}" for n in range(n_columns))))  # those of the table may be damaged
    selected = f"SELECT rowid, * FROM {table.name} NOT INDEXED"
    statement = f"WITH stored ({names}) AS ({selected}) SELECT * FROM stored"
    rows: dict[int, Row] = {}
    ends: list[int | None] = []
    for order in ("ASC", "DESC"):
        rowid = None
        try:
            for rowid, *values in old.execute(f"{statement} ORDER BY number {order}"):
                rows[rowid] = tuple(values)
            break
        except sqlite3.DatabaseError:
            ends.append(rowid)
    else:
        first = (ends[0] or 0) + 1
        last = first + MAX_GAP if ends[1] is None else min(ends[1], first + MAX_GAP)
        for number in range(first, last):
            rows |= {rowid: tuple(values) for rowid, *values in _read(old, f"{statement} WHERE number = ?", (number,))}
    if len(table.primary_key) == 1:  # the key is the rowid, and NULL if its definition is damaged
        rows = {rowid: (rowid, *values[1:]) for rowid, values in rows.items()}
    whole_rows = [row for row in rows.values() if len(row) == len(table.c)]
    return whole_rows, not ends and len(whole_rows) == len(rows)


def _read(old: sqlite3.Connection, statement: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
    """Yield rows up to the first damaged page."""
    with contextlib.suppress(sqlite3.DatabaseError):
        yield from old.execute(statement, parameters)


def _fill(row: Mapping[str, Any]) -> Row:
    """Return a row with values in place of NULL where that is not allowed; repair_rows replaces invalid values."""
    return tuple(empty if row[column] is None else row[column] for column, empty in _EMPTY_CLIP.items())


def _insert(new: sqlite3.Connection, table: sa.Table, rows: Iterable[Row]) -> None:
    marks = ", ".join("?" * len(table.c))
    new.executemany(f"INSERT OR IGNORE INTO {table.name} ({', '.join(table.c.keys())}) VALUES ({marks})", rows)
