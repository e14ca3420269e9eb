"""Transactions on a database of clips: whole or not at all, with errors of ours."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from keypose.errors import FormatError
from keypose.library.blobs.place import chosen_place
from keypose.library.dialects import Dialect, dialect_of
from keypose.library.extra import sa
from keypose.library.migrations import MIGRATIONS, migrate, version_of
from keypose.library.tables import schema


class Database:
    """A database that is there and up to date.

    ``blobs`` says where the bytes of a new library go, and is recorded in it; of one that is there it may be left out.
    """

    def __init__(
        self,
        where: str | PathLike[str],
        *,
        create: bool,
        busy_s: float,
        blobs: str | PathLike[str] | None = None,
    ) -> None:
        self.dialect: Dialect = dialect_of(where, busy_s)
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # one that nobody closed gives its files back too
        try:
            self.place = self._up_to_date(blobs)
        except BaseException:
            self.close()
            raise

    def _up_to_date(self, blobs: str | PathLike[str] | None) -> str:
        """Makes or migrates the tables, if there is anything to do; where the bytes are."""
        with self.reading() as connection:
            there = version_of(connection)
            recorded = _place(connection, self.dialect.where) if there else None
        place = chosen_place(blobs, recorded, self.dialect)
        if there == len(MIGRATIONS):
            return place
        with self.writing() as connection:
            if version_of(connection):  # another process may have made it meanwhile, with another place
                place = chosen_place(blobs, _place(connection, self.dialect.where), self.dialect)
            migrate(connection, self.dialect, self.dialect.where)
            connection.execute(sa.update(schema).values(blobs=place))
        return place

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """What was there at the first question, whatever others write meanwhile."""
        with self._ours(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """The only writer until the end; then all of it is there, safe on the disk, or after an error nothing."""
        with self._ours(), self.engine.connect() as plain:
            connection = plain.execution_options(**self.dialect.writing)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Gives the files back."""
        self.engine.dispose()

    @contextmanager
    def _ours(self) -> Iterator[None]:
        try:
            yield
        except self.dialect.raises as error:
            raise self.dialect.error(error) from error


def _place(connection: sa.Connection, where: str) -> str:
    found = list(connection.scalars(sa.select(schema.c.blobs)))
    if len(found) != 1 or not isinstance(found[0], str):
        raise FormatError(where, "the database is damaged: it does not say where its bytes are")
    return found[0]
