"""Choice of the candidate source of a library."""

from __future__ import annotations

from keypose.library.db import Dialect
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.memory_index import MemoryIndex
from keypose.library.search.table_reader import TableReader


def open_candidate_source(dialect: Dialect) -> CandidateSource:
    """Return the vector index of the database if it has one, else an index in memory."""
    if not dialect.has_vector_index:
        return MemoryIndex(TableReader())
    from keypose.library.db.postgres import PostgresDialect  # needs an extra
    from keypose.library.search.pgvector_index import PgVectorIndex

    assert isinstance(dialect, PostgresDialect)
    return PgVectorIndex(TableReader(), dialect.vectors)
