"""Checks whether a server supports a library, and creates schema and extension."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from keypose.errors import FileError, FormatError, MissingExtra, OptionError
from keypose.library.extra import sa
from keypose.library.tables import library_info

try:
    import psycopg
    from sqlalchemy.dialects.postgresql import insert as postgres_insert
except ImportError:
    raise MissingExtra("a library in PostgreSQL needs", "pip install 'keypose[postgres]'") from None

__all__ = ["Address", "Server", "postgres_insert", "prepare_server", "psycopg"]

MIN_SERVER = 15
MIN_PGVECTOR = (0, 7)  # halfvec
MIN_ITERATIVE_SCANS = (0, 8)
_SETUP_LOCK = 0x6B6579706F7365  # "keypose"; the lock is held while a library of the database is created

SCHEMA = "keypose"
CONNECT_S = 10  # connection timeout
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Server(NamedTuple):
    """Properties of a server that supports a library."""

    vector_schema: str  # quoted
    vector_version: tuple[int, ...]

    @property
    def has_iterative_scans(self) -> bool:
        """Whether an index search continues when a filter leaves too few rows."""
        return self.vector_version >= MIN_ITERATIVE_SCANS


def prepare_server(address: Address, busy_ms: int, *, create: bool) -> Server:
    """Check server, extension and schema; what is missing is created if ``create``."""
    engine = sa.create_engine(address.url, poolclass=sa.pool.NullPool, connect_args=address.connect_args)
    raw = engine.raw_connection()
    try:
        connection: psycopg.Connection[Any] = raw.driver_connection  # type: ignore[assignment]
        with connection.transaction(), connection.cursor() as cursor:
            return _check_server(cursor, address, busy_ms, create)
    finally:
        raw.close()


def _check_server(cursor: psycopg.Cursor[Any], address: Address, busy_ms: int, create: bool) -> Server:
    location = str(address)
    version = cursor.connection.info.server_version // 10_000
    if version < MIN_SERVER:
        raise FileError(f"PostgreSQL {version}", path=location, expected=f"{MIN_SERVER} or newer")
    cursor.execute(f"SET LOCAL lock_timeout = {busy_ms}; SET LOCAL client_min_messages = warning")
    if not create and not _list_tables(cursor, address.schema):
        raise FileError("no such library", path=location, code="unknown_library")
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
    tables = _list_tables(cursor, address.schema)
    if tables and library_info.name not in tables:
        raise FormatError(
            location,
            f"its schema {address.schema} is of something else",
            expected="a library of clips",
            code="not_a_library",
        )
    server = _ensure_extension(cursor, location)
    cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (address.schema,))
    if cursor.fetchone() is None:
        cursor.execute(f'CREATE SCHEMA "{address.schema}"')
    return server


def _list_tables(cursor: psycopg.Cursor[Any], schema: str) -> set[str]:
    cursor.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        (schema,),
    )
    return {name for (name,) in cursor}


def _ensure_extension(cursor: psycopg.Cursor[Any], location: str) -> Server:
    server = _find_extension(cursor)
    if server is None:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if cursor.fetchone() is None:
            raise FileError(
                "the server lacks pgvector",
                path=location,
                hint="ask the administrator to install it, then: CREATE EXTENSION vector",
            )
        try:
            cursor.execute("CREATE EXTENSION vector")
        except psycopg.errors.InsufficientPrivilege:
            raise FileError(
                "pgvector is not switched on in this database",
                path=location,
                hint="ask the administrator: CREATE EXTENSION vector",
            ) from None
        server = _find_extension(cursor)
        assert server is not None
    if server.vector_version < MIN_PGVECTOR:
        raise FileError(
            f"pgvector {'.'.join(map(str, server.vector_version))}",
            path=location,
            expected="0.7 or newer",
            hint="ask the administrator: ALTER EXTENSION vector UPDATE",
        )
    return server


def _find_extension(cursor: psycopg.Cursor[Any]) -> Server | None:
    cursor.execute(
        "SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e "
        "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    )
    row = cursor.fetchone()
    return None if row is None else Server(str(row[0]), tuple(int(part) for part in str(row[1]).split(".")))


@dataclass(frozen=True)
class Address:
    """A server, a database on it, and the schema of the library."""

    url: sa.URL = field(repr=False)
    schema: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse ``postgresql://user:password@host:port/database``.

        ``?schema=films`` selects another schema than ``keypose``.

        All other options are passed to libpq: ``?sslmode=verify-full``.
        """
        try:
            url = sa.make_url(text)
        except (sa.exc.ArgumentError, ValueError):
            raise OptionError(
                "a URL that cannot be read", option="path", expected="postgresql://user@host:port/database"
            ) from None
        if not url.database:
            raise OptionError(
                "a URL without a database", option="path", expected="postgresql://user@host:port/database"
            )
        schema = url.query.get("schema", SCHEMA)
        if not isinstance(schema, str) or not _NAME.fullmatch(schema) or schema.startswith("pg_"):
            raise OptionError(
                option="schema", value=schema, expected="small letters, digits and _, at most 63, not pg_..."
            )
        return cls(url.difference_update_query(["schema"]).set(drivername="postgresql+psycopg"), schema)

    @property
    def connect_args(self) -> dict[str, int]:
        """Return defaults for libpq options that are not in the URL."""
        return {} if "connect_timeout" in self.url.query else {"connect_timeout": CONNECT_S}

    def __str__(self) -> str:
        """Return the URL without the password and without options, which may contain one."""
        display_url = self.url.set(drivername="postgresql", query={})
        display_url = sa.URL.create(
            "postgresql", display_url.username, None, display_url.host, display_url.port, display_url.database
        )
        suffix = "" if self.schema == SCHEMA else f"?schema={self.schema}"
        return display_url.render_as_string() + suffix
