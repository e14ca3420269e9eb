"""One table of vectors on a real server: how large, how long to build, how quick and how right."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from benchmarks.vectors.corpus import Vectors
from numpy.typing import NDArray
from tests.postgres_server import running

from keypose.library.dialects.postgres import PostgresDialect
from keypose.library.dialects.postgres_vectors import Nearness, as_text, make_graph, make_table, table_of, write_rows
from keypose.library.extra import sa

SETTINGS = {
    "shared_buffers": "4GB",
    "maintenance_work_mem": "3GB",
    "max_wal_size": "8GB",
    "effective_cache_size": "12GB",
}  # and fsync is off, as for the tests: nothing waits for the disk
BLOCK = 100_000  # rows put in together
A_CLIP = 100  # windows
N_MORE = 200  # put into the finished graph together, by one COPY
K = 10
ROUNDS = 3
MORE_BY_SIGNS = 20  # times as many rows are taken by signs alone, then compared in full

Pairs = list[tuple[int, int]]


class Asked(NamedTuple):
    """How a set of queries went."""

    recall: float  # of the ten nearest
    middle_ms: float
    p95_ms: float


@dataclass(frozen=True)
class Measured:
    """Of so many vectors."""

    count: int
    table_bytes: int
    graph_bytes: int
    rows_bytes: int  # the index by clip
    fill_s: float
    build_s: float
    insert_ms: float  # of one vector more, of N_MORE that are put in together
    by_width: dict[int, Asked]


@dataclass(frozen=True)
class Signs:
    """The same table with a graph of one bit for each number."""

    graph_bytes: int
    build_s: float
    asked: Asked


@dataclass(frozen=True, eq=False)
class Bench:
    """A server with our schema in it, and what is asked of it."""

    dialect: PostgresDialect
    engine: sa.Engine
    queries: Vectors

    def measure(self, vectors: Vectors, right: NDArray[np.intp], widths: Sequence[int]) -> Measured:
        """Fills a table, builds its graph, asks; all through the code that the library uses."""
        name = f"n{len(vectors)}"
        table = table_of(name, vectors.shape[1])
        with self.writing() as connection:
            connection.execute(sa.text("CREATE TABLE IF NOT EXISTS clips (id integer PRIMARY KEY)"))
            clips = sa.text("INSERT INTO clips SELECT generate_series(0, :last) ON CONFLICT DO NOTHING")
            connection.execute(clips, {"last": len(vectors) // A_CLIP + 1})
            make_table(connection, table, vectors.shape[1])
            fill_s = _seconds(lambda: _fill(connection, table, vectors))
            build_s = _seconds(lambda: make_graph(connection, table))
        with self.writing() as connection:
            connection.execute(sa.text(f'ANALYZE "{table}"'))
        sizes = [self.size(each) for each in (table, f"ix_{table}", f"{table}_pkey")]
        by_width = {width: self.ask(right, lambda *asked: self._by_graph(name, *asked), width) for width in widths}
        return Measured(len(vectors), *sizes, fill_s, build_s, self._insert_ms(table), by_width)

    def measure_signs(self, table: str, right: NDArray[np.intp], width: int) -> Signs:
        """The table of ``measure`` by signs, then in full."""
        n = self.queries.shape[1]
        signs = f"binary_quantize(vector)::bit({n})"
        graph = f'CREATE INDEX "signs_{table}" ON "{table}" USING hnsw (({signs}) bit_hamming_ops)'
        with self.writing() as connection:
            build_s = _seconds(lambda: connection.execute(sa.text(graph)))

        def by_signs(connection: sa.Connection, query: Vectors, at: int) -> Pairs:
            connection.execute(sa.text(f"SET LOCAL hnsw.ef_search = {at}"))
            asked = sa.text(
                f'SELECT clip, part FROM (SELECT clip, part, vector FROM "{table}" ORDER BY '
                f"{signs} <~> binary_quantize(CAST(:query AS halfvec)) LIMIT {MORE_BY_SIGNS * K}) "
                f"AS candidates ORDER BY vector <-> CAST(:query AS halfvec) LIMIT {K}"
            )
            return [(clip, part) for clip, part in connection.execute(asked, {"query": as_text(query)})]

        return Signs(self.size(f"signs_{table}"), build_s, self.ask(right, by_signs, max(width, MORE_BY_SIGNS * K)))

    def ask(self, right: NDArray[np.intp], find: Callable[[sa.Connection, Vectors, int], Pairs], width: int) -> Asked:
        """Every query several times; the best of them counts, as others may use the machine."""
        took = np.full(len(self.queries), np.inf)
        held = 0
        with self.engine.connect() as connection, connection.begin():
            for _ in range(ROUNDS):
                for k, query in enumerate(self.queries):
                    start = time.perf_counter()
                    found = find(connection, query, width)
                    took[k] = min(took[k], 1000 * (time.perf_counter() - start))
                    held += len({clip * A_CLIP + part for clip, part in found} & set(right[k].tolist()))
        return Asked(held / (ROUNDS * right.size), float(np.median(took)), float(np.quantile(took, 0.95)))

    def _by_graph(self, name: str, connection: sa.Connection, query: Vectors, width: int) -> Pairs:
        return self.dialect.vectors.nearest(connection, name, query, Nearness(K, width=width))

    def _insert_ms(self, table: str) -> float:
        """Milliseconds for each of N_MORE rows that come together, as the rows of a clip do; they are taken back."""
        more = np.arange(N_MORE)
        rows = self.queries[more % len(self.queries)]
        with self.writing() as connection, connection.begin_nested() as change:
            took_s = _seconds(lambda: write_rows(connection, table, 0 * more, more + A_CLIP, rows))
            change.rollback()
        return 1000 * took_s / len(more)

    def size(self, relation: str) -> int:
        """Bytes on the disk."""
        with self.engine.connect() as connection:
            asked = sa.text("SELECT pg_relation_size(CAST(:name AS regclass))")
            return int(connection.execute(asked, {"name": f'"{relation}"'}).scalar_one())

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction."""
        with self.engine.connect().execution_options(**self.dialect.writing) as connection, connection.begin():
            yield connection


@contextmanager
def bench(queries: Vectors) -> Iterator[Bench]:
    """A real server with the memory that a graph of a million needs."""
    with running(SETTINGS) as started:
        dialect = PostgresDialect(started.url(), busy_s=60.0)
        engine = dialect.open(create=True)
        try:
            yield Bench(dialect, engine, queries)
        finally:
            engine.dispose()


def _fill(connection: sa.Connection, table: str, vectors: Vectors) -> None:
    for first in range(0, len(vectors), BLOCK):
        rows = np.arange(first, min(first + BLOCK, len(vectors)))
        write_rows(connection, table, rows // A_CLIP, rows % A_CLIP, vectors[rows])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
