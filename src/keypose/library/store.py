"""A database and its blobs, which are the argument of most functions of this package; transactions.

Errors of a database become KeyposeErrors.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike

from keypose.errors import FileError, FormatError
from keypose.formats import Limits
from keypose.library.analysis import read_standalone, unzip_content
from keypose.library.blobs import Blobs
from keypose.library.blobs.folder import (
    DEFAULT_LOCATION,
    choose_identity,
    choose_location,
    is_identity,
    normalize_location,
    open_blobs,
)
from keypose.library.db import Dialect, choose_dialect
from keypose.library.extra import sa
from keypose.library.library_info import create_tables, load_version
from keypose.library.records import Clip
from keypose.library.rows import file_stem
from keypose.library.tables import blobs, identity, library_info
from keypose.model import Motion

# A blob may only be deleted if table ``blobs`` allows it, with the write lock held: adding a clip checks, with the same
# lock, that its blob exists.


@dataclass(frozen=True)
class Store:
    """The storage of a library, and the limits of reading."""

    database: Database
    blobs: Blobs
    limits: Limits

    def read_bytes(self, clip: Clip) -> bytes:
        """Return the stored bytes of a clip, checked."""
        return self.blobs.read(clip.blob, clip.bytes)

    def load_motion(self, clip: Clip) -> Motion:
        """Return the motion of a clip from its bytes."""
        placeholder = self.blobs.placeholder_path(f"{file_stem(clip.name)}{clip.suffix}")
        try:
            return read_standalone(
                unzip_content(self.read_bytes(clip), placeholder, self.limits), placeholder, self.limits
            )
        except FormatError as error:
            if error.path != str(placeholder):
                raise
            raise error.with_fields(path=f"{clip.name}{clip.suffix}", hint=None) from None

    def delete_unused_bytes(self, digest: str) -> bool:
        """Delete a blob unless a clip uses it; return whether it was deleted."""
        with self.database.begin_write() as connection:
            if connection.execute(sa.select(blobs.c.hash).where(blobs.c.hash == digest)).first():
                return False
            self.blobs.remove(digest)
            return True


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
            normalize_location(blobs)  # raises errors before a file is created
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # also if close() is not called
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
            raise FileError("no such library", path=self.dialect.location, code="unknown_library")
        with self.begin_write() as connection:
            recorded = self._recorded_location(connection)
            if recorded is not None:  # created by another process in the meantime, possibly with another location
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
        """Begin a read transaction, in which the database does not change."""
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
        raise FormatError(
            location, "the database is damaged: it does not say where its bytes are", code="library_damaged"
        )
    return values[0]
