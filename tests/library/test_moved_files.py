"""The file of an open library: the same for every connection, or a clear error."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError, OptionError
from keypose.library.library import Library
from support.errors import raises

DEMO = kp.demo_motion(fps=10)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a closed library of one clip."""
    monkeypatch.chdir(tmp_path)
    with Library("clips.db") as library:
        library.add(DEMO[:12], name="walk")
    return tmp_path


def test_a_library_is_independent_of_the_working_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other").mkdir()
    with Library("clips.db") as library:
        monkeypatch.chdir(folder / "other")
        with library._store.database.begin_read():  # so that another connection is made
            assert library.count() == 1
        library.add(DEMO[20:32], name="kick")
    assert not list(Path().iterdir())
    with Library(folder / "clips.db", create=False) as library:
        assert [clip.name for clip in library.clips()] == ["kick", "walk"] and library.verify() == ()


@pytest.mark.parametrize("name", ["file:clips.db", "file:clips.db?mode=memory", "a ?#%20.db"])
def test_file_names_that_look_like_urls_are_file_names(folder: Path, name: str) -> None:
    with Library(name) as library:
        library.add(DEMO[20:32], name="kick")
        assert library.location == name
    assert (folder / name).stat().st_size
    with Library(name, create=False) as library:
        assert [clip.name for clip in library.clips()] == ["kick"]
    with Library("clips.db") as library:
        assert [clip.name for clip in library.clips()] == ["walk"]


def _remove_file() -> None:
    for path in Path().glob("clips.db*"):
        if path.is_file():
            path.unlink()


def _replace_file() -> None:
    shutil.copy("clips.db", "older.db")
    Path("older.db").replace("clips.db")


@pytest.mark.parametrize("happens", [_remove_file, _replace_file])
def test_nothing_is_written_to_a_removed_or_replaced_file(folder: Path, happens: Callable[[], None]) -> None:
    uses: tuple[Callable[[Library], object], ...] = (
        lambda library: library.tag("walk", "lost"),
        lambda library: library.add(DEMO[20:32], name="kick"),
        lambda library: library.search(DEMO[:12]),
        lambda library: library.count(),
    )
    with Library("clips.db") as library:
        assert library.count() == 1
        happens()
        there, blobs = Path("clips.db").exists(), sorted(Path("clips.db.blobs").rglob("*"))
        for _ in range(2):
            for use in uses:
                with raises(FileError, code="library_moved", path="clips.db"):
                    use(library)
            library.close()  # so that another connection would be made
    assert Path("clips.db").exists() == there and sorted(Path("clips.db.blobs").rglob("*")) == blobs
    with Library("clips.db") as library:
        assert library.count() == there and library.tags() == ()


def test_an_invalid_location_leaves_no_file(folder: Path) -> None:
    with raises(OptionError, option="blobs"):
        Library("new.db", blobs=3)  # type: ignore[arg-type]
    assert not list(folder.glob("new.db*"))
