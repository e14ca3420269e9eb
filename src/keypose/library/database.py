"""Transactions on a database of clips: whole or not at all, with errors of ours."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keypose.library.dialects import Dialect, SqliteDialect
from keypose.library.extra import sa
from keypose.library.migrations import MIGRATIONS, migrate, version_of


class Database:
    """A database that is there and up to date."""

    def __init__(self, path: Path, *, create: bool, busy_s: float) -> None:
        self.dialect: Dialect = SqliteDialect(path, busy_s)
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # one that nobody closed gives its files back too
        try:
            with self.reading() as connection:
                there = version_of(connection)
            if there != len(MIGRATIONS):
                with self.writing() as connection:
                    migrate(connection, self.dialect, str(path))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """What was there at the first question, whatever others write meanwhile."""
        with self._ours(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """The only writer until the end; then all of it is there, safe on the disk, or after an error nothing."""
        with self._ours(), self.engine.connect() as plain:
            connection = plain.execution_options(writes=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Gives the files back."""
        self.engine.dispose()

    @contextmanager
    def _ours(self) -> Iterator[None]:
        try:
            yield
        except (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
            raise self.dialect.error(error) from error
