"""Temporary folders of a server: private, locked, created again if removed, and removed at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from keypose.server import temp_dirs as module
from keypose.server.app_state import AppState
from keypose.server.error_responses import DiskFull
from keypose.server.settings import Settings
from keypose.server.temp_dirs import TempDir, make_private_dir, remove_all, temp_dir

PREFIX = "keypose-test-"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_stale_folders_are_removed(temporary: Path) -> None:
    stale, other, linked = temporary / f"{PREFIX}left", temporary / "keypose-else", temporary / f"{PREFIX}link"
    stale.mkdir()
    other.mkdir()
    (stale / "upload").write_bytes(b"x")
    linked.symlink_to(other)
    with temp_dir(PREFIX) as first, temp_dir(PREFIX) as second:
        assert not stale.exists() and other.is_dir() and linked.is_symlink()
        assert first.path.is_dir() and second.path.is_dir() and first.path != second.path
        assert first.path.stat().st_mode & 0o777 == 0o700
    assert set(temporary.iterdir()) == {other, linked}


def test_removed_folder_is_created_again(temporary: Path) -> None:
    with temp_dir(PREFIX) as first:
        for _ in range(2):
            shutil.rmtree(first.path)
            assert first.ensure_path() == first.path and first.path.stat().st_mode & 0o777 == 0o700
            TempDir(PREFIX).remove()
            assert first.path.is_dir()
    assert list(temporary.iterdir()) == []


def test_upload_path_after_removal(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with temp_dir(PREFIX) as folder:
        state = AppState(Settings("none.db"), None, folder)  # type: ignore[arg-type]
        shutil.rmtree(folder.path)
        path = state.upload_path()
        assert path.parent == folder.path and len(path.name) == 32
        path.write_bytes(b"x")
        shutil.rmtree(folder.path)
        folder.path.symlink_to(temporary)  # an attack by another user
        with pytest.raises(DiskFull):
            state.upload_path()
        folder.path.unlink()
    assert "the folder of uploads is gone" in caplog.text


def test_folder_of_another_user(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    existing = temporary / f"{PREFIX}there"
    existing.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: existing.stat().st_uid + 1)
    with pytest.raises(FileExistsError):
        make_private_dir(existing)
    TempDir(PREFIX).remove()
    assert existing.is_dir()


def test_remove_all(temporary: Path) -> None:
    for _ in range(2):
        TempDir(PREFIX)
    remove_all()
    assert list(temporary.iterdir()) == [] and module._OPEN_DIRS == []
