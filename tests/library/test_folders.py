"""Folders that are added: what cannot be listed in them, and links that lead back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.batch.inputs import expand
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
    """What the system says to a user who may not list a folder; to the administrator it never does."""
    scandir = os.scandir

    def refused(path: Any = ".") -> Iterator[os.DirEntry[str]]:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)


def test_a_folder_that_cannot_be_listed_keeps_no_other_out(
    takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, takes / "a" / "deep")
    found = expand([str(takes)])
    assert [file.relative.as_posix() for file in found.files] == ["one.bvh", "a/two.bvh", "b[1]/four.bvh"]
    assert [str(problem) for problem in found.problems] == [f"{takes}/a/deep: cannot be listed (Permission denied)"]
    with Library(tmp_path / "clips.db") as library:
        done = library.add(takes, jobs=1)
        assert len(done.clips) == 3 and ["cannot be listed" in failed.says for failed in done.failures] == [True]


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
def test_patterns_end_where_links_lead_back(takes: Path, tmp_path: Path, pattern: str, names: list[str]) -> None:
    folder = shutil.copytree(takes, tmp_path / "takes")
    for place in (folder, folder / "a", folder / "a" / "deep", folder / "b[1]"):
        for n in range(3):
            (place / f"up{n}").symlink_to(folder)
    linked = pattern == "*"  # a folder that is named by a pattern is one that was named
    found = expand([f"{folder}/{pattern}"])
    said = sorted(file.relative.as_posix().removesuffix(".bvh") for file in found.files)
    assert [name for name in said if not name.startswith("up")] == names and not found.problems
    assert linked or said == names
