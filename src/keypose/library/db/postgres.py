"""PostgreSQL with pgvector: one library for many machines, in its own schema."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.db.base import Vectors
from keypose.library.db.postgres_setup import Address, Server, postgres_insert, prepare_server, psycopg
from keypose.library.db.postgres_vectors import VectorIndex
from keypose.library.extra import sa
from keypose.library.tables import increment_changes, indexes

MAX_TIMEOUT_MS = 2**31 - 1
_CREATE_WORD_INDEX = "CREATE INDEX ix_words_text ON words USING gin (array_to_tsvector(text))"


@dataclass(frozen=True)
class _Problem:
    """The fields of an error of the server; ``{cause}`` stands for its own message."""

    code: str
    problem: str
    expected: str | None = None
    hint: str | None = None

    def error(self, location: str, cause: str) -> FileError:
        """Return the error for the database at ``location``."""
        problem = self.problem.format(cause=cause)
        return FileError(problem, code=self.code, path=location, expected=self.expected, hint=self.hint)


_NO_CONNECTION = _Problem(
    code="no_connection",
    problem="no connection ({cause})",
    expected="a server that answers, a database of it, and its user and password",
)
_STOPPED = _Problem(
    code="connection_lost",
    problem="the connection was lost ({cause})",
    hint="what was not reported as done is not there: do it again",
)
# By prefix of SQLSTATE; the longest matching prefix is used.
_PROBLEMS = {
    "28": _Problem(
        code="file",
        problem="the server refuses this user ({cause})",
        expected="a user and a password that it knows",
    ),
    "3D": _Problem(code="file", problem="no such database on the server ({cause})"),
    "42501": _Problem(
        code="permission", problem="permission denied ({cause})", hint="ask the administrator for the right to it"
    ),
    "40": _Problem(code="busy", problem="others were writing at the same time ({cause})", hint="try again"),
    "53100": _Problem(code="disk_full", problem="cannot be written (the disk of the server is full)"),
    "53": _Problem(code="busy", problem="the server has no room for more ({cause})", hint="try again later"),
    "25006": _Problem(code="read_only", problem="cannot be written ({cause})", expected="a server that is no standby"),
    "57P01": _STOPPED,
    "57P02": _STOPPED,
    "08": _Problem(
        code="connection_lost",
        problem="the connection was lost ({cause})",
        hint="whether the last change is there, the library says: look, or do it again",
    ),
}
_DAMAGE_CODES = ("XX001", "XX002")
_WRONG_SCHEMA_CODES = ("22", "23", "42", "0A")  # the tables are not those of a library


class PostgresDialect:
    """A schema of a PostgreSQL database: readers see a snapshot, writers wait for each other, commits are durable.

    Writers acquire one advisory lock (``pg_advisory_xact_lock``) in READ COMMITTED; readers use ``REPEATABLE READ``.
    """

    driver_errors: tuple[type[Exception], ...] = (sa.exc.SQLAlchemyError, psycopg.Error, UnicodeEncodeError)
    write_options: Mapping[str, Any] = {
        "writes": True,
        "isolation_level": "READ COMMITTED",
        "postgresql_readonly": False,
    }
    has_vector_index = True
    path: Path | None = None
    is_writable = True

    def __init__(self, url: str, busy_s: float) -> None:
        self._address = Address.parse(url)
        self.location = str(self._address)
        self.busy_s = busy_s
        self.vectors = VectorIndex(self._address.schema)
        self._lock = int.from_bytes(hashlib.sha256(self._address.schema.encode()).digest()[:8], "big", signed=True)

    def open(self, *, create: bool) -> sa.Engine:
        """Return an engine for the schema; with ``create``, schema and extension are created if missing."""
        busy_ms = min(max(round(1000 * self.busy_s), 1), MAX_TIMEOUT_MS)
        try:
            server = prepare_server(self._address, busy_ms, create=create)
        except self.driver_errors as error:
            raise self.translate_error(error) from error
        self.vectors.server = server
        engine = sa.create_engine(
            self._address.url,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True, "schema_of_library": self._address.schema},
            pool_pre_ping=True,  # reconnect after a restart of the server
            max_overflow=-1,  # as the server limits the number of connections
            hide_parameters=True,
            connect_args=self._address.connect_args,
        )
        sa.event.listen(engine, "connect", _ConnectionSetup(self._address.schema, server, busy_ms))
        sa.event.listen(engine, "begin", self._begin)
        return engine

    def _begin(self, connection: sa.Connection) -> None:
        """Take the write lock before the first statement of a writing transaction."""
        if connection.get_execution_options().get("writes", False):
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (self._lock,))

    def insert_new(self, table: sa.Table, rows: list[dict[str, Any]]) -> sa.Insert:
        """Return INSERT ... ON CONFLICT DO NOTHING."""
        return postgres_insert(table).values(rows).on_conflict_do_nothing()

    def create_word_index(self, connection: sa.Connection) -> None:
        """Create the table of words with a GIN index of lexemes: no word is stemmed, split or omitted."""
        for statement in (
            "CREATE TABLE IF NOT EXISTS words (clip_id integer PRIMARY KEY REFERENCES clips (id) ON DELETE CASCADE, "
            'text text[] COLLATE "C" NOT NULL)',
            "DELETE FROM words",
            _CREATE_WORD_INDEX.replace("INDEX", "INDEX IF NOT EXISTS"),
        ):
            connection.execute(sa.text(statement))

    def index_words(self, connection: sa.Connection, clip_id: int, words: tuple[str, ...]) -> None:
        """Write one row per clip."""
        statement = sa.text(
            "INSERT INTO words (clip_id, text) VALUES (:clip_id, :text) "
            "ON CONFLICT (clip_id) DO UPDATE SET text = EXCLUDED.text"
        )
        connection.execute(statement, {"clip_id": clip_id, "text": list(words)})

    def delete_words(self, connection: sa.Connection, clip_id: int) -> None:
        """Delete the row of a clip."""
        connection.execute(sa.text("DELETE FROM words WHERE clip_id = :clip_id"), {"clip_id": clip_id})

    def clips_with_words(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """Return the query, with every word quoted so that none is read as an operator."""
        query = " & ".join("'{}':*".format(word.replace("\\", "\\\\").replace("'", "''")) for word in words)
        statement = sa.text("SELECT clip_id FROM words WHERE array_to_tsvector(text) @@ CAST(:query AS tsquery)")
        return statement.bindparams(query=query).columns(sa.column("clip_id", sa.Integer))

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """Return the words of each row."""
        rows = connection.execute(sa.text("SELECT clip_id, text FROM words"))
        return {int(clip): tuple(text) for clip, text in rows}

    def create_vector_index(self, connection: sa.Connection) -> None:
        """Drop the vector tables; each is created with its first vector, when its length is known."""
        self.vectors.drop(connection)

    def index_vectors(self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]) -> None:
        """Write one row per vector, in one table per descriptor."""
        self.vectors.replace_vectors(connection, clip_id, vectors)

    def find_unindexed(
        self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]
    ) -> tuple[str, ...]:
        """Return the descriptors with differing rows; every number is compared."""
        return self.vectors.find_differing(connection, clip_id, vectors)

    def increment_changes(self, connection: sa.Connection) -> None:
        """Increment the change counter."""
        increment_changes(connection)

    def find_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Check invalid indexes, and all B-trees if the extension ``amcheck`` is installed."""
        schema = {"schema": self._address.schema}
        invalid_indexes = sa.text(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :schema AND NOT i.indisvalid ORDER BY 1"
        )
        for name in connection.scalars(invalid_indexes, schema):
            yield f"the index {name} is not valid, expected REINDEX INDEX {name}"
        yield from _find_tree_problems(connection, schema)

    def raw_text(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """Do nothing, as all text of the server is valid."""
        return nullcontext()

    def find_word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Yield nothing: the word index is checked like other indexes."""
        return iter(())

    def missing_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """Return the missing indexes of tables, words and vectors."""
        names = sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = :schema")
        existing = set(connection.scalars(names, {"schema": self._address.schema}))
        expected = (
            indexes() | {"ix_words_text": sa.text(_CREATE_WORD_INDEX)} | self.vectors.graph_statements(connection)
        )
        return {name: statement for name, statement in expected.items() if name not in existing}

    def translate_error(self, error: BaseException) -> KeyposeError:
        """Translate by SQLSTATE."""
        return translate_error(error, self.location, self.busy_s)


class _ConnectionSetup:
    """Sets the session parameters of every new connection."""

    def __init__(self, schema: str, server: Server, busy_ms: int) -> None:
        self.statement = (
            f'SET search_path = "{schema}", {server.vector_schema}; SET lock_timeout = {busy_ms}; '
            "SET synchronous_commit = on; SET client_min_messages = warning"
        )

    def __call__(self, connection: psycopg.Connection[Any], _record: object) -> None:
        try:
            connection.execute(self.statement)
            connection.commit()
        except BaseException:  # as SQLAlchemy does not close it
            connection.close()
            raise


def _find_tree_problems(connection: sa.Connection, schema: dict[str, str]) -> Iterator[str]:
    check = connection.scalar(sa.text("SELECT to_regprocedure('bt_index_check(regclass, boolean)')"))
    if check is None:
        return
    trees = sa.text(
        "SELECT c.oid, c.relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :schema AND a.amname = 'btree' AND c.relkind = 'i' ORDER BY 2"
    )
    for oid, name in list(connection.execute(trees, schema)):
        try:
            with connection.begin_nested():
                connection.execute(sa.text("SELECT bt_index_check(CAST(:tree AS regclass), true)"), {"tree": oid})
        except sa.exc.DBAPIError as error:
            yield f"the index {name}: {str(error.orig).splitlines()[0]}"


def translate_error(error: BaseException, location: str, busy_s: float) -> KeyposeError:
    """Return the KeyposeError for an error of the driver, bare or wrapped by SQLAlchemy."""
    if isinstance(error, KeyposeError):
        return error
    if isinstance(error, sa.exc.TimeoutError):
        return FileError("all connections have been in use for too long", path=location, code="busy")
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, UnicodeEncodeError):
        return OptionError(f"{cause.object[:80]!a} has half a character (a lone surrogate)", expected="text")
    code = getattr(cause, "sqlstate", None) or ""
    first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if code == "55P03":
        return FileError(f"another process has been writing for more than {busy_s:g} s", path=location, code="busy")
    for start in sorted(_PROBLEMS, key=len, reverse=True):
        if code.startswith(start):
            return _PROBLEMS[start].error(location, first)
    if code in _DAMAGE_CODES:
        return FormatError(
            location, f"the database is damaged ({first})", expected="a library of clips", code="library_damaged"
        )
    if code.startswith(_WRONG_SCHEMA_CODES):
        return FormatError(location, f"its tables are not those of a library ({first})", code="not_a_library")
    if isinstance(cause, psycopg.OperationalError) and not code:
        return _find_problem_without_code(error, first).error(location, first)
    return FileError(f"cannot be used ({first})", path=location)


def _find_problem_without_code(error: BaseException, cause: str) -> _Problem:
    """Return the problem of an error without SQLSTATE: libpq has none before a connection exists or when one breaks.

    Its message is all that distinguishes these.
    """
    if getattr(error, "connection_invalidated", False) or "closed" in cause or "lost" in cause:
        return _PROBLEMS["08"]
    return _NO_CONNECTION
