"""Planted damage: all is detected, reported clearly, and repaired where possible."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import random
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.analysis_rows import (
    load_descriptions,
    load_key_frames,
    load_poses,
    load_strip,
    load_swing_tables,
    load_tracks,
)
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.library.verification import ORPHAN_HINT
from support.errors import raises

N_CLIPS = 3
N_FRAMES = 12  # enough for swings


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of three clips, with their source files."""
    folder = tmp_path_factory.mktemp("library")
    motion = kp.demo_motion(fps=10)
    with Library(folder / "clips.db") as library:
        for start in range(N_CLIPS):
            kp.save(replace(motion[start : start + N_FRAMES], name=f"take_{start}"), folder / f"take_{start}.bvh")
            clip = library.add(folder / f"take_{start}.bvh", tags=("some", f"tag{start}"), licence="CC0")
            library.add(clip.source, name=f"other {start}")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "copy"))


def blob_files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "clips.db.blobs").glob("*/*") if path.is_file())


def damage_blob(folder: Path) -> None:
    path = blob_files(folder)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty_blob(folder: Path) -> None:
    blob_files(folder)[0].write_bytes(b"")


def remove_blob(folder: Path) -> None:
    blob_files(folder)[0].unlink()


def exchange_blobs(folder: Path) -> None:
    one, two = blob_files(folder)[:2]
    shutil.copy(one, two)


def add_orphan(folder: Path) -> None:
    data = b"bytes that a killed process left"
    digest = hashlib.sha256(data).hexdigest()
    path = folder / "clips.db.blobs" / digest[:2] / digest
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def misplace_blob(folder: Path) -> None:
    path = blob_files(folder)[0]
    (folder / "clips.db.blobs" / "zz").mkdir()
    shutil.copy(path, folder / "clips.db.blobs" / "zz" / path.name)


def half_written(folder: Path) -> None:
    path = blob_files(folder)[0]
    path = path.with_name(f".{path.name[:20]}.{'0' * 12}.tmp")
    path.write_bytes(b"half")
    os.utime(path, (0, 0))


