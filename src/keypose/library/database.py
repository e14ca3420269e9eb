"""Transactions on the database of a library, with errors as KeyposeError."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from keypose.errors import FileError, FormatError
from keypose.library.blobs.location import DEFAULT_LOCATION, choose_location, normalize_location, open_blobs
from keypose.library.blobs.owner import choose_identity, is_identity
from keypose.library.db import Dialect, choose_dialect
from keypose.library.extra import sa
from keypose.library.schema_version import create_tables, load_version
from keypose.library.tables import identity, library_info


class Database:
    """An open database of the current schema version.

    ``blobs`` is the location of the blobs of a new library, and is recorded in it; optional for an existing library.
    """

    def __init__(
        self,
        location: str | PathLike[str],
        *,
        create: bool,
        busy_s: float,
        blobs: str | PathLike[str] | None = None,
    ) -> None:
        self.dialect: Dialect = choose_dialect(location, busy_s)
        if blobs is not None:
            normalize_location(blobs)  # raises before a file is created
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # also if nobody calls close()
        try:
            self.blob_location = self._open_or_create(blobs, create=create)
            self.identity = self._load_identity()
        except BaseException:
            self.close()
            raise

    def _open_or_create(self, blobs: str | PathLike[str] | None, *, create: bool) -> str:
        """Create the tables of an empty database; return the location of the blobs.

        Nothing is written if the location belongs to another library or is not writable.
        """
        with self.begin_read() as connection:
            recorded = self._recorded_location(connection)
        location = choose_location(blobs, recorded, self.dialect)
        if recorded is not None:
            return location
        if not create:
            raise FileError(f"{self.dialect.location}: no such library")
        with self.begin_write() as connection:
            recorded = self._recorded_location(connection)
            if recorded is not None:  # created by another process in the meantime, perhaps with another location
                return choose_location(blobs, recorded, self.dialect)
            new_identity = choose_identity(
                open_blobs(location, self.dialect), is_default_location=location == DEFAULT_LOCATION
            )
            create_tables(connection, self.dialect, location, new_identity)
        return location

    def _recorded_location(self, connection: sa.Connection) -> str | None:
        """Return the recorded location of the blobs; None for an empty database."""
        location = self.dialect.location
        return _load_blob_location(connection, location) if load_version(connection, location) else None

    def _load_identity(self) -> str | None:
        """Return the identity of the library; None if its row is damaged, which ``verify`` reports."""
        with self.begin_read() as connection:
            return load_identity(connection)

    @contextmanager
    def begin_read(self) -> Iterator[sa.Connection]:
        """Begin a read transaction, which sees one state of the database."""
        with self._translate_errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def begin_write(self) -> Iterator[sa.Connection]:
        """Begin a write transaction, with the write lock held; a commit is durable."""
        with self._translate_errors(), self.engine.connect() as plain_connection:
            connection = plain_connection.execution_options(**self.dialect.write_options)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self.dialect.driver_errors as error:
            raise self.dialect.translate_error(error) from error


def load_identity(connection: sa.Connection) -> str | None:
    """Return the identity of the library; None if it is damaged."""
    values = list(connection.scalars(sa.select(identity.c.identity)))
    return values[0] if len(values) == 1 and is_identity(values[0]) else None


def _load_blob_location(connection: sa.Connection, location: str) -> str:
    values = list(connection.scalars(sa.select(library_info.c.blob_location)))
    if len(values) != 1 or not isinstance(values[0], str):
        raise FormatError(location, "the database is damaged: it does not say where its bytes are")
    return values[0]
