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
from keypose.library.dialects import sqlite_words
from keypose.library.dialects.base import Vectors
from keypose.library.extra import sa, sqlite_insert
from keypose.library.tables import count_change, indexes, schema

FileIdentity = tuple[int, int]  # the device, and the number of the file on it


class SqliteDialect:
    """A file of SQLite: readers never wait, writers wait for each other, a commit is on the disk when it returns."""

    raises: tuple[type[Exception], ...] = (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeError)
    writing: Mapping[str, Any] = {"writes": True}
    has_vector_index = False

    def __init__(self, path: Path, busy_s: float) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - of every connection, wherever the process goes meanwhile
        self.where = os.fspath(path)
        self.busy_s = busy_s
        self._file: FileIdentity | None = None  # that all connections are to; None: there was none yet

    def open(self, *, create: bool) -> sa.Engine:
        """Connections in WAL mode; transactions begin when we say so, those that write with the lock at once."""
        if os.path.isdir(self.path):  # noqa: PTH112 - Path.is_dir raises for names that are too long
            raise FileError(f"{self.where}: is a folder, expected the file of a library")
        if not create and not (os.path.isfile(self.path) and self.path.stat().st_size):  # noqa: PTH113 - as above
            raise FileError(f"{self.where}: no such library")
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=self.where),
            creator=self._connect,
            poolclass=sa.pool.QueuePool,
            max_overflow=-1,  # however many threads wait to write: that of another process is waited for in SQLite
        )
        sa.event.listen(engine, "connect", self._prepare)
        sa.event.listen(engine, "begin", self._begin)
        return engine

    @property
    def may_write(self) -> bool:
        """Whether file and folder can be written to; without the folder SQLite cannot change the file either."""
        file = Path(os.path.realpath(self.path))
        return os.access(file.parent, os.W_OK) and (os.access(file, os.W_OK) or not os.path.lexists(file))

    def _connect(self) -> sqlite3.Connection:
        """A connection that reads alone where nothing can be written, also from a folder without room for its logs."""
        self._check_same_file()  # or else SQLite would make another
        if self.may_write:
            return sqlite3.connect(self.path, timeout=self.busy_s, check_same_thread=False)
        file = Path(os.path.realpath(self.path))
        log = f"{file}-wal"
        how = "mode=ro" if os.path.exists(log) and os.path.getsize(log) else "mode=ro&immutable=1"  # noqa: PTH110, PTH202
        uri = f"{file.as_uri()}?{how}"
        return sqlite3.connect(uri, uri=True, timeout=self.busy_s, check_same_thread=False)

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        try:
            self._set_up(connection)
            self._file = self._file or self._file_now()
        except BaseException:  # it will be nobody's
            connection.close()
            raise

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if there and schema.name not in there:
            raise FormatError(self.where, "is a database of something else, expected a library of clips")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cell_size_check = ON")
        if self.may_write:
            self._write_ahead(connection)

    def _begin(self, connection: sa.Connection) -> None:
        """Whoever will write takes the lock first, so that two writers wait for each other and never fail half-way."""
        self._check_same_file()  # what is written to one that was removed is lost
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    def _check_same_file(self) -> None:
        if self._file is not None and self._file != self._file_now():
            raise FileError(f"{self.where}: the file was removed, moved or replaced while the library was open, "
                            "expected it to stay; open it again")  # fmt: skip

    def _file_now(self) -> FileIdentity | None:
        """Which file is there, by whatever link; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """WAL mode. Who asks for it while another one does is told to come again, without any waiting."""
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
        """INSERT ... ON CONFLICT DO NOTHING."""
        return sqlite_insert(table).values(rows).on_conflict_do_nothing()

    def make_word_index(self, connection: sa.Connection) -> None:
        """A table of FTS5."""
        sqlite_words.make_word_index(connection)

    def index_words(self, connection: sa.Connection, clip: int, words: tuple[str, ...]) -> None:
        """One row for each clip, under its number."""
        self.forget_words(connection, clip)
        row = {"clip": clip, "text": " ".join(words)}
        connection.execute(sa.text("INSERT INTO words (rowid, text) VALUES (:clip, :text)"), row)

    def forget_words(self, connection: sa.Connection, clip: int) -> None:
        """Deletes the row of a clip."""
        connection.execute(sa.text("DELETE FROM words WHERE rowid = :clip"), {"clip": clip})

    def clips_with(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """Every word in quotes, so that none is read as an operator."""
        query = " AND ".join(f'"{word}" *' for word in words)
        found = sa.text("SELECT rowid FROM words WHERE words MATCH :query").bindparams(query=query)
        return found.columns(sa.column("rowid", sa.Integer))

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """The text of each row."""
        rows = connection.execute(sa.text("SELECT rowid, text FROM words"))
        return {int(clip): tuple(str(text).split()) for clip, text in rows}

    def make_vector_index(self, connection: sa.Connection) -> None:
        """Nothing to make: all vectors are compared, in memory."""

    def index_vectors(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> None:
        """Nothing to do."""

    def unindexed(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> tuple[str, ...]:
        """None: there is no index to be left out of."""
        return ()

    def count_change(self, connection: sa.Connection) -> None:
        """One more."""
        count_change(connection)

    def problems(self, connection: sa.Connection) -> Iterator[str]:
        """Pages, indexes and foreign keys."""
        for (line,) in connection.execute(sa.text("PRAGMA integrity_check")):
            if line != "ok" and "FTS5" not in str(line):  # that is for ``word_problems``
                yield str(line)
        for table, row, other, _ in connection.execute(sa.text("PRAGMA foreign_key_check")):
            yield f"row {row} of {table} belongs to a row of {other} that is not there"

    def word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """The index against its own text."""
        return sqlite_words.word_problems(connection)

    @contextmanager
    def as_they_are(self, connection: sa.Connection) -> Iterator[None]:
        """Texts that are no UTF-8 come as bytes."""
        driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
        driver.text_factory = _text_or_bytes
        try:
            yield
        finally:
            driver.text_factory = str

    def lost_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """Those of the tables; that of words is a table of its own."""
        there = set(connection.scalars(sa.text("SELECT name FROM sqlite_master WHERE type = 'index'")))
        return {name: made for name, made in indexes().items() if name not in there}

    def error(self, error: BaseException) -> KeyposeError:
        """By the code that SQLite gives."""
        if isinstance(error, KeyposeError):
            return error
        if isinstance(error, sa.exc.TimeoutError):
            return FileError(f"{self.where}: all connections have been in use for too long ({error})")
        cause = getattr(error, "orig", None) or error
        if isinstance(cause, UnicodeEncodeError):
            return OptionError(f"{cause.object[:80]!a} has half a character (a lone surrogate), expected text")
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(cause, UnicodeDecodeError):
            return FormatError(self.where, f"the database is damaged ({cause}), expected a library of clips")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return FileError(f"{self.where}: another process has been writing for more than {self.busy_s:g} s")
        if code == sqlite3.SQLITE_READONLY:
            return FileError(f"{self.where}: cannot be written (you may only read it)")
        if code == sqlite3.SQLITE_FULL:
            return FileError(f"{self.where}: cannot be written (the disk is full)")
        if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT, 0):
            return FormatError(self.where, f"its tables are not those of a library ({cause})")
        return FileError(f"{self.where}: cannot be used ({cause})")


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
