"""Blobs in folders and object stores: the same interface, the same guarantees."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, MissingExtra, OptionError
from keypose.library.blobs import Blobs, FolderBlobs, sha256_hex
from keypose.library.blobs.folder import normalise_location
from keypose.library.blobs.object_store import FsspecBlobs
from keypose.library.library import Library
from support.errors import Pattern, raises

PLACES: dict[str, Callable[[Path], Blobs]] = {
    "folder": FolderBlobs,
    "memory": lambda folder: FsspecBlobs(f"memory://{folder.name}"),
    "file": lambda folder: FsspecBlobs(f"file://{folder}"),
}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    folder = tmp_path / uuid.uuid4().hex
    yield PLACES[request.param](folder)
    store = fsspec.filesystem("memory")
    if store.exists(f"/{folder.name}"):
        store.rm(f"/{folder.name}", recursive=True)


def write(place: Blobs, name: str, data: bytes) -> None:
    """Write a file like another program would."""
    if isinstance(place, FolderBlobs):
        (place.root / name).parent.mkdir(parents=True, exist_ok=True)
        (place.root / name).write_bytes(data)
    else:
        assert isinstance(place, FsspecBlobs)
        place._store.makedirs(str(Path(f"{place._root}/{name}").parent), exist_ok=True)
        place._store.pipe_file(f"{place._root}/{name}", data)


def test_blobs_are_stored_and_removed(place: Blobs) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    assert list(place.hashes()) == list(place.leftovers()) == []
    one, two = place.put(b"one"), place.put(b"")
    assert (one, two) == (sha256_hex(b"one"), sha256_hex(b"")) and place.put(b"one") == one
    assert place.read(one) == b"one" and place.read(two) == b"" and place.has(one)
    assert list(place.hashes()) == sorted((one, two)) and list(place.leftovers()) == []
    assert before < place.modified_at(one) < datetime.now(UTC) + timedelta(seconds=2)
    place.remove(one)
    place.remove(one)
    assert not place.has(one) and list(place.hashes()) == [two]
    assert place.modified_at(one) > before
    with raises(FileError, code="missing_blob"):
        place.read(one)


def test_damaged_blobs_are_never_returned_and_repaired_by_put(place: Blobs) -> None:
    digest = place.put(b"some bytes")
    for damage in (b"some byteZ", b"", b"some bytes and more"):
        write(place, f"{digest[:2]}/{digest}", damage)
        with raises(FormatError, code="damaged"):
            place.read(digest)
        assert place.put(b"some bytes") == digest and place.read(digest) == b"some bytes"


def test_only_temporary_files_of_writers_are_removed(place: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = place.put(b"x")
    left = sorted((f"{digest[:2]}/.{digest[:20]}.{'0' * 12}.tmp", f"{digest[:2]}/{digest}.{'0' * 16}.tmp"))
    strange = sorted(("letter.txt", f"zz/{digest}", f"{digest[:2]}/{digest}.0.tmp", "ab/novel.tmp", ".draft.tmp"))
    for name in (*left, *strange):
        write(place, name, b"x")
    assert list(place.leftovers()) == []  # they may still be being written
    for module in ("folder", "object_store"):
        monkeypatch.setattr(f"keypose.library.blobs.{module}.LEFTOVER_AFTER_S", -3600.0)
    assert sorted(place.leftovers()) == left and sorted(place.foreign_files()) == strange
    for name in (*left, *strange):
        place.remove_leftover(name)
    assert list(place.leftovers()) == [] and sorted(place.foreign_files()) == strange and place.read(digest) == b"x"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "\n"])
def test_only_hashes_are_names(place: Blobs, digest: str) -> None:
    for use in (place.read, place.has, place.remove, place.modified_at):
        with raises(FormatError, expected="64 hexadecimal digits"):
            use(digest)


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_a_failed_write_leaves_no_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    place = PLACES[scheme](tmp_path / uuid.uuid4().hex)
    assert isinstance(place, FsspecBlobs)

    def full(path: str, data: bytes, **_: Any) -> None:
        if scheme == "file":  # half of it was written; objects appear whole or not at all
            Path(path).write_bytes(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place._store, "pipe_file", full)
    with raises(FileError, code="file", problem="cannot be written (No space left on device)"):
        place.put(b"many bytes")
    assert list(place.hashes()) == list(place.leftovers()) == [] and not place.has(sha256_hex(b"many bytes"))


def test_errors_of_every_kind_become_file_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    place = FsspecBlobs(f"memory://{uuid.uuid4().hex}")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no credentials")

    digest = place.put(b"x")
    for what, use in (("cat_file", place.read), ("isfile", place.has), ("rm_file", place.remove)):
        monkeypatch.setattr(place._store, what, fail)
        with raises(FileError, code="file") as info:
            use(digest)
        assert info.value.problem.endswith("(no credentials)")


def test_a_library_with_its_bytes_in_a_store(tmp_path: Path) -> None:
    motion = replace(kp.demo_motion(fps=10)[:5], name="walk")
    url = f"memory://{uuid.uuid4().hex}/clips/"
    with Library(tmp_path / "clips.db", blobs=url) as library:
        clip = library.add(motion)
        assert library.add(library.original("walk"), name="again") == replace(clip, other_names=("again",))
        with raises(FormatError, path="upload"):
            library.add(b"no motion", name="upload")
    assert not (tmp_path / "clips.db.blobs").exists()
    with Library(tmp_path / "clips.db") as library:
        assert library.get("walk").n_frames == 5 and library.verify() == ()
        library.remove("walk")
        assert library.verify() == ()
    with Library(tmp_path / "clips.db", blobs=url):
        pass
    with raises(OptionError, option="blobs", value="memory://elsewhere"):
        Library(tmp_path / "clips.db", blobs="memory://elsewhere")


def test_bytes_beside_the_file_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with Library(tmp_path / "old" / "clips.db", blobs=tmp_path / "old" / "clips.db.blobs") as library:
        library.add(kp.demo_motion(fps=10)[:5], name="walk")
    (tmp_path / "old").rename(tmp_path / "new")
    with Library(tmp_path / "new" / "clips.db", blobs=tmp_path / "new" / "clips.db.blobs") as library:
        assert library.get("walk").n_frames == 5
    with raises(OptionError, option="blobs", value=str(tmp_path / "other")):
        Library(tmp_path / "new" / "clips.db", blobs=tmp_path / "other")


WRONG = {
    "": {"value": ""},
    "a\0b": {"value": "a\0b"},
    "s3://key:secret@bucket/x": {"expected": Pattern("^them in the environment ")},
    "s3://bucket/x?key=secret": {"expected": Pattern("^them in the environment ")},
    "simplecache::s3://bucket": {"expected": "one like s3://bucket/clips"},
    "zip://a.bvh::file:///x.zip": {"expected": "one like s3://bucket/clips"},
    "s3://bucket/a b": {"expected": "one like s3://bucket/clips"},
    "nothing://there": {"value": "nothing://there", "problem": Pattern("^is of no known kind")},
}


@pytest.mark.parametrize("url", WRONG)
def test_invalid_locations_are_refused_without_revealing_secrets(tmp_path: Path, url: str) -> None:
    with raises(OptionError, option="blobs", **WRONG[url]) as raised:
        Library(tmp_path / "clips.db", blobs=url)
    assert "secret" not in str(raised.value)


def test_a_store_whose_package_is_missing_is_named(tmp_path: Path) -> None:
    with raises(MissingExtra, code="missing_extra"):
        Library(tmp_path / "clips.db", blobs="s3://bucket/clips")


def test_normalized_locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        normalise_location("bytes")
        == normalise_location(Path("bytes"))
        == normalise_location(f"file://{tmp_path}/bytes")
        == str(tmp_path / "bytes")
    )
    assert normalise_location("s3://bucket/clips/") == "s3://bucket/clips"
