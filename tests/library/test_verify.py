"""Verification of the database itself, while others write."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.records import rebuild_hint, verify_hint
from support.postgres_server import Server

N_CLIPS = 3


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of three clips."""
    folder = tmp_path_factory.mktemp("library")
    motion = kp.demo_motion(fps=10)
    with Library(folder / "clips.db") as library:
        for start in range(N_CLIPS):
            library.add(replace(motion[start : start + 12], name=f"take_{start}"), tags=("some", f"tag{start}"))
            library.add(replace(motion[start : start + 12], name=f"other {start}"))
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "copy"))


MARKS = {
    "made at another time": "UPDATE keypose_library_info SET created_at = '2020' || substr(created_at, 5)",
    "made at no time": "UPDATE keypose_library_info SET created_at = 'soon'",
    "made in no zone": "UPDATE keypose_library_info SET created_at = '2026-01-01'",
    "another count of changes": "UPDATE keypose_library_info SET changes = changes + 1",
    "another twin": "UPDATE keypose_library_info_copy SET created_at = created_at || ' '",
    "no twin": "DELETE FROM keypose_library_info_copy",
    "two twins": "INSERT INTO keypose_library_info_copy SELECT * FROM keypose_library_info_copy",
}


@pytest.mark.parametrize("mark", MARKS)
def test_damaged_library_info_is_detected_and_repaired_by_rebuild(folder: Path, mark: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute(MARKS[mark])
    with Library(folder / "clips.db") as library:
        assert {fault.kind for fault in library.verify()} == {"database"}
        assert library.verify()[0].hint == rebuild_hint("repairs it")
        assert library.rebuild() == () and library.verify() == ()
        library.tag("take_0", "more")
        assert library.verify() == ()


@pytest.mark.parametrize("mend", ["fix", "rebuild"])
def test_missing_indexes_are_detected_and_recreated(folder: Path, mend: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection:
        missing = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'ix_%'")]
        for name in missing:
            connection.execute(f"DROP INDEX {name}")
    assert len(missing) > 5 and "ix_analyses_version" in missing
    with Library(folder / "clips.db") as library:
        faults = library.verify()
        assert {fault.kind for fault in faults} == {"database"} and len(faults) == len(missing)
        assert {fault.hint for fault in faults} == {verify_hint("makes it again")}
        if mend == "fix":
            assert all(fault.fixed for fault in library.verify(fix=True))
        else:
            assert library.rebuild() == ()
        assert library.verify() == ()


def test_others_write_while_a_library_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of others while rows and blobs are read are no faults."""
    with Library(folder / "clips.db") as library, Library(folder / "clips.db", busy_s=0.05) as other:
        dialect, blobs = library._store.database.dialect, library._store.blobs
        problems, read = dialect.find_problems, blobs.read
        numbers = iter(range(99))

        def meanwhile() -> None:
            name = f"meanwhile {next(numbers)}"
            other.add(kp.demo_motion(fps=10)[next(numbers) : 9 + next(numbers)], name=name)
            other.tag(name, "new")
            other.remove(name)

        def check_meanwhile(connection: sa.Connection) -> Iterator[str]:
            meanwhile()
            yield from problems(connection)

        def read_blob(digest: str, n_bytes: int = 0) -> bytes:
            meanwhile()
            if len(other) == N_CLIPS:
                other.remove(next(clip.name for clip in other if clip.blob == digest))
            return read(digest)

        monkeypatch.setattr(dialect, "find_problems", check_meanwhile)
        monkeypatch.setattr(blobs, "read", read_blob)
        assert library.verify() == ()
        assert len(library) == N_CLIPS - 1


def test_missing_indexes_of_postgres_are_detected_and_recreated(
    postgres: Server, postgres_url: str, tmp_path: Path
) -> None:
    with Library(postgres_url, blobs=tmp_path) as library:
        library.add(replace(kp.demo_motion(fps=30)[:60], name="take"))
        with library._store.database.begin_write() as connection:
            statement = sa.text(
                "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname ~ '^ix_'"
            )
            missing = list(connection.scalars(statement))
            for name in missing:
                connection.execute(sa.text(f'DROP INDEX "{name}"'))
        assert {"ix_words_text", "ix_analyses_version"} < set(missing) and any(
            "vectors_poses" in name for name in missing
        )
        assert len(library.verify()) == len(missing) and all(fault.fixed for fault in library.verify(fix=True))
        assert library.verify() == ()
