"""The vector index: for each descriptor a table of half precision vectors with an HNSW graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.errors import FormatError
from keypose.library.db.base import Vectors
from keypose.library.db.postgres_setup import Server, psycopg
from keypose.library.extra import sa

# Measured by benchmarks/vectors on a million windows.
LINKS = 24  # neighbours of each vector in the graph ("m")
BUILD_WIDTH = 100  # candidates examined when a vector is added ("ef_construction")
WIDTH = 600  # candidates of a search ("ef_search")
MAX_WIDTH = 1000  # limit of pgvector
PREFIX = "vectors_"
MAX_DIMENSIONS = 4000  # limit of HNSW in half precision
MAX_HALF = 60_000.0  # the limit of half precision is 65504
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TAIL = b"\xff\xff"

Halves = NDArray[np.float16]


def vector_table(descriptor: str, n_dimensions: int) -> str:
    """Return the table name for a descriptor and a vector length, which other versions may change."""
    if not _NAME.fullmatch(descriptor) or not 0 < n_dimensions <= MAX_DIMENSIONS:
        expected = f"1 to {MAX_DIMENSIONS}, and a name of small letters, digits and _"
        raise FormatError(descriptor[:80], f"vectors of {n_dimensions} numbers", expected=expected)
    return f"{PREFIX}{descriptor}_{n_dimensions}"


def to_halves(vectors: Vectors) -> Halves:
    """Return vectors in the precision of the index; ``encode_copy_rows`` omits those that are not finite."""
    return np.clip(vectors, -MAX_HALF, MAX_HALF).astype(np.float16)


def format_vector(vector: NDArray[np.floating[Any]]) -> str:
    """Return a vector (D,) as pgvector text."""
    return "[" + ",".join(map(str, np.clip(vector, -MAX_HALF, MAX_HALF).astype(np.float32).tolist())) + "]"


def encode_copy_rows(clip_ids: NDArray[np.integer[Any]], windows: NDArray[np.integer[Any]], vectors: Vectors) -> bytes:
    """Return rows (clip_id, window_index, vector) in the binary format of COPY."""
    is_finite = np.isfinite(vectors).all(axis=1)
    n_dimensions = vectors.shape[1]
    layout = [("fields", ">i2"), ("id_size", ">i4"), ("clip_id", ">i4"), ("index_size", ">i4"), ("window_index", ">i4"),
              ("size", ">i4"), ("length", ">i2"), ("zero", ">i2"), ("vector", ">f2", (n_dimensions,))]  # fmt: skip
    rows = np.zeros(int(is_finite.sum()), layout)
    rows["fields"], rows["id_size"], rows["index_size"] = 3, 4, 4
    rows["clip_id"], rows["window_index"] = clip_ids[is_finite], windows[is_finite]
    rows["size"], rows["length"] = 4 + 2 * n_dimensions, n_dimensions
    rows["vector"] = to_halves(vectors[is_finite])
    return _COPY_HEAD + rows.tobytes() + _COPY_TAIL


class HalfVector(sa.types.UserDefinedType[Any]):
    """The pgvector type of half precision vectors."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the SQL name of the type."""
        return "halfvec"


@dataclass(frozen=True, eq=False)
class NearestQuery:
    """Options of a nearest neighbour query."""

    n_rows: int
    clip_query: Any = None  # query for the ids of the clips to search; None: all
    scales: NDArray[np.floating[Any]] | None = None  # (D,) factors of all numbers; None: 1
    width: int | None = None  # "ef_search"; None: enough for good recall


class VectorIndex:
    """The tables ``vectors_...`` of one schema."""

    server: Server

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def list_tables(self, connection: sa.Connection) -> list[str]:
        """Return the names of the existing tables."""
        statement = sa.text(
            "SELECT tablename FROM pg_tables WHERE schemaname = :schema AND starts_with(tablename, :prefix) ORDER BY 1"
        )
        return [str(name) for name in connection.scalars(statement, {"schema": self.schema, "prefix": PREFIX})]

    def graph_statements(self, connection: sa.Connection) -> dict[str, sa.TextClause]:
        """Return the CREATE INDEX statements of the graphs by index name."""
        return {f"ix_{table}": _graph_statement(table) for table in self.list_tables(connection)}

    def drop(self, connection: sa.Connection) -> None:
        """Drop all tables."""
        for table in self.list_tables(connection):
            connection.execute(sa.text(f'DROP TABLE "{table}"'))

    def replace_vectors(self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]) -> None:
        """Replace all rows of a clip."""
        existing = set(self.list_tables(connection))
        for table in existing:
            connection.execute(sa.text(f'DELETE FROM "{table}" WHERE clip_id = :clip_id'), {"clip_id": clip_id})
        for descriptor, rows in vectors.items():
            table = vector_table(descriptor, rows.shape[1])
            if table not in existing:
                create_table(connection, table, rows.shape[1])
                create_graph(connection, table)
            write_rows(connection, table, np.full(len(rows), clip_id), np.arange(len(rows)), rows)

    def nearest(
        self, connection: sa.Connection, descriptor: str, vector: Vectors, query: NearestQuery
    ) -> list[tuple[int, int]]:
        """Return (clip_id, window_index) of the rows nearest to ``vector`` (D,), nearest first.

        There are fewer rows if the table has no more.

        The result is approximate, by the graph with high recall, or exact if ``scales`` are given or the graph returns
        too few rows.
        """
        table = vector_table(descriptor, vector.shape[-1])
        if not self._configure_search(connection, table, query):
            return []
        if query.scales is None:
            rows = _query_rows(connection, table, vector, query, by_graph=True)
            if len(rows) == query.n_rows:
                return rows
        return _query_rows(connection, table, vector, query, by_graph=False)

    def _configure_search(self, connection: sa.Connection, table: str, query: NearestQuery) -> bool:
        """Set the search options of this transaction; return whether the table exists."""
        width = query.width or min(max(WIDTH, 2 * query.n_rows), MAX_WIDTH)
        settings = {"hnsw.ef_search": str(width)}
        if self.server.has_iterative_scans:
            settings["hnsw.iterative_scan"] = "strict_order"
        statement = sa.select(
            sa.func.to_regclass(f'"{self.schema}"."{table}"').is_not(None),
            *(sa.func.set_config(name, value, True) for name, value in settings.items()),
        )
        return bool(connection.execute(statement).one()[0])

    def find_differing(
        self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]
    ) -> tuple[str, ...]:
        """Return the descriptors with stored rows that differ from ``vectors``."""
        existing = set(self.list_tables(connection))
        return tuple(
            descriptor
            for descriptor, rows in vectors.items()
            if (table := vector_table(descriptor, rows.shape[1])) not in existing
            or not _has_rows(connection, table, clip_id, rows)
        )


