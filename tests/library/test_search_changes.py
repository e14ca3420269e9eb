"""Searches right after a change of the library: what is gone is not found, what is new is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.library.searching.memory_shelf import MemoryShelf
from library_cases import DEMO


@pytest.fixture
def library(tmp_path: Path) -> Iterator[kp.Library]:
    with kp.Library(tmp_path / "clips.db") as opened:
        for start in range(0, 300, 60):
            opened.add(DEMO[start : start + 60], name=f"from {start}")
        for ask in questions(opened, "from 60"):
            ask()
        yield opened


def questions(library: kp.Library, clip: str) -> list[Callable[[], tuple[Any, ...]]]:
    found = {"limit": 20, "fold": False}
    return [
        lambda: library.search(clip, **found),
        lambda: library.search(clip, ranker="swings", **found),
        lambda: library.search_part(clip, 0, 40, **found),
        lambda: library.search_pose(clip, 10, **found),
    ]


def names(hits: tuple[Any, ...]) -> set[str]:
    return {hit.clip.name for hit in hits}


def test_every_search_sees_every_change(library: kp.Library) -> None:
    library.throw_away("from 0")
    library.remove("from 120")
    library.add(DEMO[70:130], name="new")
    for ask in questions(library, "from 60"):
        assert names(ask()) == {"new", "from 180", "from 240"}
    for ask in questions(library, "new"):
        assert names(ask()) == {"from 60", "from 180", "from 240"}
    library.restore("from 0")
    for ask in questions(library, "from 60"):
        assert names(ask()) == {"from 0", "new", "from 180", "from 240"}


def test_what_grew_answers_as_what_was_read_at_once(library: kp.Library, tmp_path: Path) -> None:
    library.throw_away("from 180")
    for start in range(20, 140, 20):
        library.add(DEMO[start : start + 50], name=f"later {start}")
        for ask in questions(library, "from 60"):
            ask()
    library.restore("from 180")
    library.remove("later 40")
    with kp.Library(tmp_path / "clips.db") as another:
        for ask, again in zip(questions(library, "from 60"), questions(another, "from 60"), strict=True):
            assert ask() == again()
            assert [hit.says for hit in ask()] == [hit.says for hit in again()]


def test_searches_can_be_prepared(library: kp.Library, tmp_path: Path) -> None:
    with kp.Library(tmp_path / "clips.db") as another:
        another.prepare_search()
        shelf = another._shelf
        assert isinstance(shelf, MemoryShelf) and shelf._sheets.is_loaded and shelf._poses.is_loaded
        found, expected = another.search("from 60"), library.search("from 60")
        assert found == expected and found[0].why.swings == expected[0].why.swings != ()


def test_a_pose_may_be_seen_elsewhere(library: kp.Library) -> None:
    numbers = library.pose_numbers("from 60", 10)
    assert numbers == library.pose_numbers(library.get("from 60"), 10)
    assert library.search_pose("from 60", 10, numbers=numbers) == library.search_pose("from 60", 10)
    another = library.pose_numbers("from 180", 50)
    assert library.search_pose("from 60", 10, numbers=another)[0].clip.name == "from 180"
    for wrong in (numbers[:-1], [*numbers[:-1], float("nan")], "abc", [10**400], [1e300] * 52, 3):
        with pytest.raises(kp.OptionError, match=r"numbers: .*52 as pose_numbers"):
            library.search_pose("from 60", 10, numbers=wrong)  # type: ignore[arg-type]
    with pytest.raises(kp.OptionError, match="frame"):
        library.pose_numbers("from 60", 60)


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
