"""docs/library.md: examples and commands run in the given order, and its numbers are right."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import run
from keypose.cli.library_options import DEFAULT_LIBRARY, LIBRARY_VARIABLE
from keypose.cli.library_search_page import MAX_SPAN_STRIPS
from keypose.library.library import BUSY_S
from keypose.library.results_page import MAX_HITS, MAX_STRIPS

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text()


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(LIBRARY_VARIABLE, raising=False)
    return tmp_path


def test_every_command_runs(work_folder: Path) -> None:
    demo = kp.demo_motion(fps=20)
    for folder in (work_folder / "takes", work_folder):
        folder.mkdir(exist_ok=True)
        kp.save(demo[20:80], folder / "walk.bvh")
        kp.save(demo[180:240], folder / "kick.bvh")
    commands = [shlex.split(line) for line in re.findall(r"^    keypose (.*)$", PAGE, re.M)]
    assert {command[1] for command in commands} == {
        *(
            "add",
            "list",
            "search",
            "show",
            "tag",
            "rename",
            "describe",
            "remove",
            "export",
            "stats",
            "verify",
            "rebuild",
        )
    }
    for command in commands:
        assert run(command) == 0, command
    with kp.Library(DEFAULT_LIBRARY) as library:
        assert [(clip.name, clip.tags) for clip in library] == [("walk, slow", ("reviewed",))]
    assert [path.name for path in Path("out").iterdir()] == ["walk,_slow.bvh"]
    assert Path("results.html").is_file() and Path("walk.svg").is_file()


def test_the_example_runs(capfd: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names: dict[str, object] = {}
    exec(compile(example, "docs/library.md", "exec"), names)
    assert capfd.readouterr().out.splitlines()[:2] == ["1 1 ()", "demo-kick 3.0 ()"]
    assert names["poses"][0].name == "demo-kick"  # type: ignore[index]
    assert 0 < names["found"].n_frames <= 90  # type: ignore[attr-defined]


def test_its_numbers_are_right() -> None:
    assert f"at most {MAX_HITS:,} hits, the first {MAX_STRIPS} with pictures" in PAGE
    assert f"For a part or a pose, the first {MAX_SPAN_STRIPS} hits" in PAGE
    assert f"writers wait for each other, {BUSY_S:g} seconds at most" in PAGE
    assert f"`{LIBRARY_VARIABLE}`" in PAGE and f"`{DEFAULT_LIBRARY}`" in PAGE


def test_a_backup_made_in_that_order_loses_nothing(work_folder: Path) -> None:
    """Back up the database first, then the bytes; a clip added in between is restored."""
    demo = kp.demo_motion(fps=20)
    (work_folder / "copy").mkdir()
    with kp.Library(DEFAULT_LIBRARY) as library:
        library.add(demo[20:50], name="walk")
        with closing(sqlite3.connect(DEFAULT_LIBRARY)) as ours, closing(sqlite3.connect("copy/clips.db")) as theirs:
            ours.backup(theirs)
        library.add(demo[180:210], name="kick")
        shutil.copytree("clips.db.blobs", "copy/clips.db.blobs")
    with kp.Library("copy/clips.db") as copy:
        assert [fault.kind for fault in copy.verify()] == ["orphan blob"]
        assert copy.rebuild() == () and copy.verify() == ()
        assert len(copy) == 2 and copy.get("walk").n_frames == 30
