"""Damaged rows: each is reported, the others stay usable, and all are repaired from the bytes."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FormatError
from keypose.library.library import Library
from keypose.library.records import ADD_AGAIN, rebuild_hint
from support.errors import raises

N_CLIPS = 3


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of three clips."""
    folder = tmp_path_factory.mktemp("library")
    motion = kp.demo_motion(fps=10)
    with Library(folder / "clips.db") as library:
        for start in range(N_CLIPS):
            take = replace(motion[start : start + 12], name=f"take_{start}")
            library.add(take, tags=("some", f"tag{start}"), licence="CC0")
            library.add(replace(take, name=f"other {start}"))
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "copy"))


def damage(folder: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clips.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


ROWS = {
    "a text as bytes": ("UPDATE clips SET note = x'00ff' WHERE id = 1", "note"),
    "a text that is none": ("UPDATE clips SET source = CAST(x'ff80' AS TEXT) WHERE id = 1", "source"),
    "no name": ("UPDATE clips SET name = x'' WHERE id = 1", "name"),
    "no date": ("UPDATE clips SET added_at = 'soon' WHERE id = 1", "added_at"),
    "a date without a zone": ("UPDATE clips SET added_at = '2026-01-01T00:00:00' WHERE id = 1", "added_at"),
    "no rate": ("UPDATE clips SET fps = 0 WHERE id = 1", "fps"),
    "an infinite rate": ("UPDATE clips SET fps = 9e999 WHERE id = 1", "fps"),
    "infinitely many frames": ("UPDATE clips SET n_frames = 9e999 WHERE id = 1", "n_frames"),
    "no frames": ("UPDATE clips SET n_frames = 0 WHERE id = 1", "n_frames"),
    "an endless duration": ("UPDATE clips SET duration_s = 9e999 WHERE id = 1", "duration_s"),
    "a path as suffix": ("UPDATE clips SET suffix = '/../../x' WHERE id = 1", "suffix"),
    "a tolerance": ("UPDATE clips SET tolerance_mm = 'x' WHERE id = 1", "tolerance_mm"),
    "no blob": ("UPDATE clips SET blob = 'x' WHERE id = 1", "blob"),
    "a hash": ("UPDATE clips SET hash = 'x' WHERE id = 1", "hash"),
    "a row of bytes": ("DELETE FROM blobs WHERE hash = (SELECT blob FROM clips WHERE id = 1)", "bytes"),
    "infinitely many bytes": (
        "UPDATE blobs SET bytes = 9e999 WHERE hash = (SELECT blob FROM clips WHERE id = 1)",
        "by",
    ),
    "a tag that is none": ("UPDATE tags SET tag = x'00' WHERE clip_id = 1 AND tag = 'some'", "a tag"),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_damaged_row_is_reported_and_repaired_by_rebuild(folder: Path, row: str) -> None:
    statement, expected_text = ROWS[row]
    with Library(folder / "clips.db") as library:
        before = library.clip("take_0")
    damage(folder, statement)
    other = next(path for path in (folder / "clips.db.blobs").glob("??/*") if path.name != before.blob)
    other.write_bytes(b"damaged too")  # later faults are found as well
    with Library(folder / "clips.db") as library:
        faults = library.verify()
        assert any(
            fault.kind == "row" and fault.subject == "clip 1" and expected_text in fault.message for fault in faults
        ), faults
        assert {"damaged blob", "row"} <= {fault.kind for fault in faults}
        assert any(fault.hint == rebuild_hint("repairs it from its bytes") for fault in faults)
        with pytest.raises(FormatError) as info:
            library.clips()
        assert info.value.path == str(folder / "clips.db")
        assert info.value.code in ("needs_rebuild", "library_damaged", "not_a_library")
    with Library(folder / "clips.db") as library:
        library.add(replace(kp.demo_motion(fps=10)[1:13], name="take_1"))
        library.add(replace(kp.demo_motion(fps=10)[2:14], name="take_2"))
        assert library.remove("take_2").name == "take_2"
        is_text = expected_text in ("note", "source", "name", "added_at", "a tag")  # written by people: it is lost
        faults = library.rebuild()
        assert [fault.kind for fault in faults] == ["row"] * is_text and library.verify() == ()
        assert all("could not be read: " in fault.message for fault in faults)
        after = library.clip(before.hash)
        assert (after.fps, after.n_frames, after.suffix, after.bytes) == (
            before.fps, before.n_frames, before.suffix, before.bytes
        )  # fmt: skip
        assert after.other_names == before.other_names and after.licence == "CC0" and "tag0" in after.tags
        assert len(library) == 2 and len(library.search("take_1")) == 1 and len(library.export(folder / "out")) == 2


def test_a_row_with_damaged_bytes_is_deleted_and_reported(folder: Path) -> None:
    with Library(folder / "clips.db") as library:
        clip = library.clip("take_0")
    damage(folder, "UPDATE clips SET fps = 0 WHERE id = 1")
    (folder / "clips.db.blobs" / clip.blob[:2] / clip.blob).write_bytes(b"damaged")
    with Library(folder / "clips.db") as library:
        faults = library.rebuild()
        assert [(fault.subject, fault.hint) for fault in faults if fault.kind == "row"] == [("take_0", ADD_AGAIN)]
        assert len(library.clips()) == 2
        library.add(replace(kp.demo_motion(fps=10)[:12], name="take_0"))
        assert library.verify() == () and len(library) == N_CLIPS


def test_a_damaged_change_counter_is_reported(folder: Path) -> None:
    damage(folder, "UPDATE keypose_library_info SET changes = 'abc'")
    with Library(folder / "clips.db") as library:
        with raises(FormatError, code="needs_rebuild", problem="'abc' changes", expected="a number"):
            library.search("take_0")
        assert library.rebuild() == () and library.verify() == () and library.search("take_0")


def test_a_date_without_a_zone_is_reported(folder: Path) -> None:
    statement = "UPDATE {} SET created_at = '2026-01-01T00:00:00'"
    damage(folder, *(statement.format(table) for table in ("keypose_library_info", "keypose_library_info_copy")))
    with Library(folder / "clips.db") as library:
        assert ["expected a date" in fault.message for fault in library.verify()] == [True]
        assert library.rebuild() == () and library.verify() == ()


USES: dict[str, tuple[str, Callable[[Library], object]]] = {
    "search": ("DELETE FROM descriptors WHERE clip_id = 2 AND name = 'clip'", lambda here: here.search("take_0")),
    "windows": ("DELETE FROM descriptors WHERE clip_id = 2 AND name LIKE 'upper%'", lambda here: here.search("take_0")),
    "swings": (
        "DELETE FROM descriptors WHERE clip_id = 2 AND name = 'swing_table'",
        lambda here: here.swings("take_1"),
    ),
    "an analysis": ("DELETE FROM analyses WHERE clip_id = 2", lambda here: here.strip("take_1")),
    "stats": ("UPDATE clips SET n_frames = 9e999 WHERE id = 2", lambda here: here.stats()),
    "bytes": ("UPDATE blobs SET bytes = 9e999", lambda here: here.stats()),
}


@pytest.mark.parametrize("use", USES)
def test_missing_rows_are_format_errors(folder: Path, use: str) -> None:
    statement, use_library = USES[use]
    damage(folder, statement)
    with Library(folder / "clips.db") as library:
        with raises(FormatError, path=str(folder / "clips.db")):
            use_library(library)
        assert library.verify() != ()
        assert library.rebuild() == () and library.verify() == ()
        use_library(library)
