"""The vector index in PostgreSQL: its results equal those of comparing everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

import keypose as kp
from keypose.errors import FormatError
from keypose.library import search_vectors
from keypose.library.db.postgres import PostgresDialect
from keypose.library.db.postgres_vectors import NearestQuery, encode_copy_rows, format_vector, vector_table
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.search import pgvector_index
from keypose.library.search.memory_index import TableReader
from keypose.library.search.part_gallery import PartTrack
from keypose.library.tables import clips
from support.clip_rows import insert_clip
from support.errors import raises
from support.library_cases import DEMO
from support.postgres_server import Server
from support.search_cases import CLIP_FRAMES, as_mixamo, demo_clip, marker_motion, mirror_motion

N_CLIPS, N_PARTS, N_NUMBERS = 40, 30, 12


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    """(clips, windows, numbers): in clusters, like windows of motion."""
    random = np.random.default_rng(5)
    middles = random.normal(size=(N_CLIPS, 1, N_NUMBERS))
    return (middles + 0.5 * random.normal(size=(N_CLIPS, N_PARTS, N_NUMBERS))).astype(np.float32)


@pytest.fixture(scope="module")
def vector_library(
    postgres: Server, tmp_path_factory: pytest.TempPathFactory, vectors: NDArray[np.float32]
) -> Iterator[Library]:
    """A library whose clips have only vectors."""
    with Library(postgres.empty("vectors"), blobs=tmp_path_factory.mktemp("blobs")) as library:
        database = library._store.database
        with database.begin_write() as connection:
            for number in range(N_CLIPS):
                insert_clip(connection, number + 1)
                database.dialect.index_vectors(connection, number + 1, {"some": vectors[number]})
        yield library


def index_of(library: Library) -> PostgresDialect:
    dialect = library._store.database.dialect
    assert isinstance(dialect, PostgresDialect)
    return dialect


def by_comparing_all(
    vectors: NDArray[np.float32],
    query: NDArray[np.float32],
    n: int,
    scales: NDArray[np.float64] | float = 1.0,
    first: int = 0,
) -> list[tuple[int, int]]:
    """Return the nearest rows by comparing all; clips before ``first`` are excluded."""
    away = (((vectors - query) * scales) ** 2).sum(axis=2)
    rows = sorted((away[c, p], c + 1, p) for c in range(first, len(vectors)) for p in range(vectors.shape[1]))
    return [(clip, part) for _, clip, part in rows[:n]]


def test_the_nearest_are_found(vector_library: Library, vectors: NDArray[np.float32]) -> None:
    index = index_of(vector_library).vectors
    n_hits = 0
    with vector_library._store.database.begin_read() as connection:
        connection.execute(sa.text("SET LOCAL enable_seqscan = off"))  # as for a table that is not so small
        for k in range(20):
            query = vectors[k, 0] + np.float32(0.05)
            rows = index.nearest(connection, "some", query, NearestQuery(10))
            assert len(rows) == 10 and rows[0] == (k + 1, 0)
            n_hits += len(set(rows) & set(by_comparing_all(vectors, query, 10)))
        plan = "\n".join(
            connection.scalars(
                sa.text(
                    f"EXPLAIN SELECT clip_id FROM {vector_table('some', N_NUMBERS)} "
                    f"ORDER BY vector <-> CAST('{format_vector(query)}' AS halfvec) LIMIT 5"
                )
            )
        )
        assert f"Index Scan using ix_{vector_table('some', N_NUMBERS)}" in plan
    assert n_hits >= 196  # of 200: half precision may exchange two that are nearly as near


@pytest.mark.parametrize("first", [0, 20, 39])
def test_filtered_queries_return_enough_rows(vector_library: Library, vectors: NDArray[np.float32], first: int) -> None:
    chosen = sa.select(clips.c.id).where(clips.c.duration_s > first)
    with vector_library._store.database.begin_read() as connection:
        for n_rows in (10, N_PARTS * N_CLIPS + 1):
            rows = index_of(vector_library).vectors.nearest(
                connection, "some", vectors[0, 0], NearestQuery(n_rows, chosen)
            )
            expected = by_comparing_all(vectors, vectors[0, 0], n_rows, first=first)
            assert len(rows) == len(expected) and len(set(rows) & set(expected)) >= 0.9 * len(expected)
        none = sa.select(clips.c.id).where(sa.false())
        assert index_of(vector_library).vectors.nearest(connection, "some", vectors[0, 0], NearestQuery(5, none)) == []


def test_scales_are_exact(vector_library: Library, vectors: NDArray[np.float32]) -> None:
    scales = np.array([1.0, 0.0, 2.0] * (N_NUMBERS // 3))
    with vector_library._store.database.begin_read() as connection:
        rows = index_of(vector_library).vectors.nearest(
            connection, "some", vectors[7, 3], NearestQuery(20, None, scales)
        )
    assert rows[0] == (8, 3)
    assert len(set(rows) & set(by_comparing_all(vectors, vectors[7, 3], 20, scales))) >= 19


def test_a_missing_index_finds_nothing_and_names_are_checked(
    vector_library: Library, vectors: NDArray[np.float32]
) -> None:
    index = index_of(vector_library).vectors
    with vector_library._store.database.begin_read() as connection:
        assert index.nearest(connection, "other", vectors[0, 0], NearestQuery(5)) == []
        assert index.nearest(connection, "some", vectors[0, 0, :5], NearestQuery(5)) == []
        for name in ("Some", 'a"; DROP TABLE clips; --', "", "a" * 41):
            with raises(FormatError, expected="1 to 4000, and a name of small letters, digits and _"):
                index.nearest(connection, name, vectors[0, 0], NearestQuery(5))


def test_changed_rows_are_detected(vector_library: Library, vectors: NDArray[np.float32]) -> None:
    dialect, table = index_of(vector_library), vector_table("some", N_NUMBERS)
    mine = {"some": vectors[4]}
    changes = (
        f"DELETE FROM {table} WHERE clip_id = 5 AND window_index = 2",
        f"UPDATE {table} SET vector = '{format_vector(vectors[6, 1])}' WHERE clip_id = 5 AND window_index = 2",
        f"UPDATE {table} SET window_index = 99 WHERE clip_id = 5 AND window_index = 2",
        f"DROP TABLE {table}",
    )
    with vector_library._store.database.begin_write() as connection:
        assert dialect.find_unindexed(connection, 5, mine) == ()
        for change in changes:
            with connection.begin_nested() as nested:
                connection.execute(sa.text(change))
                assert dialect.find_unindexed(connection, 5, mine) == ("some",)
                nested.rollback()


def test_hostile_numbers_are_no_error(vector_library: Library) -> None:
    hostile = np.array([[np.nan] * 4, [np.inf] * 4, [1e30] * 4, [1e-30] * 4, [-7e4] * 4], np.float32)
    dialect = index_of(vector_library)
    with vector_library._store.database.begin_write() as connection, connection.begin_nested() as nested:
        dialect.index_vectors(connection, 1, {"odd": hostile, "none": np.zeros((0, 4), np.float32)})
        rows = dialect.vectors.nearest(connection, "odd", np.zeros(4, np.float32), NearestQuery(9))
        assert sorted(part for _, part in rows) == [2, 3, 4] and rows[0] == (1, 3)
        assert dialect.find_unindexed(connection, 1, {"odd": hostile}) == ()
        nested.rollback()


def test_encoded_rows_are_readable_by_postgres(postgres: Server, vector_library: Library) -> None:
    numbers = np.array([[1.5, -2.0, 0.25], [3.0, 65.0, 1e-3]], np.float32)
    with vector_library._store.database.begin_read() as reading:
        schema = reading.get_execution_options()["schema_of_library"]
    with psycopg.connect(postgres.url(options=f"-csearch_path%3D{schema},public")) as connection:
        connection.execute("CREATE TEMPORARY TABLE t (clip integer, part integer, vector halfvec(3))")
        with connection.cursor().copy("COPY t FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(encode_copy_rows(np.array([7, 8]), np.array([0, 1]), numbers))
        rows = connection.execute("SELECT clip, part, vector::text FROM t ORDER BY 1").fetchall()
    assert [row[:2] for row in rows] == [(7, 0), (8, 1)] and rows[0][2] == "[1.5,-2,0.25]"


# Windows of parts


def test_distances_of_part_windows_match_their_similarity() -> None:
    random = np.random.default_rng(2)
    one = random.normal(size=(10, 40))
    tracks = [
        PartTrack((one * (1 + 0.02 * k) + 0.02 * k * random.normal(size=one.shape)).astype(np.float16), 1.0)
        for k in range(6)
    ]
    windows = [search_vectors.part_windows(track) for track in tracks]
    assert all(window.shape == (1, 81) for window in windows)
    means = [track.vectors.astype(float).reshape(2, 5, -1).mean(axis=1) for track in tracks]
    for window, mean in zip(windows[1:], means[1:], strict=True):
        like = 2 * (mean * means[0]).sum() / ((mean**2).sum() + (means[0] ** 2).sum())
        assert ((window - windows[0]) ** 2).sum() == pytest.approx(2 * (1 - like), rel=0.05, abs=1e-4)


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (9, 1), (10, 1), (11, 2), (15, 2), (16, 3), (100, 19)])
def test_windows_cover_a_track(n: int, expected: int) -> None:
    track = PartTrack(np.ones((n, 40), np.float16), n / 10)
    windows = search_vectors.part_windows(track)
    assert windows.shape == (expected, 81) and np.isfinite(windows).all()
    still = search_vectors.part_windows(PartTrack(np.zeros((n, 40), np.float16), n / 10))
    assert np.isfinite(still).all()


# Searches


@pytest.fixture(scope="module")
def both(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, Library]]:
    """The same clips in SQLite and in PostgreSQL."""
    folder = tmp_path_factory.mktemp("both")
    with Library(folder / "clips.db") as sqlite, Library(postgres.empty("both"), blobs=folder / "bytes") as server:
        for library in (sqlite, server):
            for name in CLIP_FRAMES:
                library.add(demo_clip(name), tags=("demo", name))
            library.add(replace(as_mixamo(DEMO), name="all of it"), tags=("mixamo",))
            library.add(mirror_motion(demo_clip("kick")), tags=("demo",))
            library.add(marker_motion(), tags=("markers",))
        yield sqlite, server


@pytest.mark.parametrize("few", [0, pgvector_index.SCAN_ALL_FACTOR])
@pytest.mark.parametrize(
    "options", [{}, {"tags": ("demo",)}, {"mirrored": False}, {"joints": "arms"}, {"tags": ("none",)}]
)
def test_both_databases_find_the_same(
    both: tuple[Library, Library], monkeypatch: pytest.MonkeyPatch, few: int, options: dict[str, object]
) -> None:
    """``few`` 0: always by the index, however few clips there are."""
    monkeypatch.setattr(pgvector_index, "SCAN_ALL_FACTOR", few)
    query = demo_clip("jump")

    def hits(library: Library) -> list[tuple[object, ...]]:
        rows = (
            *library.search(query, **options),  # type: ignore[arg-type]
            *library.search_part(query, 10, 40, **options),  # type: ignore[arg-type]
            *library.search_pose(query, 20, **options),  # type: ignore[arg-type]
        )
        return [(hit.name, hit.start, hit.end, hit.mirrored, pytest.approx(hit.score, abs=1e-4)) for hit in rows]

    expected = hits(both[0])
    assert hits(both[1]) == expected and bool(expected) == (options != {"tags": ("none",)})


def test_extra_rows_are_requested_for_one_vector_only(
    both: tuple[Library, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of one clip crowd around the first window: only there more are requested."""
    monkeypatch.setattr(pgvector_index, "SCAN_ALL_FACTOR", 0)
    requested: list[int] = []
    original = index_of(both[1]).vectors.nearest

    def nearest(
        connection: sa.Connection, name: str, vector: NDArray[np.float32], query: NearestQuery
    ) -> list[tuple[int, int]]:
        requested.append(query.n_rows)
        if len(requested) == 1:
            return [(1, part) for part in range(query.n_rows)]
        return original(connection, name, vector, query)

    monkeypatch.setattr(index_of(both[1]).vectors, "nearest", nearest)
    assert both[1].search_part(demo_clip("walk"), 0, 90, mirrored=False)
    assert requested[1] == 4 * requested[0] and set(requested[2:]) == {requested[0]}


