"""Which shelf a library has."""

from __future__ import annotations

from keypose.library.dialects import Dialect
from keypose.library.searching.memory_shelf import MemoryShelf
from keypose.library.searching.shelf import Shelf
from keypose.library.searching.stored import Stored


def shelf_of(dialect: Dialect) -> Shelf:
    """Everything in memory, or what the index of a database finds near where it has one."""
    if not dialect.has_vector_index:
        return MemoryShelf(Stored())
    from keypose.library.dialects.postgres import PostgresDialect  # needs an extra
    from keypose.library.searching.pg_shelf import PgShelf

    assert isinstance(dialect, PostgresDialect)
    return PgShelf(Stored(), dialect.vectors)
