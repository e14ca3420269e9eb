"""Damaged files of SQLite: rebuild copies what can be read, and says what was lost."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError, FormatError
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.records import Clip, Fault, rebuild_hint
from keypose.library.store import REPAIR_HINT
from keypose.library.tables import metadata
from support.errors import raises

N_CLIPS = 3


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of three clips, one of them in the trash, with drafts."""
    folder = tmp_path_factory.mktemp("library")
    motion = kp.demo_motion(fps=10)
    with Library(folder / "clips.db") as library:
        for start in range(N_CLIPS):
            take = replace(motion[start : start + 12], name=f"take_{start}")
            clip = library.add(take, tags=("some", f"tag{start}"), licence="CC0", note="n" * 300)
            library.add(take, name=f"other {start}")
            library.save_draft(clip.hash, '{"steps": []}')
        library.trash("take_2")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "copy"))


def contents(library: Library) -> tuple[object, ...]:
    clips = library.clips()
    return clips, library.list_trash(), [library.original(clip.hash) for clip in clips], [map_draft(library, clip) for clip in clips]  # fmt: skip


def map_draft(library: Library, clip: Clip) -> str | None:
    draft = library.draft(clip.hash)
    return None if draft is None else draft.data


def pages(file: Path, table: str) -> list[int]:
    """The pages of a table or index."""
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    return [page for (page,) in rows]


def overwrite(file: Path, page: int, data: bytes, at: int = 0) -> None:
    with file.open("r+b") as stream:
        stream.seek((page - 1) * 4096 + at)
        stream.write(data)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_are_repaired_or_their_loss_is_reported(template: Path, tmp_path: Path, seed: int) -> None:
    data, dice = (template / "clips.db").read_bytes(), random.Random(seed)
    used = [place for place in range(len(data)) if data[place]]
    with Library(template / "clips.db") as library:
        sound = contents(library)
    for n in range(12):
        copy = shutil.copytree(template, tmp_path / f"copy{n}", ignore=shutil.ignore_patterns("clips.db-*"))
        damaged = bytearray(data)
        damaged[dice.choice(used)] ^= 1 << dice.randrange(8)
        (copy / "clips.db").write_bytes(damaged)
        check_repair(copy / "clips.db", sound)


def test_names_of_columns_that_are_no_text_lose_nothing(folder: Path) -> None:
    file = folder / "clips.db"
    with Library(file) as library:
        sound = contents(library)
    data = bytearray(file.read_bytes())
    data[data.index(b"revision", data.index(b"CREATE TABLE drafts"))] ^= 0x80
    file.write_bytes(data)
    check_repair(file, sound)
    with Library(file, create=False) as library:
        assert contents(library) == sound


def check_repair(file: Path, sound: tuple[object, ...]) -> tuple[Fault, ...]:
    """Check that a damaged library is repaired, and that its loss is reported; return that."""
    lost = Library.repair_file(file)
    with Library(file, create=False) as library:
        faults = library.verify()
        lost += library.rebuild(jobs=1) if faults else ()
        assert library.verify() == (), (faults, lost)
        assert contents(library) == sound or any(not fault.fixed for fault in lost), (faults, lost)
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []
    return lost


def schema_bytes(data: bytes, pattern: str) -> list[int]:
    """The places of definitions of tables and indexes, or of parts of them."""
    return [place for match in re.finditer(pattern.encode(), data) for place in range(*match.span())]


@pytest.mark.parametrize("part", ["header", "schema", "both", "first page"])
def test_files_that_cannot_be_opened_are_repaired(template: Path, tmp_path: Path, part: str) -> None:
    data, dice = (template / "clips.db").read_bytes(), random.Random(part)
    with Library(template / "clips.db") as library:
        sound = contents(library)
    n_refused = 0
    for n in range(8):
        copy = shutil.copytree(template, tmp_path / f"copy{n}", ignore=shutil.ignore_patterns("clips.db-*"))
        damaged = bytearray(data)
        places = {
            "header": [dice.randrange(24)],
            "schema": [dice.choice(schema_bytes(data, "CREATE [^\0]+" if n % 2 else "CREATE"))],
            "first page": [dice.choice((100, 103, 104, 108, 111, 112, 113))] if n % 2 else range(100, 4096),
        }
        for place in places.get(part) or [*places["header"], *places["schema"]]:
            damaged[place] ^= 1 << dice.randrange(8)
        (copy / "clips.db").write_bytes(damaged)
        try:
            Library(copy / "clips.db", create=False).close()
        except FormatError as error:
            n_refused += 1
            assert error.code == "library_damaged" and error.hint == REPAIR_HINT
        lost = check_repair(copy / "clips.db", sound)
        assert all(fault.fixed for fault in lost), lost
    assert n_refused >= 1


