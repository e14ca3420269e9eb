"""A library that is readable and not writable."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError
from keypose.library.library import Library
from support.errors import raises


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Library(tmp_path / "clips.db") as library:
        library.add(replace(kp.demo_motion(fps=10)[:12], name="walk"))
    return tmp_path


def may_only_read(monkeypatch: pytest.MonkeyPatch, library_folder: Path) -> None:
    """Simulate a read-only disk, also for the administrator."""
    access = os.access

    def access_or_deny(path: str | Path, mode: int) -> bool:
        return access(path, mode) and not (mode & os.W_OK and Path(path).is_relative_to(library_folder))

    monkeypatch.setattr(os, "access", access_or_deny)


@pytest.mark.parametrize("is_open_elsewhere", [False, True])
def test_read_only_users_can_list_search_and_verify(
    folder: Path, monkeypatch: pytest.MonkeyPatch, is_open_elsewhere: bool
) -> None:
    other = Library(folder / "clips.db") if is_open_elsewhere else None
    if other is not None:
        other.add(replace(kp.demo_motion(fps=10)[3:15], name="kick"))  # which is in the log alone
    may_only_read(monkeypatch, folder)
    with Library(folder / "clips.db", create=False) as library:
        assert len(library.clips()) == 1 + is_open_elsewhere and library.get("walk").n_frames == 12
        assert library.verify() == ()
        for change in (lambda: library.tag("walk", "new"), lambda: library.verify(fix=True)):
            with raises(FileError, code="read_only"):
                change()
    if other is not None:
        other.close()
    assert not is_open_elsewhere or not (folder / "clips.db-wal").exists()


def test_read_only_users_see_damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    next(path for path in (folder / "clips.db.blobs").glob("??/*")).write_bytes(b"damaged")
    may_only_read(monkeypatch, folder)
    with Library(folder / "clips.db", create=False) as library:
        assert [fault.kind for fault in library.verify()] == ["damaged blob"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only the administrator becomes another user")
def test_another_user_can_read_the_folder(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    program = (
        "import os, sys\n"
        "from keypose.library.library import Library\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "with Library(sys.argv[1], create=False) as library:\n"
        "    print(len(library), library.verify())\n"
    )
    library_folder = folder
    while library_folder != library_folder.parent:
        library_folder.chmod(library_folder.stat().st_mode | 0o111)
        library_folder = library_folder.parent
    ran = subprocess.run([sys.executable, "-c", program, folder / "clips.db"], capture_output=True, text=True)
    assert ran.stdout == "1 ()\n", ran.stderr
