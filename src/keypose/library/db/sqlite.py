"""SQLite: one file, no server."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.db.base import Vectors
from keypose.library.extra import sa, sqlite_insert
from keypose.library.tables import increment_changes, indexes, library_info

FileIdentity = tuple[int, int]  # device and inode

_FTS5 = "USING fts5(text, tokenize = 'unicode61 remove_diacritics 0')"
_SHADOWS = ("data", "idx", "content", "docsize", "config")  # suffixes of the internal tables of FTS5
_NOT_DAMAGE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
)


class SqliteDialect:
    """An SQLite file: readers never wait, writers wait for each other, commits are durable."""

    driver_errors: tuple[type[Exception], ...] = (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeError)
    write_options: Mapping[str, Any] = {"writes": True}
    has_vector_index = False

    def __init__(self, path: Path, busy_s: float) -> None:
        # Absolute, as connections are also opened after a change of the current folder.
        self.path = Path(os.path.abspath(path))  # noqa: PTH100
        self.location = os.fspath(path)
        self.busy_s = busy_s
        self._file: FileIdentity | None = None  # the file of all connections; None: not created yet

    def open(self, *, create: bool) -> sa.Engine:
        """Return an engine with connections in WAL mode; writing transactions take the lock when they begin."""
        if os.path.isdir(self.path):  # noqa: PTH112 - Path.is_dir raises for names that are too long
            raise FileError("is a folder", path=self.location, expected="the file of a library")
        if not create and not (os.path.isfile(self.path) and self.path.stat().st_size):  # noqa: PTH113 - as above
            raise FileError("no such library", path=self.location, code="unknown_library")
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=self.location),
            creator=self._connect,
            poolclass=sa.pool.QueuePool,
            max_overflow=-1,  # any number of threads may wait for the write lock
        )
        sa.event.listen(engine, "connect", self._prepare)
        sa.event.listen(engine, "begin", self._begin)
        return engine

    @property
    def is_writable(self) -> bool:
        """Whether file and folder are writable; SQLite needs the folder to change the file."""
        file = Path(os.path.realpath(self.path))
        return os.access(file.parent, os.W_OK) and (os.access(file, os.W_OK) or not os.path.lexists(file))

    def _connect(self) -> sqlite3.Connection:
        """Open a connection; read-only if file or folder is not writable, also if no log can be created there."""
        self._check_same_file()  # otherwise SQLite would create another file
        if self.is_writable:
            return sqlite3.connect(self.path, timeout=self.busy_s, check_same_thread=False)
        file = Path(os.path.realpath(self.path))
        log = f"{file}-wal"
        mode = "mode=ro" if os.path.exists(log) and os.path.getsize(log) else "mode=ro&immutable=1"  # noqa: PTH110, PTH202
        uri = f"{file.as_uri()}?{mode}"
        return sqlite3.connect(uri, uri=True, timeout=self.busy_s, check_same_thread=False)

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        try:
            self._set_up(connection)
            self._file = self._file or self._current_file()
        except BaseException:  # as SQLAlchemy does not close it
            connection.close()
            raise

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and library_info.name not in tables:
            raise FormatError(
                self.location, "is a database of something else", expected="a library of clips", code="not_a_library"
            )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cell_size_check = ON")
        if self.is_writable:
            self._enable_wal(connection)

    def _begin(self, connection: sa.Connection) -> None:
        """Begin a transaction; a writing one takes the lock at its start, so that a writer never fails after its first
        changes because of another one."""
        self._check_same_file()  # writes to a removed file would be lost
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    def _check_same_file(self) -> None:
        if self._file is not None and self._file != self._current_file():
            raise FileError(
                "the file was removed, moved or replaced while the library was open",
                path=self.location,
                expected="it to stay",
                hint="open it again",
                code="library_moved",
            )

    def _current_file(self) -> FileIdentity | None:
        """Return the identity of the file at the path, with links resolved; None if there is none."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _enable_wal(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL mode, retrying: SQLite does not wait while another connection does the same."""
        end = time.monotonic() + self.busy_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def insert_new(self, table: sa.Table, rows: list[dict[str, Any]]) -> sa.Insert:
        """Return INSERT ... ON CONFLICT DO NOTHING."""
        return sqlite_insert(table).values(rows).on_conflict_do_nothing()

    def create_word_index(self, connection: sa.Connection) -> None:
        """Create an FTS5 table."""
        create_word_index(connection)

    def index_words(self, connection: sa.Connection, clip_id: int, words: tuple[str, ...]) -> None:
        """Write one row per clip."""
        self.delete_words(connection, clip_id)
        row = {"clip_id": clip_id, "text": " ".join(words)}
        connection.execute(sa.text("INSERT INTO words (rowid, text) VALUES (:clip_id, :text)"), row)

    def delete_words(self, connection: sa.Connection, clip_id: int) -> None:
        """Delete the row of a clip."""
        connection.execute(sa.text("DELETE FROM words WHERE rowid = :clip_id"), {"clip_id": clip_id})

    def clips_with_words(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """Return the query, with every word quoted so that none is read as an operator."""
        query = " AND ".join(f'"{word}" *' for word in words)
        statement = sa.text("SELECT rowid FROM words WHERE words MATCH :query").bindparams(query=query)
        return statement.columns(sa.column("rowid", sa.Integer))

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """Return the words of each row."""
        rows = connection.execute(sa.text("SELECT rowid, text FROM words"))
        return {int(clip): tuple(str(text).split()) for clip, text in rows}

    def create_vector_index(self, connection: sa.Connection) -> None:
        """Do nothing: all vectors are compared in memory."""

    def index_vectors(self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]) -> None:
        """Do nothing."""

    def find_unindexed(
        self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]
    ) -> tuple[str, ...]:
        """Return nothing: there is no vector index."""
        return ()

    def increment_changes(self, connection: sa.Connection) -> None:
        """Increment the change counter."""
        increment_changes(connection)

    def find_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Check pages, indexes and foreign keys."""
        for (line,) in connection.execute(sa.text("PRAGMA integrity_check")):
            if line != "ok" and "FTS5" not in str(line):  # reported by ``find_word_problems``
                yield str(line)
        for table, row, other, _ in connection.execute(sa.text("PRAGMA foreign_key_check")):
            yield f"row {row} of {table} belongs to a row of {other} that is not there"

    def find_word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Check the word index against its own text."""
        return find_word_problems(connection)

    @contextmanager
    def raw_text(self, connection: sa.Connection) -> Iterator[None]:
        """Return a context in which text that is not UTF-8 is read as bytes."""
        driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
        driver.text_factory = _text_or_bytes
        try:
            yield
        finally:
            driver.text_factory = str

    def missing_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """Return the missing indexes of the tables; the word index is a table of its own."""
        existing = set(connection.scalars(sa.text("SELECT name FROM sqlite_master WHERE type = 'index'")))
        return {name: statement for name, statement in indexes().items() if name not in existing}

    def translate_error(self, error: BaseException) -> KeyposeError:
        """Translate by SQLite error code."""
        if isinstance(error, KeyposeError):
            return error
        if isinstance(error, sa.exc.TimeoutError):
            return FileError(
                f"all connections have been in use for too long ({error})", path=self.location, code="busy"
            )
        cause = getattr(error, "orig", None) or error
        if isinstance(cause, UnicodeEncodeError):
            return OptionError(f"{cause.object[:80]!a} has half a character (a lone surrogate)", expected="text")
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(cause, UnicodeDecodeError):
            return FormatError(
                self.location,
                f"the database is damaged ({cause})",
                expected="a library of clips",
                code="library_damaged",
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return FileError(
                f"another process has been writing for more than {self.busy_s:g} s", path=self.location, code="busy"
            )
        if code == sqlite3.SQLITE_READONLY:
            return FileError("cannot be written (you may only read it)", path=self.location, code="read_only")
        if code == sqlite3.SQLITE_FULL:
            return FileError("cannot be written (the disk is full)", code="disk_full", path=self.location)
        if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT, 0):
            return FormatError(self.location, f"its tables are not those of a library ({cause})", code="not_a_library")
        return FileError(f"cannot be used ({cause})", path=self.location)


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def create_word_index(connection: sa.Connection) -> None:
    """Create an empty index. Words have no diacritics (``rows.py``), so results are the same in all databases."""
    try:
        connection.execute(sa.text("DROP TABLE IF EXISTS words"))
    except sa.exc.DBAPIError as error:
        if not _is_damage(error):
            raise
        _reset_tables(connection)
        connection.execute(sa.text("DROP TABLE words"))
    for shadow in _SHADOWS:
        connection.execute(sa.text(f"DROP TABLE IF EXISTS words_{shadow}"))
    connection.execute(sa.text(f"CREATE VIRTUAL TABLE words {_FTS5}"))


