"""Clips that are thrown away, brought back, and forgotten."""

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
from keypose.library.searching import pg_shelf
from keypose.library.tables import analyses, clips, thrown_away
from search_cases import PIECES, piece

NAMES = tuple(PIECES)


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    made = open_library()
    for name in NAMES:
        made.add(piece(name), tags=("demo", name))
    return made


def everything_found(library: Library) -> set[str]:
    query = replace(piece("walk"), name="another")
    found = (
        *library.search(query, limit=9, fold=False),
        *library.search(query, limit=9, fold=False, tags=("demo",)),
        *library.search(query, limit=9, fold=False, ranker="swings"),
        *library.search(query, limit=9, fold=False, joints="arms"),
        *library.search_part(query, 10, 40, limit=9, fold=False),
        *library.search_pose(query, 20, limit=9, fold=False),
        *library.search_pose(query, 20, limit=9, fold=False, joints="legs"),
    )
    return {hit.name for hit in found}


@pytest.mark.parametrize("few", [0, pg_shelf.FEW])
def test_no_list_and_no_search_has_what_was_thrown_away(
    library: Library, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """``few`` 0: with PostgreSQL always by the index."""
    monkeypatch.setattr(pg_shelf, "FEW", few)
    before = library.stats()
    assert everything_found(library) == set(NAMES)
    (gone,) = library.throw_away("walk")
    assert everything_found(library) == set(NAMES) - {"walk"}
    assert "walk" not in library and gone.hash not in library and gone not in library
    assert {clip.name for clip in library} == set(NAMES) - {"walk"} and len(library) == len(NAMES) - 1
    assert library.clips("walk") == () == library.clips(tags=("walk",)) and library.count("walk") == 0
    assert "walk" not in dict(library.tags()) and dict(library.facets().tags)["demo"] == len(NAMES) - 1
    assert sum(n for *_, n in library.facets().durations) == len(NAMES) - 1
    now = library.stats()
    assert (now.clips, now.bytes) == (before.clips - 1, before.bytes - gone.bytes)
    assert now.n_frames == before.n_frames - gone.n_frames and "walk" not in dict(now.tags)
    assert library.verify() == ()
    assert library.restore("walk") == (gone,) and gone in library
    assert everything_found(library) == set(NAMES) and library.stats() == before


@pytest.mark.parametrize("few", [0, pg_shelf.FEW])
def test_what_another_version_has_analysed_is_not_searched(
    library: Library, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(pg_shelf, "FEW", few)
    number = sa.select(clips.c.id).where(clips.c.name == "walk").scalar_subquery()
    with library._store.database.writing() as connection:
        older = sa.update(analyses).where(analyses.c.clip == number)
        connection.execute(older.values(version=analyses.c.version - 1))
        library._store.database.dialect.count_change(connection)
    assert everything_found(library) == set(NAMES) - {"walk"}
    assert len(library) == len(NAMES) and library.clip("walk").name == "walk"
    for search in (library.search, lambda query: library.search_part(query, 0, 20)):
        with pytest.raises(OptionError, match=r"clip 'walk' was not analysed by this version, .*rebuild\(\) does it"):
            search("walk")
    assert library.search("walk", ranker="swings") and library.search_pose("walk", 3)  # by its bytes
    library.rebuild()
    assert everything_found(library) == set(NAMES)


def test_what_was_thrown_away_is_called_by_its_whole_hash(library: Library) -> None:
    (gone,) = library.throw_away("kick")
    assert library.clip(gone.hash) == gone and library.get(gone.hash).n_frames == gone.n_frames
    assert library.original(gone.hash) and library.strip(gone.hash) is not None
    for called in ("kick", gone.hash[:10]):
        with pytest.raises(OptionError, match=rf"was thrown away, expected .*: restore\('{gone.hash[:12]}'\) brings"):
            library.clip(called)
    assert library.search(gone.hash, limit=1)[0].name != "kick"  # it can still be asked for
    assert library.restore(gone.hash[:10]) == (gone,) and library.clip("kick") == gone


def test_all_of_one_call_or_none(library: Library) -> None:
    with pytest.raises(OptionError, match="no clip 'kik' in the library; did you mean 'kick'"):
        library.throw_away("walk", "kik")
    assert len(library) == len(NAMES)
    assert [clip.name for clip in library.throw_away("walk", "turn", "walk")] == ["walk", "turn"]
    with pytest.raises(OptionError, match="no clip 'kick' was thrown away"):
        library.restore("walk", "kick")
    assert {clip.name for clip, _ in library.thrown_away()} == {"walk", "turn"}
    assert [clip.name for clip in library.restore("turn", "walk")] == ["turn", "walk"]
    assert library.thrown_away() == () == library.throw_away() == library.restore()


def test_when_is_known_and_the_last_one_comes_first(library: Library) -> None:
    start = datetime.now(UTC)
    hashes = [library.throw_away(name)[0].hash for name in ("walk", "kick")]
    listed = library.thrown_away()
    assert [clip.name for clip, _ in listed] == ["kick", "walk"]
    assert all(start <= at <= datetime.now(UTC) for _, at in listed)
    library.throw_away(hashes[0])  # again: it stays thrown away since then
    assert library.thrown_away() == listed


def test_content_that_is_added_again_is_there_again(library: Library, tmp_path: Path) -> None:
    (gone,) = library.throw_away("kick")
    library.keep_draft(gone.hash, "{}", revision=None)
    assert library.add(piece("kick")) == gone == library.clip("kick") and library.thrown_away() == ()
    kp.save(piece("walk"), tmp_path / "file.bvh")
    filed = library.add(tmp_path / "file.bvh")
    library.throw_away("file", "turn")
    done = library.add([tmp_path / "file.bvh"], jobs=1)
    assert done.known == (filed,) and [clip.name for clip, _ in library.thrown_away()] == ["turn"]
    assert library.draft("kick") is not None and library.verify() == ()


def test_forgetting_is_for_good(library: Library) -> None:
    gone = library.throw_away("walk", "kick")
    assert library.forget_thrown_away() == () and len(library.thrown_away()) == 2
    with library._store.database.writing() as connection:
        long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="microseconds")
        mine = sa.select(thrown_away.c.clip).order_by(thrown_away.c.clip).limit(1).scalar_subquery()
        connection.execute(sa.update(thrown_away).where(thrown_away.c.clip == mine).values(at=long_ago))
    assert library.forget_thrown_away() == (gone[0],)
    assert library.forget_thrown_away(0) == (gone[1],) and library.thrown_away() == ()
    for clip in gone:
        assert not library._store.blobs.has(clip.blob)
        with pytest.raises(OptionError, match="no clip"):
            library.clip(clip.hash)
    assert library.verify() == () and len(library) == len(NAMES) - 2
    for days in (-1, "x", float("nan"), 1e12):
        with pytest.raises(OptionError, match="older_than_days"):
            library.forget_thrown_away(days)  # type: ignore[arg-type]


def test_a_damaged_date_is_said(library: Library) -> None:
    library.throw_away("walk")
    with library._store.database.writing() as connection:
        connection.execute(sa.update(thrown_away).values(at="soon"))
    with pytest.raises(FormatError, match="when clips were thrown away is damaged, expected dates"):
        library.thrown_away()
