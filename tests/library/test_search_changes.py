"""Searches after changes of the library: removed clips are not found, new ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.library.search.memory_index import MemoryIndex
from support.errors import raises
from support.library_cases import DEMO


@pytest.fixture(autouse=True)
def all_clips_are_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also clips that have nothing in common with the query, so that few clips suffice."""
    monkeypatch.setattr("keypose.library.search.search.MIN_SCORE", 0.0)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[kp.Library]:
    with kp.Library(tmp_path / "clips.db") as new_library:
        for start in range(0, 300, 60):
            new_library.add(DEMO[start : start + 60], name=f"from {start}")
        for ask in searches(new_library, "from 60"):
            ask()
        yield new_library


def searches(library: kp.Library, clip: str) -> list[Callable[[], tuple[Any, ...]]]:
    options = {"limit": 20, "deduplicate": False}
    return [
        lambda: library.search(clip, **options),
        lambda: library.search(clip, ranker="swings", **options),
        lambda: library.search_part(clip, 0, 40, **options),
        lambda: library.search_pose(clip, 10, **options),
    ]


def names(hits: tuple[Any, ...]) -> set[str]:
    return {hit.clip.name for hit in hits}


def test_every_search_sees_every_change(library: kp.Library) -> None:
    library.trash("from 0")
    library.remove("from 120")
    library.add(DEMO[70:130], name="new")
    for ask in searches(library, "from 60"):
        assert names(ask()) == {"new", "from 180", "from 240"}
    for ask in searches(library, "new"):
        assert names(ask()) == {"from 60", "from 180", "from 240"}
    library.restore("from 0")
    for ask in searches(library, "from 60"):
        assert names(ask()) == {"from 0", "new", "from 180", "from 240"}


def test_a_grown_index_answers_like_a_new_one(library: kp.Library, tmp_path: Path) -> None:
    library.trash("from 180")
    for start in range(20, 140, 20):
        library.add(DEMO[start : start + 50], name=f"later {start}")
        for ask in searches(library, "from 60"):
            ask()
    library.restore("from 180")
    library.remove("later 40")
    with kp.Library(tmp_path / "clips.db") as another:
        for ask, ask_again in zip(searches(library, "from 60"), searches(another, "from 60"), strict=True):
            assert ask() == ask_again()
            assert [hit.explanation for hit in ask()] == [hit.explanation for hit in ask_again()]


def test_searches_can_be_prepared(library: kp.Library, tmp_path: Path) -> None:
    with kp.Library(tmp_path / "clips.db") as another:
        another.prepare_search()
        index = another._candidate_source
        assert isinstance(index, MemoryIndex) and index._swing_tables.is_loaded and index._poses.is_loaded
        options, expected = another.search("from 60"), library.search("from 60")
        assert options == expected and options[0].details.swings == expected[0].details.swings != ()


def test_search_pose_accepts_a_computed_pose_vector(library: kp.Library) -> None:
    numbers = library.pose_vector("from 60", 10)
    assert numbers == library.pose_vector(library.get("from 60"), 10)
    assert library.search_pose("from 60", 10, pose_vector=numbers) == library.search_pose("from 60", 10)
    another = library.pose_vector("from 180", 50)
    assert library.search_pose("from 60", 10, pose_vector=another)[0].clip.name == "from 180"
    for wrong in (numbers[:-1], [*numbers[:-1], float("nan")], "abc", [10**400], [1e300] * 52, 3):
        with raises(kp.OptionError, option="pose_vector"):
            library.search_pose("from 60", 10, pose_vector=wrong)  # type: ignore[arg-type]
    with raises(kp.OptionError, option="frame", value=60):
        library.pose_vector("from 60", 60)


def test_a_library_may_be_emptied_and_filled_again(library: kp.Library) -> None:
    another = DEMO[40:100]
    asks = (
        lambda: library.search(another),
        lambda: library.search(another, ranker="swings"),
        lambda: library.search_part(another, 0, 40),
        lambda: library.search_pose(another, 10),
    )
    for clip in library.clips():
        assert all(clip.name in names(ask()) for ask in asks[:2])
        library.remove(clip.hash)
    assert [ask() for ask in asks] == [(), (), (), ()]
    library.add(DEMO[60:120], name="again")
    assert [names(ask()) for ask in asks] == [{"again"}] * 4
