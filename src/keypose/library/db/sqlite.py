"""SQLite: one file, no server."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.db.base import Vectors
from keypose.library.extra import sa, sqlite_insert
from keypose.library.tables import increment_changes, indexes, library_info, metadata
from keypose.validation import check_regular_file

FileIdentity = tuple[int, int]  # device and inode

_FTS5 = "USING fts5(text, tokenize = 'unicode61 remove_diacritics 0')"
_WORD_INDEX = f"CREATE VIRTUAL TABLE words {_FTS5}"
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
        try:
            size = check_regular_file(self.path, "the file of a library").st_size
        except FileError as error:
            raise error.with_fields(path=self.location) from None
        except (OSError, ValueError):  # no such file, or a name that cannot be one
            size = 0
        if not create and not size:
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
        file = self.real_path
        return os.access(file.parent, os.W_OK) and (os.access(file, os.W_OK) or not os.path.lexists(file))

    def _connect(self) -> sqlite3.Connection:
        """Open a connection; read-only if file or folder is not writable, also if no log can be created there."""
        self._check_same_file()  # otherwise SQLite would create another file
        if self.is_writable:
            return sqlite3.connect(self.path, timeout=self.busy_s, check_same_thread=False)
        file = self.real_path
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
        try:
            self._check_same_file()  # it may have been replaced while this waited for the lock
        except FileError:
            connection.exec_driver_sql("ROLLBACK")
            raise

    def _check_same_file(self) -> None:
        if self._file is not None and self._file != self._current_file():
            raise FileError(
                "the file was removed, moved or replaced while the library was open",
                path=self.location,
                expected="it to stay",
                hint="open it again",
                code="library_moved",
            )

    @property
    def real_path(self) -> Path:
        """The path of the file, with links resolved."""
        return Path(os.path.realpath(self.path))

    @contextmanager
    def lock_file(self) -> Iterator[sqlite3.Connection]:
        """Return a plain connection to a damaged file, with the write lock held; text may be bytes."""
        with closing(sqlite3.connect(self.real_path, timeout=self.busy_s, isolation_level=None)) as connection:
            connection.text_factory = text_or_bytes
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def replace_file(self, new_file: Path) -> Path:
        """Replace the database by ``new_file``, with the lock held; return where the old one and its log are now."""
        file = self.real_path
        damaged = file.with_name(f"{file.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}")
        new_file.chmod(stat.S_IMODE(file.stat().st_mode))
        try:
            os.link(file, damaged)
        except OSError:  # a file system without hard links
            file.rename(damaged)
        with suppress(FileNotFoundError):
            os.replace(f"{file}-wal", f"{damaged}-wal")  # noqa: PTH105
        with suppress(FileNotFoundError):
            os.unlink(f"{file}-shm")  # noqa: PTH108
        new_file.replace(file)
        self._file = None
        return damaged

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
        yield from self.find_page_problems(connection)
        for table, row, other, _ in connection.execute(sa.text("PRAGMA foreign_key_check")):
            yield f"row {row} of {table} belongs to a row of {other} that is not there"

    def find_page_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Check pages, indexes and the definitions of tables."""
        definitions = _read_definitions(connection)
        for table, definition in _expected_definitions().items():
            if definitions[table] != definition:
                yield f"the definition of the table {table} is damaged"
        word_definitions = connection.scalars(sa.text("SELECT sql FROM sqlite_master WHERE name = 'words'")).all()
        if word_definitions not in ([], [_WORD_INDEX]):
            yield "the definition of the table words is damaged"
        for (line,) in connection.execute(sa.text("PRAGMA integrity_check")):
            if line != "ok" and "FTS5" not in str(line):  # reported by ``find_word_problems``
                yield str(line)

    def find_word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Check the word index against its own text."""
        return find_word_problems(connection)

    @contextmanager
    def raw_text(self, connection: sa.Connection) -> Iterator[None]:
        """Return a context in which text that is not UTF-8 is read as bytes."""
        driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
        driver.text_factory = text_or_bytes
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
        is_invalid_text = isinstance(cause, UnicodeDecodeError) or (
            isinstance(cause, sqlite3.OperationalError) and not hasattr(cause, "sqlite_errorcode")
        )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or is_invalid_text:
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


def _read_definitions(connection: sa.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return the columns and foreign keys of every table."""
    pragmas = ("table_info", "foreign_key_list")
    return {
        table: [tuple(row) for pragma in pragmas for row in connection.execute(sa.text(f"PRAGMA {pragma}({table})"))]
        for table in metadata.tables
    }


@cache
def _expected_definitions() -> dict[str, list[tuple[Any, ...]]]:
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.NullPool)  # closes the connection at the end
    with engine.begin() as connection:
        metadata.create_all(connection)
        return _read_definitions(connection)


def text_or_bytes(data: bytes) -> str | bytes:
    """Return the text, or the bytes if they are not UTF-8."""
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
    connection.execute(sa.text(_WORD_INDEX))


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
