"""Searches while clips come in all the time: a little old, never of what is gone, and nobody waits."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_search_shelf import NOWHERE, drawn_poses, held

import keypose as kp
from keypose.errors import FileError
from keypose.library.library import Library
from keypose.library.searching.keeping import Kept, Lag
from keypose.library.searching.memory_shelf import MemoryShelf
from library_cases import DEMO

LONG_S, SHORT_S = 60.0, 0.3


@contextmanager
def reading() -> Iterator[Any]:
    yield NOWHERE


def grow(library: Any, number: int) -> None:
    library.seals_by[number], library.poses_by[number] = "new", drawn_poses(0)[0]
    library.count += 1


def until(is_so: Any) -> None:
    end = time.monotonic() + 20.0
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_search_now_and_then_is_exact() -> None:
    library = held(1, 2)
    kept = Kept(library, library.poses, list)
    kept.at(NOWHERE)
    kept.lag = Lag(reading, SHORT_S, math.inf)
    grow(library, 5)
    assert kept.at(NOWHERE).ids.tolist() == [1, 2, 5]
    time.sleep(1.2 * SHORT_S)
    grow(library, 6)
    assert kept.at(NOWHERE).ids.tolist() == [1, 2, 5, 6]


def test_what_is_renewed_quickly_hardly_lags() -> None:
    library = held(1, 2)
    kept = Kept(library, library.poses, list)
    kept.lag = Lag(reading, LONG_S)
    kept.at(NOWHERE)
    for number in range(3, 9):
        grow(library, number)
        time.sleep(0.1)
        assert kept.at(NOWHERE).ids.tolist() == list(range(1, number + 1))


def test_many_changes_are_taken_together_in_the_background() -> None:
    library = held(1, 2)
    kept = Kept(library, library.poses, list)
    kept.lag = Lag(reading, SHORT_S, math.inf)
    first = kept.at(NOWHERE)
    for number in range(3, 20):
        grow(library, number)
        assert kept.at(NOWHERE) is first
    until(lambda: kept.at(NOWHERE).ids.tolist() == list(range(1, 20)))
    assert kept.at(NOWHERE).changes == library.count


def test_what_cannot_be_renewed_is_said_by_the_next_search() -> None:
    library = held(1, 2)
    fails = False

    def poses(connection: Any, ids: Any) -> Any:
        if fails:
            raise FileError("no disk")
        return library.poses(connection, ids)

    kept = Kept(library, poses, list)
    kept.lag = Lag(reading, SHORT_S, math.inf)
    kept.at(NOWHERE)
    grow(library, 5)
    fails = True

    def says() -> bool:
        try:
            kept.at(NOWHERE)
        except FileError:
            return True
        return False

    until(says)
    fails = False
    assert kept.at(NOWHERE).ids.tolist() == [1, 2, 5]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "clips.db") as opened:
        for start in range(0, 300, 60):
            opened.add(DEMO[start : start + 60], name=f"from {start}")
        assert isinstance(opened._shelf, MemoryShelf)
        opened._shelf.let_lag(Lag(opened._store.database.reading, LONG_S, math.inf))
        for ask in questions(opened, "from 60"):
            ask()
        yield opened


def questions(library: Library, clip: str) -> list[Any]:
    found = {"limit": 20, "fold": False}
    return [
        lambda: library.search(clip, **found),
        lambda: library.search(clip, ranker="swings", **found),
        lambda: library.search_part(clip, 0, 40, **found),
        lambda: library.search_pose(clip, 10, **found),
    ]


def names(hits: tuple[Any, ...]) -> set[str]:
    return {hit.clip.name for hit in hits}


def test_what_is_gone_is_not_found_and_what_is_new_can_be_asked_for(library: Library) -> None:
    library.throw_away("from 0")
    library.remove("from 120")
    library.add(DEMO[70:130], name="new")
    for ask in questions(library, "from 60"):
        assert names(ask()) == {"from 180", "from 240"}
    for ask in questions(library, "new"):
        assert names(ask()) == {"from 60", "from 180", "from 240"}
    assert library.search("from 60", limit=1)[0].clip.name in ("from 180", "from 240")  # folded


def test_the_lag_ends(tmp_path: Path) -> None:
    with kp.Library(tmp_path / "clips.db") as library:
        library.add(DEMO[:60], name="one")
        library.let_search_lag(SHORT_S)
        library.search("one")
        library.add(DEMO[100:160], name="two")
        until(lambda: names(library.search("one")) == {"two"})
        with pytest.raises(kp.OptionError, match="seconds"):
            library.let_search_lag(0)
