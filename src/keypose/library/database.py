"""Transactions on a database of clips: whole or not at all, with errors of ours."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from keypose.errors import FileError, FormatError
from keypose.library.blobs.owner import identity_at, is_identity
from keypose.library.blobs.place import BESIDE, blobs_at, chosen_place, place_of
from keypose.library.dialects import Dialect, dialect_of
from keypose.library.extra import sa
from keypose.library.migrations import MIGRATIONS, migrate, version_of
from keypose.library.tables import identity, schema, twin


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
        if blobs is not None:
            place_of(blobs)  # one that cannot be is refused before a file is made
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # one that nobody closed gives its files back too
        try:
            self.place = self._up_to_date(blobs, create=create)
            self.identity = self._identity()
        except BaseException:
            self.close()
            raise

    def _up_to_date(self, blobs: str | PathLike[str] | None, *, create: bool) -> str:
        """Makes or migrates the tables, if there is anything to do; where the bytes are.

        Nothing is recorded of a place that is another's, or that cannot be written to.
        """
        with self.reading() as connection:
            there = version_of(connection)
            recorded = _place(connection, self.dialect.where) if there else None
        place = chosen_place(blobs, recorded, self.dialect)
        if there == len(MIGRATIONS):
            return place
        if not there and not create:
            raise FileError(f"{self.dialect.where}: no such library")
        with self.writing() as connection:
            there = version_of(connection)
            if there:  # another process may have made it meanwhile, with another place
                place = chosen_place(blobs, _place(connection, self.dialect.where), self.dialect)
            if there == len(MIGRATIONS):
                return place
            chosen = identity_at(blobs_at(place, self.dialect), is_new=not there, is_beside=place == BESIDE)
            migrate(connection, self.dialect, self.dialect.where)
            for table in (schema, twin):
                connection.execute(sa.update(table).values(blobs=place))
            connection.execute(sa.delete(identity))
            connection.execute(sa.insert(identity).values(identity=chosen))
        return place

    def _identity(self) -> str | None:
        """Which library it is; None where its row is damaged, which ``verify`` says."""
        with self.reading() as connection:
            return identity_of(connection)

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


def identity_of(connection: sa.Connection) -> str | None:
    """Which library it is; None where that is damaged."""
    found = list(connection.scalars(sa.select(identity.c.identity)))
    return found[0] if len(found) == 1 and is_identity(found[0]) else None


def _place(connection: sa.Connection, where: str) -> str:
    found = list(connection.scalars(sa.select(schema.c.blobs)))
    if len(found) != 1 or not isinstance(found[0], str):
        raise FormatError(where, "the database is damaged: it does not say where its bytes are")
    return found[0]