def sql(statement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        connection = sqlite3.connect(folder / "clips.db")
        with connection:
            assert connection.execute(statement).rowcount
        connection.close()

    return change


DAMAGE = {
    "bit of a blob": (damage_blob, "damaged blob", False),
    "emptied blob": (empty_blob, "damaged blob", False),
    "lost blob": (remove_blob, "missing blob", False),
    "exchanged blob": (exchange_blobs, "damaged blob", False),
    "orphan": (add_orphan, "orphan blob", False),
    "misplaced": (misplace_blob, "leftover", False),
    "half written": (half_written, "leftover", True),
    "name": (sql("UPDATE clips SET name = 'tale_0' WHERE id = 1"), "row", False),
    "frames": (sql("UPDATE clips SET n_frames = 4 WHERE id = 2"), "row", False),
    "hash": (sql("UPDATE clips SET hash = replace(hash, 'a', 'b') WHERE id = 2"), "row", False),
    "size": (sql("UPDATE blobs SET bytes = bytes + 1"), "row", False),
    "a tag more": (sql("INSERT INTO tags VALUES (1, 'new')"), "row", False),
    "a name less": (sql("DELETE FROM other_names WHERE clip_id = 3"), "row", False),
    "a tag of nobody": (sql("INSERT INTO tags VALUES (77, 'new')"), "database", False),
    "bytes of nobody": (sql(f"INSERT INTO blobs VALUES ('{'0' * 64}', 1)"), "row", False),
    "a lost row": (sql("DELETE FROM blobs WHERE bytes = (SELECT min(bytes) FROM blobs)"), "database", False),
    "a number for a text": (sql("UPDATE clips SET note = x'00ff' WHERE id = 1"), "row", False),
    "no date": (sql("UPDATE clips SET added_at = 'soon' WHERE id = 1"), "row", False),
    "words lost": (sql("DELETE FROM words WHERE rowid = 1"), "words", True),
    "words changed": (sql("UPDATE words SET text = 'x' WHERE rowid = 1"), "words", True),
    "a strip": (sql("UPDATE analyses SET strip = x'789c0300' WHERE clip_id = 1"), "analysis", False),
    "a strip as text": (sql("UPDATE analyses SET strip = 'strip' WHERE clip_id = 1"), "analysis", False),
    "an older analysis": (sql("UPDATE analyses SET version = 0 WHERE clip_id = 2"), "analysis", False),
    "a checksum": (sql("UPDATE analyses SET checksum = '' WHERE clip_id = 3"), "analysis", False),
    "a lost analysis": (sql("DELETE FROM analyses WHERE clip_id = 1"), "analysis", False),
    "an analysis of nobody": (sql("UPDATE analyses SET clip_id = 99 WHERE clip_id = 1"), "analysis", False),
    "a key pose": (sql("UPDATE key_poses SET frame = 88 WHERE clip_id = 1 AND frame = 0"), "analysis", False),
    "a key pose of another": (
        sql("UPDATE key_poses SET clip_id = 2, frame = frame + 50 WHERE clip_id = 1"),
        "analysis",
        False,
    ),
    "no key poses": (sql("DELETE FROM key_poses WHERE clip_id = 1"), "analysis", False),
    "a key pose less": (sql("DELETE FROM key_poses WHERE clip_id = 1 AND frame = 0"), "analysis", False),
    "a key pose more": (sql("INSERT INTO key_poses VALUES (1, 77)"), "analysis", False),
    "no swings": (sql("DELETE FROM swings WHERE clip_id = 1"), "analysis", False),
    **{
        f"swing {column}": (sql(f"UPDATE swings SET {column} = {value} WHERE clip_id = 1"), "analysis", False)
        for column, value in {
            "clip_id": 99,
            "body_part": "body_part || 's'",
            **dict.fromkeys(
                ("start_s", "end_s", "axis_left", "axis_up", "axis_forward", "angle_rad"), "'x' || start_s"
            ),
        }.items()
    },
    "a descriptor": (
        sql("UPDATE descriptors SET data = zeroblob(length(data)) WHERE clip_id = 1 AND name = 'track'"),
        "analysis",
        False,
    ),
    "a descriptor's name": (
        sql("UPDATE descriptors SET name = 'x' WHERE clip_id = 1 AND name = 'poses'"),
        "analysis",
        False,
    ),
    "a descriptor's clip": (sql("UPDATE descriptors SET clip_id = 99 WHERE clip_id = 1"), "analysis", False),
    "a descriptor less": (sql("DELETE FROM descriptors WHERE clip_id = 1 AND name = 'swing_table'"), "analysis", False),
    "parts that swing": (
        sql("INSERT INTO body_part_facets (body_part, clip_id) VALUES ('head', 1)"),
        "analysis",
        False,
    ),
    "words of nobody": (sql("INSERT INTO words (rowid, text) VALUES (9, 'x')"), "words", True),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_verify_finds_every_planted_damage(folder: Path, damage: str) -> None:
    plant, kind, can_be_fixed = DAMAGE[damage]
    plant(folder)
    with Library(folder / "clips.db") as library:
        faults = library.verify()
        assert kind in {fault.kind for fault in faults}, faults
        assert not any(fault.fixed for fault in faults) and all(str(fault) for fault in faults)
        if can_be_fixed:
            assert all(fault.fixed for fault in library.verify(fix=True)) and library.verify() == ()


def strips_of(connection: sa.Connection, numbers: list[int]) -> dict[int, str]:
    return {number: load_strip(connection, number) for number in numbers}


def key_poses_of(connection: sa.Connection, numbers: list[int]) -> dict[int, tuple[int, ...]]:
    return {number: load_key_frames(connection, number) for number in numbers}


@pytest.mark.parametrize(
    ("damage", "read"),
    {
        "a strip": strips_of,
        "a strip as text": strips_of,
        "a lost analysis": strips_of,
        "no key poses": key_poses_of,
        "swing body_part": load_swing_tables,
        "swing end_s": load_swing_tables,
        "a descriptor": load_tracks,
    }.items(),
)
def test_damaged_analyses_are_never_returned_and_are_rebuilt(
    folder: Path, damage: str, read: Callable[[sa.Connection, list[int]], object]
) -> None:
    readers = (load_descriptions, load_poses, load_swing_tables, load_tracks, strips_of, key_poses_of)
    plant = DAMAGE[damage][0]
    with Library(folder / "clips.db") as library, library._store.database.begin_read() as connection:
        before = [_numbers(each(connection, [1])[1]) for each in readers]
    plant(folder)
    with Library(folder / "clips.db") as library:
        with (
            library._store.database.begin_read() as connection,
            raises(FormatError, code="needs_rebuild", path=str(folder / "clips.db"), expected="an analysis"),
        ):
            read(connection, [1])
        assert library.rebuild() == () and library.verify() == ()
        with library._store.database.begin_read() as connection:
            assert [_numbers(each(connection, [1])[1]) for each in readers] == before


def _numbers(item: object) -> bytes:
    return pickle.dumps(item)


@pytest.mark.parametrize("plant", [damage_blob, empty_blob, remove_blob])
def test_damaged_bytes_are_never_returned_and_repaired_by_adding_them_again(
    folder: Path, plant: Callable[[Path], None]
) -> None:
    broken = blob_files(folder)[0].name
    plant(folder)
    with Library(folder / "clips.db") as library:
        clip = next(clip for clip in library if clip.blob == broken)
        for use in (library.get, library.original):
            with pytest.raises((FileError, FormatError)) as info:
                use(clip.name)
            assert info.value.code in ("damaged", "missing_blob") and str(info.value.path).endswith(broken)
        assert library.add(folder / f"{clip.name}.bvh") == clip
        assert library.verify() == () and library.get(clip.name).n_frames == N_FRAMES


def contents(folder: Path) -> tuple[tuple[Clip, ...], list[bytes], list[tuple[Clip, ...]]]:
    with Library(folder / "clips.db", create=False) as library:
        clips = library.clips()
        words = ("take", "other", "some", *(f"tag{n}" for n in range(N_CLIPS)))
        return clips, [library.original(clip.hash) for clip in clips], [library.clips(word) for word in words]


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_database_is_detected_wherever_it_is_damaged(template: Path, tmp_path: Path, seed: int) -> None:
    """Random bytes changed: a clear error, a fault, or no change of stored data."""
    sound, data_before = contents(template), (template / "clips.db").read_bytes()
    dice = random.Random(seed)
    shutil.copytree(template, tmp_path / "copy")
    n_detected = 0
    for _ in range(40):
        data = bytearray(data_before)
        used = [place for place in range(len(data)) if data[place]]
        for place in dice.sample(used, dice.choice((1, 1, 3, 200))):
            data[place] = dice.randrange(256)
        for beside in (tmp_path / "copy").glob("clips.db-*"):
            beside.unlink()
        (tmp_path / "copy" / "clips.db").write_bytes(data)
        try:
            with Library(tmp_path / "copy" / "clips.db", create=False) as library:
                faults = library.verify()
            assert faults or contents(tmp_path / "copy") == sound
            n_detected += bool(faults)
        except KeyposeError as error:
            assert "clips.db" in str(error)
            n_detected += 1
    assert n_detected > 10


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"\1" * 5000, None])
def test_other_files_are_refused_and_not_changed(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "clips.db"
    if content is None:
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE letters (a)")
        other.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with raises(FormatError, path=str(path), expected="a library of clips"):
        Library(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [2, 99])
def test_a_library_of_another_schema_version_is_refused(folder: Path, version: int) -> None:
    sql(f"UPDATE keypose_library_info SET version = {version}")(folder)
    with raises(FormatError, code="unsupported", expected="version 1"):
        Library(folder / "clips.db")


def test_a_full_disk_is_reported(folder: Path) -> None:
    with Library(folder / "clips.db") as library:
        with library._store.database.begin_read() as connection:  # this very connection is used again
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
        with raises(FileError, code="disk_full"):
            for n in range(200):
                library.tag("take_0", *(f"{n}-{m}-{'x' * 80}" for m in range(50)))
        assert library.verify() == ()


def test_rebuild_recovers_a_lost_database_and_damaged_facts(folder: Path) -> None:
    with Library(folder / "clips.db") as library:
        before = library.clips()
    sql("UPDATE clips SET n_frames = 4, fps = 1.0")(folder)
    sql("DELETE FROM words")(folder)
    with Library(folder / "clips.db") as library:
        assert library.rebuild() == () and library.verify() == ()
        assert library.clips() == library.clips("take") == before
    for path in folder.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    with Library(folder / "clips.db") as library:
        assert {fault.kind for fault in library.verify()} == {"orphan blob"}
        assert library.rebuild() == () and library.verify() == ()
        assert {clip.hash for clip in library} == {clip.hash for clip in before}
        assert all(library.get(clip.hash).n_frames == N_FRAMES and clip.note == "found by rebuild" for clip in library)


def test_a_folder_in_place_of_a_blob_stays_and_is_reported(folder: Path) -> None:
    place = blob_files(folder)[0]
    place.unlink()
    place.mkdir()
    (place / "somebody's").write_text("kept")
    with Library(folder / "clips.db") as library:
        (fault, stranger) = library.verify(fix=True)
        assert fault.kind == "damaged blob" and "is a folder, expected a file: move it away; adding" in str(fault)
        assert "somebody's" in stranger.subject and (place / "somebody's").read_text() == "kept"
        place.rename(folder / "away")
        assert library.add([folder]).failures == () and library.verify() == ()


def test_blobs_of_a_lost_database_are_never_removed(folder: Path) -> None:
    for path in folder.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    with Library(folder / "clips.db") as library:
        faults = library.verify(fix=True)
        assert len(faults) == N_CLIPS and not any(fault.fixed for fault in faults)
        assert faults[0].hint == ORPHAN_HINT and len(blob_files(folder)) == N_CLIPS


@pytest.mark.parametrize("content", [None, b"not a database" * 100])
def test_no_connection_is_left_open(tmp_path: Path, content: bytes | None) -> None:
    """Also of a library that was never closed, and of a file that is no library."""
    path = tmp_path / "clips.db"
    if content is not None:
        path.write_bytes(content)
    open_before = _open_files(path)
    with contextlib.suppress(FormatError):
        assert len(Library(path)) == 0
    gc.collect()
    assert _open_files(path) == open_before == 0


def _open_files(path: Path) -> int:
    """Return the number of files of a database that this process has open."""
    faults = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            faults += str(link.readlink()).startswith(str(path))
    return faults
