"""The word index in SQLite: an FTS5 table, and the replacement of a broken one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from keypose.library.extra import sa

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


def create_word_index(connection: sa.Connection) -> None:
    """Create an empty index. Words have no diacritics (``text_normalization.py``), so all databases agree."""
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
    """Give a broken index the shadow tables of an empty one, as FTS5 cannot drop a table that it cannot open."""
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
