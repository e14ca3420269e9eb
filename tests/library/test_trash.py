"""Clips that are moved to the trash, restored, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FormatError, OptionError
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.search import pgvector_index
from keypose.library.tables import analyses, clips, trash
from support.errors import Pattern, raises
from support.search_cases import CLIP_FRAMES, demo_clip

NAMES = tuple(CLIP_FRAMES)


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    new_library = open_library()
    for name in NAMES:
        new_library.add(demo_clip(name), tags=("demo", name))
    return new_library


def find_everything(library: Library) -> set[str]:
    query = replace(demo_clip("walk"), name="another")
    hits = (
        *library.search(query, limit=9, deduplicate=False),
        *library.search(query, limit=9, deduplicate=False, tags=("demo",)),
        *library.search(query, limit=9, deduplicate=False, ranker="swings"),
        *library.search(query, limit=9, deduplicate=False, joints="arms"),
        *library.search_part(query, 10, 40, limit=9, deduplicate=False),
        *library.search_pose(query, 20, limit=9, deduplicate=False),
        *library.search_pose(query, 20, limit=9, deduplicate=False, joints="legs"),
    )
    return {hit.name for hit in hits}


@pytest.mark.parametrize("few", [0, pgvector_index.SCAN_ALL_FACTOR])
def test_trashed_clips_are_in_no_list_and_no_search(
    library: Library, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """``few`` 0: with PostgreSQL always by the index."""
    monkeypatch.setattr(pgvector_index, "SCAN_ALL_FACTOR", few)
    before = library.stats()
    assert find_everything(library) == set(NAMES)
    (trashed,) = library.trash("walk")
    assert find_everything(library) == set(NAMES) - {"walk"}
    assert "walk" not in library and trashed.hash not in library and trashed not in library
    assert {clip.name for clip in library} == set(NAMES) - {"walk"} and len(library) == len(NAMES) - 1
    assert library.clips("walk") == () == library.clips(tags=("walk",)) and library.count("walk") == 0
    assert "walk" not in dict(library.tags()) and dict(library.facets().tags)["demo"] == len(NAMES) - 1
    assert sum(n for *_, n in library.facets().durations) == len(NAMES) - 1
    now = library.stats()
    assert (now.clips, now.bytes) == (before.clips - 1, before.bytes - trashed.bytes)
    assert now.n_frames == before.n_frames - trashed.n_frames and "walk" not in dict(now.tags)
    assert library.verify() == ()
    assert library.restore("walk") == (trashed,) and trashed in library
    assert find_everything(library) == set(NAMES) and library.stats() == before


@pytest.mark.parametrize("few", [0, pgvector_index.SCAN_ALL_FACTOR])
def test_clips_analysed_by_another_version_are_not_searched(
    library: Library, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pgvector_index, "SCAN_ALL_FACTOR", few)
    number = sa.select(clips.c.id).where(clips.c.name == "walk").scalar_subquery()
    with library._store.database.begin_write() as connection:
        older = sa.update(analyses).where(analyses.c.clip_id == number)
        connection.execute(older.values(version=analyses.c.version - 1))
        library._store.database.dialect.increment_changes(connection)
    assert find_everything(library) == set(NAMES) - {"walk"}
    assert len(library) == len(NAMES) and library.clip("walk").name == "walk"
    for search in (library.search, lambda query: library.search_part(query, 0, 20)):
        with raises(
            OptionError, code="needs_rebuild", expected="one that was", hint=Pattern("^rebuild.. analyses it$")
        ):
            search("walk")
    assert library.search("walk", ranker="swings") and library.search_pose("walk", 3)  # by its bytes
    library.rebuild()
    assert find_everything(library) == set(NAMES)


def test_trashed_clips_are_found_by_full_hash_only(library: Library) -> None:
    (trashed,) = library.trash("kick")
    assert library.clip(trashed.hash) == trashed and library.get(trashed.hash).n_frames == trashed.n_frames
    assert library.original(trashed.hash) and library.strip(trashed.hash) is not None
    for name in ("kick", trashed.hash[:10]):
        with raises(OptionError, code="clip_in_trash") as info:
            library.clip(name)
        assert f"restore('{trashed.hash[:12]}')" in str(info.value.hint)
    assert library.search(trashed.hash, limit=1)[0].name != "kick"  # usable as a query
    assert library.restore(trashed.hash[:10]) == (trashed,) and library.clip("kick") == trashed


def test_trash_and_restore_are_all_or_none(library: Library) -> None:
    with raises(OptionError, code="unknown_clip", hint="did you mean 'kick'?"):
        library.trash("walk", "kik")
    assert len(library) == len(NAMES)
    assert [clip.name for clip in library.trash("walk", "turn", "walk")] == ["walk", "turn"]
    with raises(OptionError, code="unknown_clip", expected="one that is"):
        library.restore("walk", "kick")
    with raises(OptionError, code="unknown_clip", hint="did you mean 'turn'?"):
        library.restore("Tunr")
    assert {clip.name for clip, _ in library.list_trash()} == {"walk", "turn"}
    assert [clip.name for clip in library.restore("turn", "walk")] == ["turn", "walk"]
    assert library.list_trash() == () == library.trash() == library.restore()


def test_the_trash_lists_the_latest_first(library: Library) -> None:
    start = datetime.now(UTC)
    hashes = [library.trash(name)[0].hash for name in ("walk", "kick")]
    listed = library.list_trash()
    assert [clip.name for clip, _ in listed] == ["kick", "walk"]
    assert all(start <= at <= datetime.now(UTC) for _, at in listed)
    library.trash(hashes[0])  # again: its date stays
    assert library.list_trash() == listed


def test_adding_content_again_restores_it(library: Library, tmp_path: Path) -> None:
    (trashed,) = library.trash("kick")
    library.save_draft(trashed.hash, "{}", revision=None)
    assert library.add(demo_clip("kick")) == trashed == library.clip("kick") and library.list_trash() == ()
    kp.save(demo_clip("walk"), tmp_path / "file.bvh")
    file_clip = library.add(tmp_path / "file.bvh")
    library.trash("file", "turn")
    report = library.add([tmp_path / "file.bvh"], jobs=1)
    assert report.existing == (file_clip,) and [clip.name for clip, _ in library.list_trash()] == ["turn"]
    assert library.draft("kick") is not None and library.verify() == ()


def test_emptying_the_trash_is_permanent(library: Library) -> None:
    trashed = library.trash("walk", "kick")
    assert library.empty_trash() == () and len(library.list_trash()) == 2
    with library._store.database.begin_write() as connection:
        long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="microseconds")
        mine = sa.select(trash.c.clip_id).order_by(trash.c.clip_id).limit(1).scalar_subquery()
        connection.execute(sa.update(trash).where(trash.c.clip_id == mine).values(trashed_at=long_ago))
    assert library.empty_trash() == (trashed[0],)
    assert library.empty_trash(0) == (trashed[1],) and library.list_trash() == ()
    for clip in trashed:
        assert not library._store.blobs.has(clip.blob)
        with raises(OptionError, code="unknown_clip"):
            library.clip(clip.hash)
    assert library.verify() == () and len(library) == len(NAMES) - 2
    for days in (-1, "x", float("nan"), 1e12):
        with raises(OptionError, option="older_than_days"):
            library.empty_trash(days)  # type: ignore[arg-type]


def test_a_damaged_date_is_reported(library: Library) -> None:
    library.trash("walk")
    with library._store.database.begin_write() as connection:
        connection.execute(sa.update(trash).values(trashed_at="soon"))
    with raises(FormatError, code="library_damaged", expected="dates"):
        library.list_trash()
