"""The index of vectors: for each descriptor a table of half precision vectors under a graph of near ones (HNSW)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.errors import FormatError
from keypose.library.dialects.base import Vectors
from keypose.library.dialects.postgres_extra import psycopg
from keypose.library.dialects.postgres_setup import Server
from keypose.library.extra import sa

# Measured by benchmarks/vectors on a million windows.
LINKS = 24  # of each vector to near ones ("m")
BUILD_WIDTH = 100  # candidates looked at for them ("ef_construction")
WIDTH = 600  # candidates that a search holds ("ef_search")
MOST_WIDTH = 1000  # that pgvector allows
PREFIX = "near_"
MOST_NUMBERS = 4000  # of a vector that HNSW can index in half precision
GREATEST = 60_000.0  # half precision ends at 65504
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TAIL = b"\xff\xff"

Halves = NDArray[np.float16]


def table_of(descriptor: str, n_numbers: int) -> str:
    """The table for vectors of this descriptor and length; another version of it may have another length."""
    if not _NAME.fullmatch(descriptor) or not 0 < n_numbers <= MOST_NUMBERS:
        raise FormatError(descriptor[:80], f"vectors of {n_numbers} numbers, expected 1 to {MOST_NUMBERS}, and a name "
                                           "of small letters, digits and _")  # fmt: skip
    return f"{PREFIX}{descriptor}_{n_numbers}"


def halves(vectors: Vectors) -> Halves:
    """Vectors as they are indexed; those that are not numbers are near nothing and left out by ``copy_rows``."""
    return np.clip(vectors, -GREATEST, GREATEST).astype(np.float16)


def as_text(vector: NDArray[np.floating[Any]]) -> str:
    """A vector (D,) as pgvector reads it."""
    return "[" + ",".join(map(str, np.clip(vector, -GREATEST, GREATEST).astype(np.float32).tolist())) + "]"


def copy_rows(clips: NDArray[np.integer[Any]], parts: NDArray[np.integer[Any]], vectors: Vectors) -> bytes:
    """Rows (clip, part, vector) in the binary format of COPY."""
    kept = np.isfinite(vectors).all(axis=1)
    n_numbers = vectors.shape[1]
    layout = [("fields", ">i2"), ("clip_size", ">i4"), ("clip", ">i4"), ("part_size", ">i4"), ("part", ">i4"),
              ("size", ">i4"), ("length", ">i2"), ("zero", ">i2"), ("vector", ">f2", (n_numbers,))]  # fmt: skip
    rows = np.zeros(int(kept.sum()), layout)
    rows["fields"], rows["clip_size"], rows["part_size"] = 3, 4, 4
    rows["clip"], rows["part"] = clips[kept], parts[kept]
    rows["size"], rows["length"] = 4 + 2 * n_numbers, n_numbers
    rows["vector"] = halves(vectors[kept])
    return _COPY_HEAD + rows.tobytes() + _COPY_TAIL


class HalfVector(sa.types.UserDefinedType[Any]):
    """The type of pgvector for vectors in half precision."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Its name."""
        return "halfvec"


@dataclass(frozen=True, eq=False)
class Nearness:
    """What of the nearest rows is wanted."""

    rows: int
    chosen: Any = None  # a question for the numbers of the clips that may be found; None: all
    scales: NDArray[np.floating[Any]] | None = None  # (D,) by which all numbers are multiplied first; None: 1
    width: int | None = None  # how many candidates a search holds ("ef_search"); None: enough for good recall


