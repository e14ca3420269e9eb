"""Opening and closing a library."""

from __future__ import annotations

from os import PathLike
from typing import Self

from keypose.formats import Limits
from keypose.library.blobs import open_blobs
from keypose.library.blobs.owner import check_owner
from keypose.library.database import Database
from keypose.library.store import Store
from keypose.validation import check_number

BUSY_S = 30.0


class LibraryBase:
    """An open database and its blobs."""

    def __init__(
        self,
        location: str | PathLike[str],
        *,
        blobs: str | PathLike[str] | None = None,
        create: bool = True,
        busy_s: float = BUSY_S,
        limits: Limits | None = None,
    ) -> None:
        database = Database(location, create=create, busy_s=check_number("busy_s", busy_s, min_value=0.0), blobs=blobs)
        self.location = database.dialect.location
        try:
            allowed = limits or Limits()
            self._store = Store(database, open_blobs(database.blob_location, database.dialect, allowed.bytes), allowed)
            check_owner(self._store.blobs, database.identity, self.location)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; there are no pending writes."""
        self._store.database.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"
