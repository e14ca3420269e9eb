"""Locations of blobs: their owner, what may be removed there, and special files."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, OptionError
from keypose.library.library import Library
from keypose.library.records import EMPTY_PLACE_HINT
from keypose.library.verification import ORPHAN_HINT
from keypose.model import Motion
from support.errors import Pattern, raises


@pytest.fixture(scope="module")
def walk() -> Motion:
    return replace(kp.demo_motion(fps=10)[:12], name="walk")


def blob(root: Path) -> Path:
    return next(path for path in root.glob("??/*"))


def test_foreign_files_are_reported_and_never_removed(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db", blobs=tmp_path / "bytes") as library:
        library.add(walk)
        for name in ("letter.txt", "ab/novel.tmp", "deep/down/.x.tmp", "thesis.tmp"):
            path = tmp_path / "bytes" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"mine")
            os.utime(path, (0, 0))
        faults = library.verify(fix=True, drop_orphans=True)
        assert {fault.subject for fault in faults} == {"letter.txt", "ab/novel.tmp", "deep/down/.x.tmp", "thesis.tmp"}
        assert not any(fault.fixed for fault in faults) and library.verify() == faults
    assert (tmp_path / "bytes" / "thesis.tmp").read_bytes() == b"mine"


def test_a_folder_with_foreign_files_is_refused(tmp_path: Path, walk: Motion) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "letter.txt").write_text("dear")
    with raises(OptionError, option="blobs", problem="holds other things ('letter.txt')"):
        Library(tmp_path / "clips.db", blobs=tmp_path / "documents")
    with Library(tmp_path / "clips.db", blobs=tmp_path / "bytes") as library:  # the other location was not recorded
        library.add(walk)
        assert library.verify() == ()


def test_an_invalid_location_is_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with raises(FileError, path=str(tmp_path / "file"), problem=Pattern("^cannot be listed ")):
        Library(tmp_path / "clips.db", blobs=tmp_path / "file")
    with Library(tmp_path / "clips.db", blobs=tmp_path / "bytes") as library:
        assert library.verify() == ()


def test_blobs_added_after_a_backup_are_recovered_by_rebuild(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(walk)
    shutil.copy(tmp_path / "clips.db", tmp_path / "backup.db")
    with Library(tmp_path / "clips.db") as library:
        newer = library.add(replace(walk[:5], name="newer"))
    for path in tmp_path.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    shutil.move(tmp_path / "backup.db", tmp_path / "clips.db")
    with Library(tmp_path / "clips.db") as library:
        (fault,) = library.verify(fix=True)
        assert fault.kind == "orphan blob" and not fault.fixed and fault.hint == ORPHAN_HINT
        assert library.rebuild() == () and library.verify() == ()
        assert library.clip(newer.hash).n_frames == 5
        library.remove(newer.hash)


def test_orphans_are_removed_only_with_drop_orphans(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(walk)
        digest = library._store.blobs.put(b"left")
        assert [fault.fixed for fault in library.verify(drop_orphans=True)] == [True]
        assert not library._store.blobs.has(digest) and library.verify() == () and len(library) == 1


@pytest.mark.parametrize("scheme", ["folder", "memory"])
def test_two_libraries_never_share_a_location(tmp_path: Path, walk: Motion, scheme: str) -> None:
    place = str(tmp_path / "bytes") if scheme == "folder" else f"memory://{tmp_path.name}"
    with Library(tmp_path / "one.db", blobs=place) as one:
        one.add(walk)
        with raises(OptionError, code="other_library", option="blobs"):
            Library(tmp_path / "two.db", blobs=place)
    with Library(tmp_path / "two.db") as two:
        own = two._store.blobs
        assert two.verify() == ()
    shutil.rmtree(str(own))
    shutil.copytree(tmp_path / "bytes", str(own)) if scheme == "folder" else None
    if scheme == "folder":
        with raises(
            FormatError, code="other_library", problem=Pattern("^the bytes at .* are those of another library ")
        ):
            Library(tmp_path / "two.db")
    else:
        fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)


def test_blobs_of_a_lost_database_can_be_taken_over_by_hand(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "one.db", blobs=tmp_path / "bytes") as one:
        one.add(walk)
    with raises(OptionError, code="other_library", option="blobs"):
        Library(tmp_path / "two.db", blobs=tmp_path / "bytes")
    (tmp_path / "bytes" / "keypose-library").unlink()
    with Library(tmp_path / "two.db", blobs=tmp_path / "bytes") as two:
        assert two.rebuild() == () and len(two) == 1
    with raises(FormatError, code="other_library", problem=Pattern("^the bytes at .* are those of another library ")):
        Library(tmp_path / "one.db")


def test_a_lost_identity_is_restored_from_the_blobs(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(walk)
        was = library._store.database.identity
        with library._store.database.begin_write() as connection:
            connection.exec_driver_sql("DELETE FROM keypose_library_identity")
    with Library(tmp_path / "clips.db") as library:
        assert ["which library it is" in fault.message for fault in library.verify()] == [True]
        assert library.rebuild() == () and library.verify() == () and library._store.database.identity == was
    (tmp_path / "clips.db.blobs" / "keypose-library").write_text("nobody")
    with Library(tmp_path / "clips.db") as library:
        assert library.verify() == ()  # the owner file was written again


@pytest.mark.parametrize("is_empty", [True, False])
def test_nothing_is_added_where_the_bytes_of_all_clips_are_gone(tmp_path: Path, walk: Motion, is_empty: bool) -> None:
    """As on a disk that is not mounted, with or without a folder in its place."""
    folder, away = tmp_path / "bytes", tmp_path / "away"
    kp.save(walk[:7], tmp_path / "new.bvh")
    with Library(tmp_path / "clips.db", blobs=folder) as library:
        library.add(walk)
        folder.rename(away)  # while the library is open
        if is_empty:
            folder.mkdir()
        with raises(FileError, code="missing_blobs", path=str(folder)):
            library.add(tmp_path / "new.bvh")
    with Library(tmp_path / "clips.db") as library:
        for content in (walk, tmp_path / "new.bvh", [tmp_path / "new.bvh"]):
            with raises(FileError, code="missing_blobs", path=str(folder)):
                library.add(content)
        faults = library.verify(fix=True)
        assert {fault.fixed for fault in faults} == {False} and len(library) == 1
        assert [fault.hint for fault in faults if fault.kind == "missing blob"] == [EMPTY_PLACE_HINT]
        assert not folder.exists() if not is_empty else list(folder.iterdir()) == []
    if is_empty:
        folder.rmdir()
    away.rename(folder)
    with Library(tmp_path / "clips.db") as library:
        assert library.add(tmp_path / "new.bvh").n_frames == 7 and library.verify() == ()


def test_an_owner_file_is_written_again_beside_the_bytes_of_clips(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(walk)
        (tmp_path / "clips.db.blobs" / "keypose-library").unlink()
        library.add(walk[:5], name="short")
        assert library.verify() == ()


def test_rebuild_accepts_an_empty_place_for_bytes_that_are_lost_for_good(tmp_path: Path, walk: Motion) -> None:
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(walk, tags=("slow",))
        shutil.rmtree(tmp_path / "clips.db.blobs")
        assert [fault.kind for fault in library.rebuild()] == ["missing blob"]
        assert library.add(walk) == clip and library.verify() == ()


def test_a_linked_library_stores_blobs_beside_the_real_file(tmp_path: Path, walk: Motion) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "clips.db")
    with Library(tmp_path / "link.db") as library:
        library.add(walk)
    with Library(tmp_path / "real" / "clips.db") as library:
        assert library.get("walk").n_frames == 12 and library.verify() == ()
    assert not (tmp_path / "link.db.blobs").exists() and (tmp_path / "real" / "clips.db.blobs").is_dir()


def test_repair_writes_nothing_through_a_link(tmp_path: Path, walk: Motion) -> None:
    (tmp_path / "precious.txt").write_text("precious")
    with Library(tmp_path / "clips.db") as library:
        library.add(walk)
        place = blob(tmp_path / "clips.db.blobs")
        place.unlink()
        place.symlink_to(tmp_path / "precious.txt")
        assert [fault.kind for fault in library.verify()] == ["damaged blob", "leftover"]
        library.add(walk)
        assert (tmp_path / "precious.txt").read_text() == "precious" and not place.is_symlink()
        assert library.verify() == ()


@pytest.mark.parametrize("what", ["pipe", "device", "sparse", "folder"])
def test_special_and_oversized_files_are_never_read(tmp_path: Path, walk: Motion, what: str) -> None:
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(walk)
        place = blob(tmp_path / "clips.db.blobs")
        place.unlink()
        if what == "pipe":
            os.mkfifo(place)
        elif what == "device":
            place.symlink_to("/dev/zero")
        elif what == "folder":
            place.mkdir()
        else:
            with place.open("wb") as file:
                file.truncate(40 << 30)
        assert "damaged blob" in {fault.kind for fault in library.verify()}
        for use in (library.get, library.original):
            with pytest.raises((FileError, FormatError)) as info:
                use("walk")
            assert clip.blob in str(info.value.path)
        assert "damaged blob" in {fault.kind for fault in library.rebuild()}
        if what != "folder":
            assert library.add(walk) == clip and library.verify() == ()


def test_an_empty_file_becomes_a_library_only_with_create(tmp_path: Path) -> None:
    (tmp_path / "clips.db").touch()
    with raises(FileError, code="unknown_library", path=str(tmp_path / "clips.db")):
        Library(tmp_path / "clips.db", create=False)
    assert (tmp_path / "clips.db").stat().st_size == 0
    with pytest.raises(OptionError):
        Library(tmp_path / "clips.db", blobs="nothing://there")
    with raises(FileError, code="unknown_library", path=str(tmp_path / "clips.db")):
        Library(tmp_path / "clips.db", create=False)
    with Library(tmp_path / "clips.db") as library:
        assert library.verify() == ()


def test_errors_of_opening_a_store_are_file_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no region")

    monkeypatch.setattr("keypose.library.blobs.object_store.url_to_fs", fail)
    with raises(FileError, path="memory://x", problem="cannot be used (no region)"):
        Library(tmp_path / "clips.db", blobs="memory://x")


@pytest.mark.parametrize("place", ["a\udcffb", "a\0b"])
def test_unstorable_names_are_refused(tmp_path: Path, place: str) -> None:
    with raises(OptionError, option="blobs", value=place):
        Library(tmp_path / "clips.db", blobs=place)