class VectorIndex:
    """The tables ``near_...`` of one schema."""

    server: Server

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def tables(self, connection: sa.Connection) -> list[str]:
        """Those that there are."""
        found = sa.text(
            "SELECT tablename FROM pg_tables WHERE schemaname = :schema AND starts_with(tablename, :prefix) ORDER BY 1"
        )
        return [str(name) for name in connection.scalars(found, {"schema": self.schema, "prefix": PREFIX})]

    def graphs(self, connection: sa.Connection) -> dict[str, sa.TextClause]:
        """The names of the graphs that they should have, each with what makes it."""
        return {f"ix_{table}": _graph(table) for table in self.tables(connection)}

    def drop(self, connection: sa.Connection) -> None:
        """Drops them all."""
        for table in self.tables(connection):
            connection.execute(sa.text(f'DROP TABLE "{table}"'))

    def put(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> None:
        """The rows of a clip, in place of all that it had."""
        there = set(self.tables(connection))
        for table in there:
            connection.execute(sa.text(f'DELETE FROM "{table}" WHERE clip = :clip'), {"clip": clip})
        for descriptor, rows in vectors.items():
            table = table_of(descriptor, rows.shape[1])
            if table not in there:
                make_table(connection, table, rows.shape[1])
                make_graph(connection, table)
            write_rows(connection, table, np.full(len(rows), clip), np.arange(len(rows)), rows)

    def nearest(
        self, connection: sa.Connection, descriptor: str, vector: Vectors, wanted: Nearness
    ) -> list[tuple[int, int]]:
        """(clip, part) of the rows nearest to ``vector`` (D,), the nearest first; fewer if there are no more.

        Nearly always the very nearest, by the graph; exact where ``scales`` are given, or where the graph ran out.
        """
        table = table_of(descriptor, vector.shape[-1])
        if not self._made_ready(connection, table, wanted):
            return []
        if wanted.scales is None:
            found = _rows(connection, table, vector, wanted, by_graph=True)
            if len(found) == wanted.rows:
                return found
        return _rows(connection, table, vector, wanted, by_graph=False)

    def _made_ready(self, connection: sa.Connection, table: str, wanted: Nearness) -> bool:
        """Whether there is such a table; for this transaction, how the graph is searched."""
        width = wanted.width or min(max(WIDTH, 2 * wanted.rows), MOST_WIDTH)
        settings = {"hnsw.ef_search": str(width)}
        if self.server.scans_on:
            settings["hnsw.iterative_scan"] = "strict_order"
        asked = sa.select(
            sa.func.to_regclass(f'"{self.schema}"."{table}"').is_not(None),
            *(sa.func.set_config(name, value, True) for name, value in settings.items()),
        )
        return bool(connection.execute(asked).one()[0])

    def unlike(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> tuple[str, ...]:
        """The descriptors whose rows are not those of ``vectors``."""
        there = set(self.tables(connection))
        return tuple(
            descriptor
            for descriptor, rows in vectors.items()
            if (table := table_of(descriptor, rows.shape[1])) not in there or not _holds(connection, table, clip, rows)
        )


def make_table(connection: sa.Connection, table: str, n_numbers: int) -> None:
    """An empty table, without a graph: many rows are put in quicker before there is one."""
    connection.execute(
        sa.text(
            f'CREATE TABLE "{table}" (clip integer NOT NULL REFERENCES clips (id) ON DELETE CASCADE, '
            f"part integer NOT NULL, vector halfvec({n_numbers}) NOT NULL, PRIMARY KEY (clip, part))"
        )
    )


def make_graph(connection: sa.Connection, table: str, links: int = LINKS, build_width: int = BUILD_WIDTH) -> None:
    """The graph of near vectors by Euclidean distance."""
    connection.execute(_graph(table, links, build_width))


def _graph(table: str, links: int = LINKS, build_width: int = BUILD_WIDTH) -> sa.TextClause:
    return sa.text(
        f'CREATE INDEX "ix_{table}" ON "{table}" USING hnsw (vector halfvec_l2_ops) '
        f"WITH (m = {links}, ef_construction = {build_width})"
    )


def write_rows(
    connection: sa.Connection,
    table: str,
    clips: NDArray[np.integer[Any]],
    parts: NDArray[np.integer[Any]],
    vectors: Vectors,
) -> None:
    """Puts rows in, in the transaction of ``connection``."""
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    with driver.cursor() as cursor, cursor.copy(f'COPY "{table}" FROM STDIN (FORMAT BINARY)') as copy:
        copy.write(copy_rows(clips, parts, vectors))


def _rows(
    connection: sa.Connection, table: str, vector: Vectors, wanted: Nearness, *, by_graph: bool
) -> list[tuple[int, int]]:
    near = sa.table(
        table, sa.column("clip", sa.Integer), sa.column("part", sa.Integer), sa.column("vector", HalfVector)
    )
    mine: sa.ColumnElement[Any] = near.c.vector
    if wanted.scales is not None:
        mine = mine.op("*")(_half(wanted.scales))
        vector = vector * wanted.scales
    away: sa.ColumnElement[float] = mine.op("<->", return_type=sa.Float())(_half(vector))
    if not by_graph:
        away = away + 0.0  # which no index is for
    asked = sa.select(near.c.clip, near.c.part).order_by(away, *(() if by_graph else (near.c.clip, near.c.part)))
    if wanted.chosen is not None:
        asked = asked.where(near.c.clip.in_(wanted.chosen))
    return [(int(clip), int(part)) for clip, part in connection.execute(asked.limit(wanted.rows))]


def _half(vector: NDArray[np.floating[Any]]) -> sa.ColumnElement[Any]:
    return sa.cast(sa.literal(as_text(vector), sa.Text()), HalfVector())


def _holds(connection: sa.Connection, table: str, clip: int, rows: Vectors) -> bool:
    wanted = halves(rows)
    found = connection.execute(
        sa.text(f'SELECT part, CAST(vector AS text) FROM "{table}" WHERE clip = :clip ORDER BY part'), {"clip": clip}
    ).all()
    kept = np.flatnonzero(np.isfinite(rows).all(axis=1))
    if [part for part, _ in found] != kept.tolist():
        return False
    there = np.array([np.fromstring(text[1:-1], np.float32, sep=",") for _, text in found]).astype(np.float16)
    return np.array_equal(there.reshape(len(kept), rows.shape[1]), wanted[kept])