def test_files_without_readable_page_are_made_again(folder: Path) -> None:
    """From the bytes of the clips; the damaged file stays."""
    file = folder / "clips.db"
    with Library(file) as library:
        hashes = {clip.hash for clip in library} | {clip.hash for clip, _ in library.list_trash()}
    data = file.read_bytes()[:3000]
    file.write_bytes(data)
    lost = check_repair(file, ())
    assert {fault.subject for fault in lost if not fault.fixed} >= {"clips", "tags", "drafts"}
    assert [path.read_bytes() for path in folder.glob("clips.db.damaged-*")] == [data]
    with Library(file) as library:
        assert {clip.hash for clip in library} == hashes


def test_other_files_are_not_replaced(folder: Path, tmp_path: Path) -> None:
    assert Library.repair_file(folder / "clips.db") == ()
    other, database = tmp_path / "other.bin", tmp_path / "database.db"
    other.write_bytes(bytes(range(256)) * 20)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE clips (id INTEGER PRIMARY KEY)")
    for file in (other, database):
        data = file.read_bytes()
        with raises(FormatError, code="not_a_library", path=str(file)):
            Library.repair_file(file)
        assert file.read_bytes() == data
    with raises(FileError, code="unknown_library"):
        Library.repair_file(tmp_path / "none.db")
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "other.bin", "database.db"}


TEXT_COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.c
    if isinstance(column.type, sa.String)
]


@pytest.mark.parametrize(("table", "column"), TEXT_COLUMNS)
def test_text_that_is_not_utf_8_is_repaired(template: Path, folder: Path, table: str, column: str) -> None:
    with Library(template / "clips.db") as library:
        sound = contents(library)
    with closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute("INSERT INTO body_part_facets VALUES ('left_leg', 1)")
        key = "rowid" if has_rowid(table) else column
        first_row = f"{key} = (SELECT {key} FROM {table} LIMIT 1)"
        statement = f"UPDATE {table} SET {column} = CAST(x'61ff' AS TEXT) WHERE {first_row}"
        assert connection.execute(statement).rowcount >= 1
    with Library(folder / "clips.db") as library:
        assert library.verify()
    check_repair(folder / "clips.db", sound)


def has_rowid(table: str) -> bool:
    return metadata.tables[table].dialect_options["sqlite"]["with_rowid"] is not False


@pytest.mark.parametrize("table", ["keypose_library_info", "keypose_library_info_copy"])
def test_location_of_the_bytes_is_recorded_twice(tmp_path: Path, table: str) -> None:
    """If both differ, it is the one whose bytes belong to the library."""
    blobs = tmp_path / "bytes"
    with Library(tmp_path / "clips.db", blobs=blobs) as library:
        library.add(kp.demo_motion(fps=10)[:12], name="take")
    with closing(sqlite3.connect(tmp_path / "clips.db")) as connection, connection:
        connection.execute(f"UPDATE {table} SET blob_location = ?", (f"{blobs}!",))
    with Library(tmp_path / "clips.db") as library:
        assert library.get("take").n_frames == 12
        assert [fault.kind for fault in library.verify()] == ["database"]
        assert library.rebuild(jobs=1) == () and library.verify() == ()
    with closing(sqlite3.connect(tmp_path / "clips.db")) as connection:
        for each in ("keypose_library_info", "keypose_library_info_copy"):
            assert connection.execute(f"SELECT blob_location FROM {each}").fetchall() == [(str(blobs),)]
    assert not Path(f"{blobs}!").exists()