def create_table(connection: sa.Connection, table: str, n_dimensions: int) -> None:
    """Create an empty table without a graph, as bulk loading is faster before there is one."""
    connection.execute(
        sa.text(
            f'CREATE TABLE "{table}" (clip_id integer NOT NULL REFERENCES clips (id) ON DELETE CASCADE, '
            f"window_index integer NOT NULL, vector halfvec({n_dimensions}) NOT NULL, "
            "PRIMARY KEY (clip_id, window_index))"
        )
    )


def create_graph(connection: sa.Connection, table: str, links: int = LINKS, build_width: int = BUILD_WIDTH) -> None:
    """Create the HNSW graph for Euclidean distance."""
    connection.execute(_graph_statement(table, links, build_width))


def _graph_statement(table: str, links: int = LINKS, build_width: int = BUILD_WIDTH) -> sa.TextClause:
    return sa.text(
        f'CREATE INDEX "ix_{table}" ON "{table}" USING hnsw (vector halfvec_l2_ops) '
        f"WITH (m = {links}, ef_construction = {build_width})"
    )


def write_rows(
    connection: sa.Connection,
    table: str,
    clip_ids: NDArray[np.integer[Any]],
    windows: NDArray[np.integer[Any]],
    vectors: Vectors,
) -> None:
    """Insert rows in the transaction of ``connection``."""
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    with driver.cursor() as cursor, cursor.copy(f'COPY "{table}" FROM STDIN (FORMAT BINARY)') as copy:
        copy.write(encode_copy_rows(clip_ids, windows, vectors))


def _query_rows(
    connection: sa.Connection, table: str, vector: Vectors, query: NearestQuery, *, by_graph: bool
) -> list[tuple[int, int]]:
    vectors = sa.table(
        table, sa.column("clip_id", sa.Integer), sa.column("window_index", sa.Integer), sa.column("vector", HalfVector)
    )
    column: sa.ColumnElement[Any] = vectors.c.vector
    if query.scales is not None:
        column = column.op("*")(_half_literal(query.scales))
        vector = vector * query.scales
    distance: sa.ColumnElement[float] = column.op("<->", return_type=sa.Float())(_half_literal(vector))
    if not by_graph:
        distance = distance + 0.0  # prevents the use of the graph
    statement = sa.select(vectors.c.clip_id, vectors.c.window_index).order_by(
        distance, *(() if by_graph else (vectors.c.clip_id, vectors.c.window_index))
    )
    if query.clip_query is not None:
        statement = statement.where(vectors.c.clip_id.in_(query.clip_query))
    return [(int(clip_id), int(window)) for clip_id, window in connection.execute(statement.limit(query.n_rows))]


def _half_literal(vector: NDArray[np.floating[Any]]) -> sa.ColumnElement[Any]:
    return sa.cast(sa.literal(format_vector(vector), sa.Text()), HalfVector())


def _has_rows(connection: sa.Connection, table: str, clip_id: int, rows: Vectors) -> bool:
    expected = to_halves(rows)
    stored_rows = connection.execute(
        sa.text(
            f'SELECT window_index, CAST(vector AS text) FROM "{table}" WHERE clip_id = :clip_id ORDER BY window_index'
        ),
        {"clip_id": clip_id},
    ).all()
    finite_rows = np.flatnonzero(np.isfinite(rows).all(axis=1))
    if [window for window, _ in stored_rows] != finite_rows.tolist():
        return False
    stored = np.array([np.fromstring(text[1:-1], np.float32, sep=",") for _, text in stored_rows]).astype(np.float16)
    return np.array_equal(stored.reshape(len(finite_rows), rows.shape[1]), expected[finite_rows])
