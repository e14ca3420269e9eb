"""SQLite: one file, no server."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.dialects.base import Vectors
from keypose.library.extra import sa, sqlite_insert
from keypose.library.tables import count_change, schema


class SqliteDialect:
    """A file of SQLite: readers never wait, writers wait for each other, a commit is on the disk when it returns."""

    raises: tuple[type[Exception], ...] = (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)
    writing: Mapping[str, Any] = {"writes": True}
    has_vector_index = False

    def __init__(self, path: Path, busy_s: float) -> None:
        self.path = path
        self.where = os.fspath(path)
        self.busy_s = busy_s

    def open(self, *, create: bool) -> sa.Engine:
        """Connections in WAL mode; transactions begin when we say so, those that write with the lock at once."""
        if not create and not self.path.is_file():
            raise FileError(f"{self.path}: no such library")
        if self.path.is_dir():
            raise FileError(f"{self.path}: is a folder, expected the file of a library")
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=os.fspath(self.path)), connect_args={"timeout": self.busy_s}
        )
        sa.event.listen(engine, "connect", self._prepare)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        try:
            self._set_up(connection)
        except BaseException:  # it will be nobody's
            connection.close()
            raise

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if there and schema.name not in there:
            raise FormatError(self.path, "is a database of something else, expected a library of clips")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cell_size_check = ON")
        self._write_ahead(connection)

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
        """A table of FTS5; diacritics are gone from words already (``wording.py``), so that all databases agree."""
        connection.execute(sa.text("DROP TABLE IF EXISTS words"))
        connection.execute(
            sa.text("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 0')")
        )

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
        """Pages, indexes and foreign keys; then the word index against its own text."""
        for (line,) in connection.execute(sa.text("PRAGMA integrity_check")):
            if line != "ok":
                yield str(line)
        for table, row, other, _ in connection.execute(sa.text("PRAGMA foreign_key_check")):
            yield f"row {row} of {table} belongs to a row of {other} that is not there"
        try:
            connection.execute(sa.text("INSERT INTO words (words) VALUES ('integrity-check')"))
        except sa.exc.DBAPIError:
            yield "the word index does not fit its text"

    def error(self, error: BaseException) -> KeyposeError:
        """By the code that SQLite gives."""
        if isinstance(error, KeyposeError):
            return error
        cause = getattr(error, "orig", None) or error
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(cause, UnicodeDecodeError):
            return FormatError(self.path, f"the database is damaged ({cause}), expected a library of clips")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return FileError(f"{self.path}: another process has been writing for more than {self.busy_s:g} s")
        if code == sqlite3.SQLITE_FULL:
            return FileError(f"{self.path}: cannot be written (the disk is full)")
        if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT, 0):
            return FormatError(self.path, f"its tables are not those of a library ({cause})")
        return FileError(f"{self.path}: cannot be used ({cause})")


def _begin(connection: sa.Connection) -> None:
    """Whoever will write takes the lock first, so that two writers wait for each other and never fail half-way."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