def _reset_tables(connection: sa.Connection) -> None:
    """Replace the shadow tables of a broken index by those of an empty one, as FTS5 cannot drop a table that it cannot
    open."""
    connection.execute(sa.text(f"CREATE VIRTUAL TABLE words_as_made {_FTS5}"))
    for shadow in _SHADOWS:
        definition = sa.text("SELECT sql FROM sqlite_master WHERE name = :name").bindparams(
            name=f"words_as_made_{shadow}"
        )
        statement = str(connection.execute(definition).scalar_one()).replace("words_as_made", "words")
        connection.execute(sa.text(f"DROP TABLE IF EXISTS words_{shadow}"))
        connection.execute(sa.text(statement))
        connection.execute(sa.text(f"INSERT INTO words_{shadow} SELECT * FROM words_as_made_{shadow}"))
    connection.execute(sa.text("DROP TABLE words_as_made"))


def find_word_problems(connection: sa.Connection) -> Iterator[str]:
    """Check the index against its own text."""
    try:
        connection.execute(sa.text("INSERT INTO words (words) VALUES ('integrity-check')"))
    except sa.exc.DBAPIError as error:
        if not _is_damage(error):
            raise
        yield f"the index of words is damaged ({error.orig})"


def _is_damage(error: sa.exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF not in _NOT_DAMAGE
