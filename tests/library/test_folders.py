"""Ingest of folders that cannot be listed, and cyclic links."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.batch.file_discovery import discover_clips
from keypose.library.library import Library


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("takes")
    motion = kp.demo_motion(fps=10)
    for start, name in enumerate(("one", "a/two", "a/deep/three", "b[1]/four", ".hidden/five")):
        path = folder / f"{name}.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        kp.save(motion[start : start + 12], path)
    (folder / "a" / "deep" / "notes.txt").touch()
    return folder


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Simulate a folder without permission to list it, also for the administrator."""
    scandir = os.scandir

    def scandir_or_fail(path: Any = ".") -> Iterator[os.DirEntry[str]]:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scandir_or_fail)


def test_an_unlistable_folder_does_not_stop_the_others(
    takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, takes / "a" / "deep")
    inputs = discover_clips([str(takes)])
    assert [file.relative.as_posix() for file in inputs.files] == ["one.bvh", "a/two.bvh", "b[1]/four.bvh"]
    assert [str(problem) for problem in inputs.problems] == [f"{takes}/a/deep: cannot be listed (Permission denied)"]
    with Library(tmp_path / "clips.db") as library:
        report = library.add(takes, jobs=1)
        assert len(report.added) == 3 and ["cannot be listed" in failure.message for failure in report.failures] == [
            True
        ]


@pytest.mark.parametrize(
    ("pattern", "names"),
    {
        "**/*.bvh": ["a/deep/three", "a/two", "b[1]/four", "one"],
        "**": ["a/deep/three", "a/two", "b[1]/four", "one"],
        "a/**/*.bvh": ["deep/three", "two"],
        "*/**/*.bvh": ["a/deep/three", "a/two", "b[1]/four"],
        "**/deep/**/t*": ["a/deep/three"],
        "**/*.txt": ["a/deep/notes.txt"],
        "*": ["a/deep/three", "a/two", "b[1]/four", "one"],
    }.items(),
)
def test_patterns_terminate_on_cyclic_links(takes: Path, tmp_path: Path, pattern: str, names: list[str]) -> None:
    folder = shutil.copytree(takes, tmp_path / "takes")
    for place in (folder, folder / "a", folder / "a" / "deep", folder / "b[1]"):
        for n in range(3):
            (place / f"up{n}").symlink_to(folder)
    linked = pattern == "*"  # a folder that matches a pattern counts as given
    inputs = discover_clips([f"{folder}/{pattern}"])
    names_found = sorted(file.relative.as_posix().removesuffix(".bvh") for file in inputs.files)
    assert [name for name in names_found if not name.startswith("up")] == names and not inputs.problems
    assert linked or names_found == names
