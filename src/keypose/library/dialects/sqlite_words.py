"""The index of words in a file of SQLite: a table of FTS5, and how one is replaced that is broken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from keypose.library.extra import sa

_FTS5 = "USING fts5(text, tokenize = 'unicode61 remove_diacritics 0')"
_SHADOWS = ("data", "idx", "content", "docsize", "config")  # tables in which FTS5 keeps its own
_NOT_DAMAGE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
)


def make_word_index(connection: sa.Connection) -> None:
    """An empty one; diacritics are gone from words already (``wording.py``), so that all databases agree."""
    try:
        connection.execute(sa.text("DROP TABLE IF EXISTS words"))
    except sa.exc.DBAPIError as error:
        if not _is_damage(error):
            raise
        _make_whole(connection)
        connection.execute(sa.text("DROP TABLE words"))
    for shadow in _SHADOWS:
        connection.execute(sa.text(f"DROP TABLE IF EXISTS words_{shadow}"))
    connection.execute(sa.text(f"CREATE VIRTUAL TABLE words {_FTS5}"))


def _make_whole(connection: sa.Connection) -> None:
    """Gives a broken index the insides of an empty one: FTS5 drops none that it cannot open."""
    connection.execute(sa.text(f"CREATE VIRTUAL TABLE words_as_made {_FTS5}"))
    for shadow in _SHADOWS:
        made = sa.text("SELECT sql FROM sqlite_master WHERE name = :name").bindparams(name=f"words_as_made_{shadow}")
        statement = str(connection.execute(made).scalar_one()).replace("words_as_made", "words")
        connection.execute(sa.text(f"DROP TABLE IF EXISTS words_{shadow}"))
        connection.execute(sa.text(statement))
        connection.execute(sa.text(f"INSERT INTO words_{shadow} SELECT * FROM words_as_made_{shadow}"))
    connection.execute(sa.text("DROP TABLE words_as_made"))


def word_problems(connection: sa.Connection) -> Iterator[str]:
    """The index against its own text."""
    try:
        connection.execute(sa.text("INSERT INTO words (words) VALUES ('integrity-check')"))
    except sa.exc.DBAPIError as error:
        if not _is_damage(error):
            raise
        yield f"the index of words is damaged ({error.orig})"


def _is_damage(error: sa.exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF not in _NOT_DAMAGE
