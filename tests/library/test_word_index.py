"""The word index, damaged in every way: detected, and rebuilt."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.extra import sa
from keypose.library.library import Library


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    with Library(folder / "clips.db") as library:
        for start in range(2):
            library.add(replace(kp.demo_motion(fps=10)[start : start + 12], name=f"take_{start}"))
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "copy"))


DAMAGE = (
    "DELETE FROM words_docsize",
    "UPDATE words_data SET block = x'00'",
    "DELETE FROM words_content",
    "DROP TABLE words_idx",
    "DROP TABLE words_content",
    "DROP TABLE words",
    "DELETE FROM words_data",
    "DROP TABLE words_config",
    "DELETE FROM words_config",
)


@pytest.mark.parametrize("mend", ["fix", "rebuild"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_word_index_is_detected_and_rebuilt(folder: Path, damage: str, mend: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute(damage)
    with Library(folder / "clips.db") as library:
        assert {fault.kind for fault in library.verify()} == {"words"}
        if mend == "fix":
            assert all(fault.fixed for fault in library.verify(fix=True))
        else:
            assert library.rebuild() == ()
        assert library.verify() == () and len(library.clips("take")) == 2
        library.rename("take_0", "walk")
        assert len(library.clips("walk")) == 1


def test_an_interrupted_rebuild_leaves_the_word_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keypose.library.rebuild.repair_rows", dies)
    with Library(folder / "clips.db") as library:
        with pytest.raises(KeyboardInterrupt):
            library.rebuild()
        assert len(library.clips("take")) == 2 and library.verify() == ()


def test_clips_are_found_during_a_rebuild(postgres_url: str, tmp_path: Path) -> None:
    """By words and by vectors, at every moment, and without a deadlock."""
    motion = kp.demo_motion(fps=30)
    with Library(postgres_url, blobs=tmp_path / "bytes") as library, Library(postgres_url) as other:
        for start in range(4):
            library.add(replace(motion[30 * start : 30 * start + 60], name=f"take_{start}"))
        is_over = threading.Event()
        counts: list[tuple[int, int]] = []

        def search() -> None:
            while not is_over.is_set():
                counts.append((len(other.clips("take")), len(other.search_pose(motion, 40, deduplicate=False))))

        thread = threading.Thread(target=search)
        thread.start()
        try:
            for _ in range(3):
                assert library.rebuild() == ()
        finally:
            is_over.set()
            thread.join()
        assert len(counts) > 3 and set(counts) == {(4, 4)} and library.verify() == ()


def test_a_lost_word_table_is_recreated_in_postgres(postgres_url: str, tmp_path: Path) -> None:
    with Library(postgres_url, blobs=tmp_path / "bytes") as library:
        library.add(replace(kp.demo_motion(fps=10)[:12], name="take"))
        with library._store.database.begin_write() as connection:
            connection.execute(sa.text("DROP TABLE words"))
        assert "words" in {fault.kind for fault in library.verify()}
        assert all(fault.fixed for fault in library.verify(fix=True)) and library.verify() == ()
        assert len(library.clips("take")) == 1
