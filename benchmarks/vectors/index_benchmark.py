"""One table of vectors on a real PostgreSQL server: size, build time, query time and recall."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from benchmarks.vectors.corpus import Vectors
from numpy.typing import NDArray
from tests.support.postgres_server import run_server

from keypose.library.db.postgres import PostgresDialect
from keypose.library.db.postgres_vectors import (
    NearestQuery,
    create_graph,
    create_table,
    format_vector,
    vector_table,
    write_rows,
)
from keypose.library.extra import sa

SETTINGS = {
    "shared_buffers": "4GB",
    "maintenance_work_mem": "3GB",
    "max_wal_size": "8GB",
    "effective_cache_size": "12GB",
}  # fsync is off, as in the tests: no waiting for the disk
BLOCK_ROWS = 100_000  # rows written by one COPY
WINDOWS_PER_CLIP = 100  # windows
N_INSERTED = 200  # rows inserted into the finished graph by one COPY
K = 10
ROUNDS = 3
SIGNS_CANDIDATE_FACTOR = 20  # times K rows are selected by signs, then compared in full

RowKeys = list[tuple[int, int]]


class QueryStats(NamedTuple):
    """Recall and times of a set of queries."""

    recall: float  # of the ten nearest
    median_ms: float
    p95_ms: float


@dataclass(frozen=True)
class IndexMeasurement:
    """Sizes, times and query statistics of a table of ``count`` vectors."""

    count: int
    table_bytes: int
    graph_bytes: int
    rows_bytes: int  # the index by clip
    fill_s: float
    build_s: float
    insert_ms: float  # per vector, of N_INSERTED rows written together
    by_width: dict[int, QueryStats]


@dataclass(frozen=True)
class SignsMeasurement:
    """The same table with a graph of one bit per number."""

    graph_bytes: int
    build_s: float
    query_stats: QueryStats


@dataclass(frozen=True, eq=False)
class IndexServer:
    """A PostgreSQL server with the schema of the library, and the queries to measure."""

    dialect: PostgresDialect
    engine: sa.Engine
    queries: Vectors

    def measure(self, vectors: Vectors, true_rows: NDArray[np.intp], widths: Sequence[int]) -> IndexMeasurement:
        """Fill a table, build its graph and run the queries, all by the code of the library."""
        name = f"n{len(vectors)}"
        table = vector_table(name, vectors.shape[1])
        with self.begin_write() as connection:
            connection.execute(sa.text("CREATE TABLE IF NOT EXISTS clips (id integer PRIMARY KEY)"))
            clips = sa.text("INSERT INTO clips SELECT generate_series(0, :last) ON CONFLICT DO NOTHING")
            connection.execute(clips, {"last": len(vectors) // WINDOWS_PER_CLIP + 1})
            create_table(connection, table, vectors.shape[1])
            fill_s = time_task(lambda: fill_table(connection, table, vectors))
            build_s = time_task(lambda: create_graph(connection, table))
        with self.begin_write() as connection:
            connection.execute(sa.text(f'ANALYZE "{table}"'))
        sizes = [self.relation_bytes(relation) for relation in (table, f"ix_{table}", f"{table}_pkey")]
        by_width = {
            width: self.measure_queries(true_rows, lambda *query: self._find_by_graph(name, *query), width)
            for width in widths
        }
        return IndexMeasurement(len(vectors), *sizes, fill_s, build_s, self._measure_insert_ms(table), by_width)

    def measure_signs(self, table: str, true_rows: NDArray[np.intp], width: int) -> SignsMeasurement:
        """Measure queries that select by signs, then compare in full, on a table of ``measure``."""
        n = self.queries.shape[1]
        signs = f"binary_quantize(vector)::bit({n})"
        graph = f'CREATE INDEX "signs_{table}" ON "{table}" USING hnsw (({signs}) bit_hamming_ops)'
        with self.begin_write() as connection:
            build_s = time_task(lambda: connection.execute(sa.text(graph)))

        def by_signs(connection: sa.Connection, query: Vectors, search_width: int) -> RowKeys:
            connection.execute(sa.text(f"SET LOCAL hnsw.ef_search = {search_width}"))
            statement = sa.text(
                f'SELECT clip_id, window_index FROM (SELECT clip_id, window_index, vector FROM "{table}" ORDER BY '
                f"{signs} <~> binary_quantize(CAST(:query AS halfvec)) LIMIT {SIGNS_CANDIDATE_FACTOR * K}) "
                f"AS candidates ORDER BY vector <-> CAST(:query AS halfvec) LIMIT {K}"
            )
            return [(clip, part) for clip, part in connection.execute(statement, {"query": format_vector(query)})]

        return SignsMeasurement(
            self.relation_bytes(f"signs_{table}"),
            build_s,
            self.measure_queries(true_rows, by_signs, max(width, SIGNS_CANDIDATE_FACTOR * K)),
        )

    def measure_queries(
        self, true_rows: NDArray[np.intp], find_nearest: Callable[[sa.Connection, Vectors, int], RowKeys], width: int
    ) -> QueryStats:
        """Run every query several times and use the fastest run, as other programs may use the machine."""
        times_ms = np.full(len(self.queries), np.inf)
        n_hits = 0
        with self.engine.connect() as connection, connection.begin():
            for _ in range(ROUNDS):
                for k, query in enumerate(self.queries):
                    start = time.perf_counter()
                    keys = find_nearest(connection, query, width)
                    times_ms[k] = min(times_ms[k], 1000 * (time.perf_counter() - start))
                    n_hits += len({clip * WINDOWS_PER_CLIP + part for clip, part in keys} & set(true_rows[k].tolist()))
        return QueryStats(
            n_hits / (ROUNDS * true_rows.size), float(np.median(times_ms)), float(np.quantile(times_ms, 0.95))
        )

    def _find_by_graph(self, name: str, connection: sa.Connection, query: Vectors, width: int) -> RowKeys:
        return self.dialect.vectors.nearest(connection, name, query, NearestQuery(K, width=width))

    def _measure_insert_ms(self, table: str) -> float:
        """Return milliseconds per row of N_INSERTED rows written together, as for a clip; then roll back."""
        indices = np.arange(N_INSERTED)
        rows = self.queries[indices % len(self.queries)]
        with self.begin_write() as connection, connection.begin_nested() as change:
            seconds = time_task(lambda: write_rows(connection, table, 0 * indices, indices + WINDOWS_PER_CLIP, rows))
            change.rollback()
        return 1000 * seconds / len(indices)

    def relation_bytes(self, relation: str) -> int:
        """Return the size of a table or index on disk, in bytes."""
        with self.engine.connect() as connection:
            statement = sa.text("SELECT pg_relation_size(CAST(:name AS regclass))")
            return int(connection.execute(statement, {"name": f'"{relation}"'}).scalar_one())

    @contextmanager
    def begin_write(self) -> Iterator[sa.Connection]:
        """Open a write transaction."""
        with self.engine.connect().execution_options(**self.dialect.write_options) as connection, connection.begin():
            yield connection


@contextmanager
def start_index_server(queries: Vectors) -> Iterator[IndexServer]:
    """Start a real server with enough memory for a graph of a million vectors."""
    with run_server(SETTINGS) as server:
        dialect = PostgresDialect(server.url(), busy_s=60.0)
        engine = dialect.open(create=True)
        try:
            yield IndexServer(dialect, engine, queries)
        finally:
            engine.dispose()


def fill_table(connection: sa.Connection, table: str, vectors: Vectors) -> None:
    for first in range(0, len(vectors), BLOCK_ROWS):
        rows = np.arange(first, min(first + BLOCK_ROWS, len(vectors)))
        write_rows(connection, table, rows // WINDOWS_PER_CLIP, rows % WINDOWS_PER_CLIP, vectors[rows])


def time_task(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start