@pytest.mark.parametrize("index", ["ix_analyses_version", "ix_clips_name", "sqlite_autoindex_tags_1"])
def test_every_flipped_bit_of_an_index_is_found_and_repaired(folder: Path, index: str) -> None:
    file = folder / "clips.db"
    sound = file.read_bytes()
    (page,) = pages(file, index)
    start = (page - 1) * 4096
    places = [place for place in range(start + 16, start + 4096) if sound[place]][-16:]  # of the last entries
    for place in places:
        for bit in range(8) if index == "ix_analyses_version" else (0, 6):
            file.write_bytes(sound[:place] + bytes([sound[place] ^ 1 << bit]) + sound[place + 1 :])
            with Library(file) as library:
                assert library.verify(), (place - start, bit)
            for log in folder.glob("clips.db-*"):
                log.unlink()
    with Library(file) as library:
        assert not [fault for fault in library.rebuild(jobs=1) if not fault.fixed] and library.verify() == ()


@pytest.mark.parametrize(
    "table", ["clips", "tags", "other_names", "drafts", "trash", "descriptors", "swings", "words_data"]
)
def test_a_table_that_cannot_be_read_is_made_again(folder: Path, table: str) -> None:
    file = folder / "clips.db"
    with Library(file) as library:
        before = library.clips()
        hashes = {clip.hash for clip in before} | {clip.hash for clip, _ in library.list_trash()}
    for page in pages(file, table):
        overwrite(file, page, b"\xff" * 4096)
    with Library(file) as library:
        faults = library.verify()
        assert faults[0].hint == rebuild_hint("repairs it, or copies what can be read into a new file")
        lost = library.rebuild(jobs=1)
        assert library.verify() == ()
        assert {clip.hash for clip in library} | {clip.hash for clip, _ in library.list_trash()} == hashes
        if table in ("descriptors", "swings", "words_data"):
            assert library.clips() == before and all(fault.fixed for fault in lost)
        else:
            assert any(not fault.fixed for fault in lost), lost
        if table == "clips":  # names are in an index too
            assert [clip.name for clip in library] == [clip.name for clip in before]
            assert [clip.tags for clip in library] == [clip.tags for clip in before]
            assert {fault.subject for fault in lost if "its source, licence and note are lost" in fault.message} == {
                "take_0", "take_1", "take_2"
            }  # fmt: skip
    damaged_files = [path.name for path in folder.glob("clips.db.damaged-*") if not path.name.endswith("-wal")]
    assert len(damaged_files) == 1 and damaged_files[0] in lost[0].message


def test_foreign_numbers_are_repaired(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE tags SET clip_id = 4097 WHERE clip_id = 1 AND tag = 'some'")
        connection.execute("UPDATE analyses SET clip_id = 70000 WHERE clip_id = 2")
        connection.execute("UPDATE swings SET clip_id = 70001 WHERE clip_id = 2")
        connection.execute("UPDATE trash SET clip_id = 9 WHERE clip_id = 3")
    with Library(folder / "clips.db") as library:
        assert library.verify()
        lost = library.rebuild(jobs=1)
        assert library.verify() == () and len(library) == N_CLIPS
        assert ["tag='some'" in fault.message for fault in lost if fault.subject == "tags"] == [True]
        assert [fault.subject for fault in lost] == ["tags", "trash", "take_0"]


def test_damaged_drafts_and_dates_of_the_trash_are_found_and_repaired(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        connection.execute("UPDATE drafts SET changed_at = 'soon' WHERE clip_id = 1")
        connection.execute("UPDATE drafts SET data = x'ff00' WHERE clip_id = 2")
        connection.execute("UPDATE trash SET trashed_at = CAST(x'ff80' AS TEXT)")
    with Library(folder / "clips.db") as library:
        assert [fault.subject for fault in library.verify()] == ["clip 3", "clip 1", "clip 2"]
        assert [fault.subject for fault in library.rebuild(jobs=1)] == ["clip 3", "clip 1", "clip 2"]
        assert library.verify() == () and len(library.list_trash()) == 1
        assert [library.draft(clip.hash) for clip in library] == [None, None]


def test_others_do_not_write_into_a_file_that_was_replaced(folder: Path) -> None:
    with Library(folder / "clips.db") as other, Library(folder / "clips.db") as library:
        assert len(other) == 2
        for page in pages(folder / "clips.db", "descriptors"):
            overwrite(folder / "clips.db", page, b"\xff" * 4096)
        assert library.rebuild(jobs=1)[0].fixed
        with raises(FileError, code="library_moved"):
            other.tag("take_0", "late")
        library.tag("take_0", "new")
    with Library(folder / "clips.db") as library:
        assert "new" in library.clip("take_0").tags and library.verify() == ()
