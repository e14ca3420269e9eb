"""Folders of a server among temporary files: private, locked, made again, and gone in the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from keypose.server import own_folder as module
from keypose.server.failing import NoRoom
from keypose.server.own_folder import OwnFolder, make_private, own_folder, remove_all
from keypose.server.running import Running
from keypose.server.settings import Settings

PREFIX = "keypose-test-"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_nobody_holds_goes_and_what_somebody_holds_stays(temporary: Path) -> None:
    left, other, linked = temporary / f"{PREFIX}left", temporary / "keypose-else", temporary / f"{PREFIX}link"
    left.mkdir()
    other.mkdir()
    (left / "upload").write_bytes(b"x")
    linked.symlink_to(other)
    with own_folder(PREFIX) as one, own_folder(PREFIX) as two:
        assert not left.exists() and other.is_dir() and linked.is_symlink()
        assert one.path.is_dir() and two.path.is_dir() and one.path != two.path
        assert one.path.stat().st_mode & 0o777 == 0o700
    assert set(temporary.iterdir()) == {other, linked}


def test_one_that_was_removed_is_made_again_and_held(temporary: Path) -> None:
    with own_folder(PREFIX) as one:
        for _ in range(2):
            shutil.rmtree(one.path)
            assert one.there() == one.path and one.path.stat().st_mode & 0o777 == 0o700
            OwnFolder(PREFIX).remove()
            assert one.path.is_dir()
    assert list(temporary.iterdir()) == []


def test_an_upload_has_a_place_though_its_folder_was_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with own_folder(PREFIX) as folder:
        here = Running(Settings("none.db"), None, folder)  # type: ignore[arg-type]
        shutil.rmtree(folder.path)
        place = here.upload_path()
        assert place.parent == folder.path and len(place.name) == 32
        place.write_bytes(b"x")
        shutil.rmtree(folder.path)
        folder.path.symlink_to(temporary)  # of somebody who would like to read along
        with pytest.raises(NoRoom):
            here.upload_path()
        folder.path.unlink()
    assert "the folder of uploads is gone" in caplog.text


def test_a_folder_of_somebody_else_is_not_ours(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = temporary / f"{PREFIX}there"
    there.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: there.stat().st_uid + 1)
    with pytest.raises(FileExistsError):
        make_private(there)
    OwnFolder(PREFIX).remove()
    assert there.is_dir()


def test_a_process_that_leaves_leaves_none(temporary: Path) -> None:
    for _ in range(2):
        OwnFolder(PREFIX)
    remove_all()
    assert list(temporary.iterdir()) == [] and module._HELD == []
