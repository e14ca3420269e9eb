"""Whether a server can hold a library, and making room for one."""

from __future__ import annotations

from typing import Any, NamedTuple

from keypose.errors import FileError, FormatError
from keypose.library.dialects.postgres_address import Address
from keypose.library.dialects.postgres_extra import psycopg
from keypose.library.extra import sa
from keypose.library.tables import schema as marker

LEAST_SERVER = 15
LEAST_VECTOR = (0, 7)  # halfvec
ITERATIVE_SCANS = (0, 8)
_SETUP_LOCK = 0x6B6579706F7365  # "keypose": of all libraries of a database, while one is being made


class Server(NamedTuple):
    """What is known of a server that can hold a library."""

    vector_schema: str  # in quotes
    vector_version: tuple[int, ...]

    @property
    def scans_on(self) -> bool:
        """Whether a search that a filter leaves with too little goes on by itself."""
        return self.vector_version >= ITERATIVE_SCANS


def make_ready(address: Address, busy_ms: int, *, create: bool) -> Server:
    """Checks server, extension and schema; what is missing is made if ``create``."""
    engine = sa.create_engine(address.url, poolclass=sa.pool.NullPool, connect_args=address.defaults)
    raw = engine.raw_connection()
    try:
        connection: psycopg.Connection[Any] = raw.driver_connection  # type: ignore[assignment]
        with connection.transaction(), connection.cursor() as cursor:
            return _ready(cursor, address, busy_ms, create)
    finally:
        raw.close()


def _ready(cursor: psycopg.Cursor[Any], address: Address, busy_ms: int, create: bool) -> Server:
    where = str(address)
    found = cursor.connection.info.server_version // 10_000
    if found < LEAST_SERVER:
        raise FileError(f"{where}: PostgreSQL {found}, expected {LEAST_SERVER} or newer")
    cursor.execute(f"SET LOCAL lock_timeout = {busy_ms}; SET LOCAL client_min_messages = warning")
    if not create and not _tables(cursor, address.schema):
        raise FileError(f"{where}: no such library")
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
    tables = _tables(cursor, address.schema)
    if tables and marker.name not in tables:
        raise FormatError(where, f"its schema {address.schema} is of something else, expected a library of clips")
    server = _extension(cursor, where)
    cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (address.schema,))
    if cursor.fetchone() is None:
        cursor.execute(f'CREATE SCHEMA "{address.schema}"')
    return server


def _tables(cursor: psycopg.Cursor[Any], schema: str) -> set[str]:
    cursor.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        (schema,),
    )
    return {name for (name,) in cursor}


def _extension(cursor: psycopg.Cursor[Any], where: str) -> Server:
    server = _installed(cursor)
    if server is None:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if cursor.fetchone() is None:
            raise FileError(f"{where}: the server lacks pgvector; ask the administrator to install it, then: "
                            "CREATE EXTENSION vector")  # fmt: skip
        try:
            cursor.execute("CREATE EXTENSION vector")
        except psycopg.errors.InsufficientPrivilege:
            raise FileError(f"{where}: pgvector is not switched on in this database; ask the administrator: "
                            "CREATE EXTENSION vector") from None  # fmt: skip
        server = _installed(cursor)
        assert server is not None
    if server.vector_version < LEAST_VECTOR:
        raise FileError(f"{where}: pgvector {'.'.join(map(str, server.vector_version))}, expected 0.7 or newer; ask "
                        "the administrator: ALTER EXTENSION vector UPDATE")  # fmt: skip
    return server


def _installed(cursor: psycopg.Cursor[Any]) -> Server | None:
    cursor.execute(
        "SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e "
        "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    )
    row = cursor.fetchone()
    return None if row is None else Server(str(row[0]), tuple(int(part) for part in str(row[1]).split(".")))
