"""PostgreSQL with pgvector: many machines, one library, in a schema of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from keypose.errors import KeyposeError
from keypose.library.dialects.base import Vectors
from keypose.library.dialects.postgres_address import Address
from keypose.library.dialects.postgres_errors import error_of
from keypose.library.dialects.postgres_extra import postgres_insert, psycopg
from keypose.library.dialects.postgres_setup import Server, make_ready
from keypose.library.dialects.postgres_vectors import VectorIndex
from keypose.library.extra import sa
from keypose.library.tables import count_change, indexes

MOST_MS = 2**31 - 1
_INDEX_OF_WORDS = "CREATE INDEX ix_words_text ON words USING gin (array_to_tsvector(text))"


class PostgresDialect:
    """A schema of a PostgreSQL database: readers see one moment, writers wait for each other, a commit is on the disk.

    Writers hold one lock of the database (``pg_advisory_xact_lock``) and see all that others have committed; readers
    are in ``REPEATABLE READ``.
    """

    raises: tuple[type[Exception], ...] = (sa.exc.SQLAlchemyError, psycopg.Error, UnicodeEncodeError)
    writing: Mapping[str, Any] = {"writes": True, "isolation_level": "READ COMMITTED", "postgresql_readonly": False}
    has_vector_index = True
    path: Path | None = None
    may_write = True

    def __init__(self, url: str, busy_s: float) -> None:
        self._address = Address.of(url)
        self.where = str(self._address)
        self.busy_s = busy_s
        self.vectors = VectorIndex(self._address.schema)
        self._lock = int.from_bytes(hashlib.sha256(self._address.schema.encode()).digest()[:8], "big", signed=True)

    def open(self, *, create: bool) -> sa.Engine:
        """Connections to the schema; with ``create``, it and the extension are made where they are missing."""
        busy_ms = min(max(round(1000 * self.busy_s), 1), MOST_MS)
        try:
            server = make_ready(self._address, busy_ms, create=create)
        except self.raises as error:
            raise self.error(error) from error
        self.vectors.server = server
        engine = sa.create_engine(
            self._address.url,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True, "schema_of_library": self._address.schema},
            pool_pre_ping=True,  # a server that was restarted meanwhile is no error
            max_overflow=-1,  # how many connections there may be, the server says
            hide_parameters=True,
            connect_args=self._address.defaults,
        )
        sa.event.listen(engine, "connect", _Preparing(self._address.schema, server, busy_ms))
        sa.event.listen(engine, "begin", self._begin)
        return engine

    def _begin(self, connection: sa.Connection) -> None:
        """Whoever will write takes the lock first; what it sees is taken after that, statement by statement."""
        if connection.get_execution_options().get("writes", False):
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (self._lock,))

    def insert_new(self, table: sa.Table, rows: list[dict[str, Any]]) -> sa.Insert:
        """INSERT ... ON CONFLICT DO NOTHING."""
        return postgres_insert(table).values(rows).on_conflict_do_nothing()

    def make_word_index(self, connection: sa.Connection) -> None:
        """Words as they are, and an index of them as lexemes: nothing is stemmed, split or left out."""
        for statement in (
            "CREATE TABLE IF NOT EXISTS words (clip integer PRIMARY KEY REFERENCES clips (id) ON DELETE CASCADE, "
            'text text[] COLLATE "C" NOT NULL)',
            "DELETE FROM words",
            _INDEX_OF_WORDS.replace("INDEX", "INDEX IF NOT EXISTS"),
        ):
            connection.execute(sa.text(statement))

    def index_words(self, connection: sa.Connection, clip: int, words: tuple[str, ...]) -> None:
        """One row for each clip, under its number."""
        statement = sa.text(
            "INSERT INTO words (clip, text) VALUES (:clip, :text) ON CONFLICT (clip) DO UPDATE SET text = EXCLUDED.text"
        )
        connection.execute(statement, {"clip": clip, "text": list(words)})

    def forget_words(self, connection: sa.Connection, clip: int) -> None:
        """Deletes the row of a clip."""
        connection.execute(sa.text("DELETE FROM words WHERE clip = :clip"), {"clip": clip})

    def clips_with(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """Every word in quotes, so that none is read as an operator."""
        query = " & ".join("'{}':*".format(word.replace("\\", "\\\\").replace("'", "''")) for word in words)
        found = sa.text("SELECT clip FROM words WHERE array_to_tsvector(text) @@ CAST(:query AS tsquery)")
        return found.bindparams(query=query).columns(sa.column("clip", sa.Integer))

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """The words of each row."""
        rows = connection.execute(sa.text("SELECT clip, text FROM words"))
        return {int(clip): tuple(text) for clip, text in rows}

    def make_vector_index(self, connection: sa.Connection) -> None:
        """Drops the tables of vectors; each is made again when the first vector comes and its length is known."""
        self.vectors.drop(connection)

    def index_vectors(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> None:
        """One row for each vector, in a table for each descriptor."""
        self.vectors.put(connection, clip, vectors)

    def unindexed(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> tuple[str, ...]:
        """Every number is compared."""
        return self.vectors.unlike(connection, clip, vectors)

    def count_change(self, connection: sa.Connection) -> None:
        """One more."""
        count_change(connection)

    def problems(self, connection: sa.Connection) -> Iterator[str]:
        """The trees of all indexes, if the extension ``amcheck`` is there; indexes that were never finished."""
        schema = {"schema": self._address.schema}
        broken = sa.text(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :schema AND NOT i.indisvalid ORDER BY 1"
        )
        for name in connection.scalars(broken, schema):
            yield f"the index {name} is not valid, expected REINDEX INDEX {name}"
        yield from _tree_problems(connection, schema)

    def as_they_are(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """The server has no other texts."""
        return nullcontext()

    def word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """None of its own: it is an index like others."""
        return iter(())

    def lost_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """Those of the tables, of words, and of vectors."""
        names = sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = :schema")
        there = set(connection.scalars(names, {"schema": self._address.schema}))
        wanted = indexes() | {"ix_words_text": sa.text(_INDEX_OF_WORDS)} | self.vectors.graphs(connection)
        return {name: made for name, made in wanted.items() if name not in there}

    def error(self, error: BaseException) -> KeyposeError:
        """By the code that PostgreSQL gives."""
        return error_of(error, self.where, self.busy_s)


class _Preparing:
    """What every new connection is told."""

    def __init__(self, schema: str, server: Server, busy_ms: int) -> None:
        self.statement = (
            f'SET search_path = "{schema}", {server.vector_schema}; SET lock_timeout = {busy_ms}; '
            "SET synchronous_commit = on; SET client_min_messages = warning"
        )

    def __call__(self, connection: psycopg.Connection[Any], _record: object) -> None:
        try:
            connection.execute(self.statement)
            connection.commit()
        except BaseException:  # it will be nobody's
            connection.close()
            raise


def _tree_problems(connection: sa.Connection, schema: dict[str, str]) -> Iterator[str]:
    check = connection.scalar(sa.text("SELECT to_regprocedure('bt_index_check(regclass, boolean)')"))
    if check is None:
        return
    trees = sa.text(
        "SELECT c.oid, c.relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :schema AND a.amname = 'btree' AND c.relkind = 'i' ORDER BY 2"
    )
    for number, name in list(connection.execute(trees, schema)):
        try:
            with connection.begin_nested():
                connection.execute(sa.text("SELECT bt_index_check(CAST(:tree AS regclass), true)"), {"tree": number})
        except sa.exc.DBAPIError as error:
            yield f"the index {name}: {str(error.orig).splitlines()[0]}"
