"""A database and its blobs, which are the argument of most functions of this package; transactions.

Errors of a database become KeyposeErrors.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike

from keypose.errors import FileError, FormatError, Hint, KeyposeError
from keypose.formats import Limits
from keypose.library.analysis import read_standalone, unzip_content
from keypose.library.blobs import Blobs
from keypose.library.blobs.base import OWNER_FILE
from keypose.library.blobs.folder import (
    DEFAULT_LOCATION,
    choose_identity,
    choose_location,
    has_owner,
    is_identity,
    load_owner,
    normalise_location,
    open_blobs,
    write_identity,
)
from keypose.library.db import Dialect, choose_dialect
from keypose.library.extra import sa
from keypose.library.library_info import create_tables, load_version
from keypose.library.records import EMPTY_PLACE_HINT, Clip
from keypose.library.rows import file_stem
from keypose.library.tables import blobs, clips, identity, library_info, library_info_copy
from keypose.model import Motion
from keypose.validation import is_sha256

MAX_PROBES = 100  # clips whose bytes are looked for at a location without an owner file

REPAIR_HINT = Hint(
    python="Library.repair_file copies what can be read into a new file",
    command="keypose library rebuild copies what can be read into a new file",
)

# A blob may only be deleted if table ``blobs`` allows it, with the write lock held: adding a clip checks, with the same
# lock, that its blob exists.


@dataclass(frozen=True)
class Store:
    """The storage of a library, and the limits of reading."""

    database: Database
    blobs: Blobs
    limits: Limits

    def check_owner(self) -> None:
        """Raise FormatError if the blobs belong to another library; record the owner if it is not recorded.

        An unreachable or read-only location is no error, as clips can be listed without their blobs.
        """
        with contextlib.suppress(FileError):
            if self.blobs.top_level_names() is not None:
                self._record_owner()

    def put_bytes(self, data: bytes) -> str:
        """Store bytes and return their hash; FileError where the bytes of the other clips are gone."""
        if not self._record_owner():
            raise FileError(
                "the files of all clips are missing",
                path=str(self.blobs),
                code="missing_blobs",
                expected=f"a mounted disk with them and the file {OWNER_FILE}",
                hint=EMPTY_PLACE_HINT,
            )
        return self.blobs.put(data)

    def _record_owner(self) -> bool:
        """Return whether the owner of the blobs is this library; record it where that is certain.

        It is certain for a library without clips, and where the bytes of some clip are. Otherwise the place may be that
        of a disk which is not mounted.
        """
        identity = self.database.identity
        if identity is None or has_owner(self.blobs, identity, self.database.dialect.location):
            return True
        if not self.has_some_bytes():
            return False
        write_identity(self.blobs, identity)
        return True

    def has_some_bytes(self) -> bool:
        """Return whether the library has no clips, or the bytes of some of them are there."""
        with self.database.begin_read() as connection:
            hashes = list(connection.scalars(sa.select(clips.c.blob).limit(MAX_PROBES)))
        return not hashes or any(self.blobs.has(digest) for digest in hashes if is_sha256(digest))

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
            normalise_location(blobs)  # raises errors before a file is created
        self.engine = self.dialect.open(create=create)
        weakref.finalize(self, self.engine.dispose)  # also if close() is not called
        try:
            self.blob_location = self._open_or_create(blobs, create=create)
            self.identity = self._load_identity()
        except FormatError as error:
            self.close()
            if error.code != "library_damaged" or self.dialect.path is None:
                raise
            raise error.with_fields(hint=REPAIR_HINT) from None
        except BaseException:
            self.close()
            raise

    def _open_or_create(self, blobs: str | PathLike[str] | None, *, create: bool) -> str:
        """Create the tables of an empty database; return the location of the blobs.

        Nothing is written if the location belongs to another library or is not writable.
        """
        with self.begin_read(raw_text=True) as connection:
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
        return (
            _load_blob_location(connection, self.dialect) if load_version(connection, self.dialect.location) else None
        )

    def _load_identity(self) -> str | None:
        """Return the identity of the library; None if its row is damaged, which ``verify`` reports."""
        with self.begin_read(raw_text=True) as connection:
            return load_identity(connection)

    @contextmanager
    def begin_read(self, *, raw_text: bool = False) -> Iterator[sa.Connection]:
        """Begin a read transaction, in which the database does not change.

        With ``raw_text``, damaged text is read as bytes instead of raising an error.
        """
        with (
            self.translate_errors(),
            self.engine.connect() as connection,
            connection.begin(),
            self.dialect.raw_text(connection) if raw_text else nullcontext(),
        ):
            yield connection

    @contextmanager
    def begin_write(self, *, raw_text: bool = False) -> Iterator[sa.Connection]:
        """Begin a write transaction, with the write lock held; a commit is durable. ``raw_text`` as in begin_read."""
        with self.translate_errors(), self.engine.connect() as plain_connection:
            connection = plain_connection.execution_options(**self.dialect.write_options)
            with connection.begin(), self.dialect.raw_text(connection) if raw_text else nullcontext():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Return a context in which errors of the driver become KeyposeErrors."""
        try:
            yield
        except self.dialect.driver_errors as error:
            raise self.dialect.translate_error(error) from error


def load_identity(connection: sa.Connection) -> str | None:
    """Return the identity of the library; None if it is damaged."""
    values = list(connection.scalars(sa.select(identity.c.identity)))
    return values[0] if len(values) == 1 and is_identity(values[0]) else None


def _load_blob_location(connection: sa.Connection, dialect: Dialect) -> str:
    """Return the recorded location of the blobs. It is recorded twice; a difference means damage."""
    columns = (library_info.c.blob_location, library_info_copy.c.blob_location)
    locations = [
        value for column in columns for value in connection.scalars(sa.select(column)) if isinstance(value, str)
    ]
    if not locations:
        raise FormatError(
            dialect.location, "the database is damaged: it does not say where its bytes are", code="library_damaged"
        )
    return choose_recorded_location(locations, load_identity(connection), dialect)


def choose_recorded_location(locations: Sequence[str], owner: str | None, dialect: Dialect) -> str:
    """Return the first location whose blobs belong to the library ``owner``, if the recorded ones differ."""
    if len(set(locations)) > 1:
        for location in locations:
            with contextlib.suppress(KeyposeError):
                found_owner = load_owner(open_blobs(location, dialect))
                if found_owner is not None and owner in (None, found_owner):
                    return location
    return locations[0]
