"""What verify sees of the database itself, while others write; and libraries of older versions."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library import migrations
from keypose.library.dialects.sqlite import SqliteDialect
from keypose.library.extra import sa
from keypose.library.library import Library
from postgres_server import Server

N_CLIPS = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of three clips."""
    folder = tmp_path_factory.mktemp("library")
    motion = kp.demo_motion(fps=10)
    with Library(folder / "clips.db") as library:
        for start in range(N_CLIPS):
            library.add(replace(motion[start : start + 12], name=f"take_{start}"), tags=("some", f"tag{start}"))
            library.add(replace(motion[start : start + 12], name=f"other {start}"))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


MARKS = {
    "made at another time": "UPDATE keypose_library SET made_at = '2020' || substr(made_at, 5)",
    "made at no time": "UPDATE keypose_library SET made_at = 'soon'",
    "made in no zone": "UPDATE keypose_library SET made_at = '2026-01-01'",
    "another count of changes": "UPDATE keypose_library SET changes = changes + 1",
    "another twin": "UPDATE keypose_library_twin SET made_at = made_at || ' '",
    "no twin": "DELETE FROM keypose_library_twin",
    "two twins": "INSERT INTO keypose_library_twin SELECT * FROM keypose_library_twin",
}


@pytest.mark.parametrize("mark", MARKS)
def test_what_a_library_says_of_itself_is_checked_and_mended_by_rebuild(folder: Path, mark: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute(MARKS[mark])
    with Library(folder / "clips.db") as library:
        assert {fault.kind for fault in library.verify()} == {"database"}
        assert "rebuild() makes it sound" in library.verify()[0].says
        assert library.rebuild() == () and library.verify() == ()
        library.tag("take_0", "more")
        assert library.verify() == ()


@pytest.mark.parametrize("mend", ["fix", "rebuild"])
def test_indexes_that_are_gone_are_noticed_and_made_again(folder: Path, mend: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection:
        gone = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'ix_%'")]
        for name in gone:
            connection.execute(f"DROP INDEX {name}")
    assert len(gone) > 5 and "ix_analyses_version" in gone
    with Library(folder / "clips.db") as library:
        found = library.verify()
        assert {fault.kind for fault in found} == {"database"} and len(found) == len(gone)
        assert "the index ix_" in found[0].says and "verify(fix=True) makes it again" in found[0].says
        if mend == "fix":
            assert all(fault.fixed for fault in library.verify(fix=True))
        else:
            assert library.rebuild() == ()
        assert library.verify() == ()


def test_others_write_while_a_library_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While hashes of rows and of bytes are read; what they add and remove meanwhile is no fault."""
    with Library(folder / "clips.db") as library, Library(folder / "clips.db", busy_s=0.05) as other:
        dialect, blobs = library._store.database.dialect, library._store.blobs
        problems, read = dialect.problems, blobs.read
        turns = iter(range(99))

        def meanwhile() -> None:
            name = f"meanwhile {next(turns)}"
            other.add(kp.demo_motion(fps=10)[next(turns) : 9 + next(turns)], name=name)
            other.tag(name, "new")
            other.remove(name)

        def checked(connection: sa.Connection) -> Iterator[str]:
            meanwhile()
            yield from problems(connection)

        def read_blob(digest: str, n_bytes: int = 0) -> bytes:
            meanwhile()
            if len(other) == N_CLIPS:
                other.remove(next(clip.name for clip in other if clip.blob == digest))
            return read(digest)

        monkeypatch.setattr(dialect, "problems", checked)
        monkeypatch.setattr(blobs, "read", read_blob)
        assert library.verify() == ()
        assert len(library) == N_CLIPS - 1


def test_a_library_of_version_1_is_brought_up_to_date(folder: Path, tmp_path: Path) -> None:
    """The oldest tables there are, with clips of today in them."""
    old = tmp_path / "old"
    with Library(folder / "clips.db") as library:
        library.add(replace(kp.demo_motion(fps=30)[260:360], name="kick"))  # with swings by which it is found
    shutil.copytree(folder, old)
    (old / "clips.db").unlink()
    with contextlib.suppress(FileNotFoundError):
        (old / "clips.db-wal").unlink()
    dialect = SqliteDialect(old / "clips.db", 1.0)
    engine = dialect.open(create=True)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        migrations.migrate(connection, dialect, "clips.db", migrations.MIGRATIONS[:1])
        assert migrations.version_of(connection) == 1
    engine.dispose()
    with Library(folder / "clips.db") as library:
        before, facets = library.clips(), library.facets()
    with contextlib.closing(sqlite3.connect(old / "clips.db")) as connection, connection:
        connection.execute("DROP INDEX ix_analyses_version")
        connection.execute("ATTACH ? AS whole", (str(folder / "clips.db"),))
        for table in ("blobs", "clips", "names", "tags", "analyses", "key_poses", "swings", "descriptors"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM whole.{table}")
        connection.execute("INSERT INTO words (rowid, text) SELECT rowid, text FROM whole.words")
    with Library(old / "clips.db") as library:
        with library._store.database.reading() as connection:
            assert migrations.version_of(connection) == len(migrations.MIGRATIONS)
        assert library.clips() == before and library.verify() == ()
        assert library.facets() == facets and facets.parts
        library.throw_away("take_0")
        assert len(library) == len(before) - 1


def test_indexes_of_postgres_are_noticed_and_made_again(postgres: Server, postgres_url: str, tmp_path: Path) -> None:
    with Library(postgres_url, blobs=tmp_path) as library:
        library.add(replace(kp.demo_motion(fps=30)[:60], name="take"))
        with library._store.database.writing() as connection:
            named = sa.text(
                "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname ~ '^ix_'"
            )
            gone = list(connection.scalars(named))
            for name in gone:
                connection.execute(sa.text(f'DROP INDEX "{name}"'))
        assert {"ix_words_text", "ix_analyses_version"} < set(gone) and any("near_poses" in name for name in gone)
        assert len(library.verify()) == len(gone) and all(fault.fixed for fault in library.verify(fix=True))
        assert library.verify() == ()