def test_no_condition_is_added_if_all_clips_are_searchable(both: tuple[Library, Library]) -> None:
    with both[1]._store.database.begin_read() as connection:
        assert TableReader().restrict_to_searchable(connection, None) is None
    library = both[1]
    library.trash("stand")
    with library._store.database.begin_read() as connection:
        assert TableReader().restrict_to_searchable(connection, None) is not None
    library.restore("stand")


def test_a_removed_clip_is_removed_from_the_index(postgres_url: str, tmp_path: Path) -> None:
    with Library(postgres_url, blobs=tmp_path) as library:
        library.add(demo_clip("kick"))
        library.remove("kick")
        with library._store.database.begin_read() as connection:
            tables = index_of(library).vectors.list_tables(connection)
            assert {table.split("_")[1] for table in tables} >= {"parts", "poses"}
            counts = [connection.scalar(sa.text(f'SELECT count(*) FROM "{table}"')) for table in tables]
        assert counts == [0] * len(tables)
        assert library.search(kp.demo_motion(fps=30)) == () and library.verify() == ()


PLANTED = {
    "a vector lost": "DELETE FROM {poses} WHERE window_index = 0",
    "a vector changed": "UPDATE {poses} SET vector = (SELECT vector FROM {poses} WHERE window_index = 1) WHERE window_index = 0",
    "a table lost": "DROP TABLE {poses}",
    "a descriptor damaged": "UPDATE descriptors SET data = substring(data FROM 1 FOR 40)",
    "a descriptor lost": "DELETE FROM descriptors WHERE name = 'poses'",
}


@pytest.mark.parametrize("damage", PLANTED)
def test_damaged_search_data_is_detected_and_rebuilt(
    postgres: Server, postgres_url: str, tmp_path: Path, damage: str
) -> None:
    with Library(postgres_url, blobs=tmp_path) as library:
        library.add(demo_clip("kick"))
        before = library.search_pose(demo_clip("kick"), 5)[0].score
        assert library.verify() == () and before > 0.5
        with library._store.database.begin_write() as connection:
            (poses,) = (name for name in index_of(library).vectors.list_tables(connection) if "poses" in name)
            connection.execute(sa.text(PLANTED[damage].format(poses=poses)))
        assert {fault.kind for fault in library.verify()} == {"analysis"}
        assert library.rebuild() == () and library.verify() == ()
        assert library.search_pose(demo_clip("kick"), 5)[0].score == pytest.approx(before)
