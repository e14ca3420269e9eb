"""A library that is open: where it is, and how it is closed."""

from __future__ import annotations

from os import PathLike
from typing import Self

from keypose.formats import Limits
from keypose.library.blobs import blobs_at
from keypose.library.blobs.owner import hold
from keypose.library.database import Database
from keypose.library.store import Store
from keypose.options import number

BUSY_S = 30.0


class Opened:
    """A database and the place of its bytes."""

    def __init__(
        self,
        where: str | PathLike[str],
        *,
        blobs: str | PathLike[str] | None = None,
        create: bool = True,
        busy_s: float = BUSY_S,
        limits: Limits | None = None,
    ) -> None:
        database = Database(where, create=create, busy_s=number("busy_s", busy_s, least=0.0), blobs=blobs)
        self.where = database.dialect.where
        try:
            may = limits or Limits()
            self._store = Store(database, blobs_at(database.place, database.dialect, may.bytes), may)
            hold(self._store.blobs, database.identity, self.where)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database; nothing waits to be written."""
        self._store.database.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.where!r})"
