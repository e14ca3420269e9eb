"""Searches by example, in processes that hold what they compare: nobody who waits for other things notices them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from keypose.errors import KeyposeError, OptionError
from keypose.library.library import Library
from keypose.library.searching.hits import Hit
from keypose.server.rows import hit
from keypose.server.schema.base import MOST_CLIPS, MOST_SKIPPED
from keypose.server.schema.clips import Hits, SearchTold
from keypose.server.work.desk import Answer, Desk, Task

SURE = 250  # hits: up to so many, their order does not depend on how many are asked for
DEEPEST = MOST_SKIPPED + MOST_CLIPS


def prepare(desk: Desk) -> None:
    """The first search is as quick as the others; where the library is damaged, searches say so."""
    with contextlib.suppress(KeyposeError):
        desk.library.prepare_search()


def search(desk: Desk, told: dict[str, Any]) -> Answer:
    """Hits; ``told["pose"]`` are the numbers of the pose that is asked for, if it is one."""
    began = time.perf_counter()
    wish = SearchTold.model_validate(told["wish"])
    desk.clip(wish.clip)
    end = wish.skip + wish.limit
    found = _found(desk.library, wish, (end if end < SURE else DEEPEST) + 1, told["pose"])  # answers go on from others
    hits = tuple(map(hit, found[wish.skip : end]))
    return Answer.of(Hits(hits=hits, more=len(found) > end, took_ms=1000 * (time.perf_counter() - began)))


def _found(library: Library, wish: SearchTold, limit: int, pose: list[float] | None) -> tuple[Hit, ...]:
    common: dict[str, Any] = {
        "limit": limit,
        "words": wish.words.strip() or None if wish.words else None,
        "tags": wish.tags,
        "least_duration_s": wish.least_duration_s,
        "most_duration_s": wish.most_duration_s,
        "joints": wish.joints or None,
        "mirrored": wish.mirrored,
        "fold": wish.fold,
    }
    if wish.frame is not None:
        return library.search_pose(wish.clip, wish.frame, numbers=pose, several=wish.several, **common)
    if wish.start is None and wish.end is None:
        return library.search(wish.clip, ranker=wish.ranker, **common)
    if wish.start is None or wish.end is None:
        raise OptionError("start or end alone, expected both: the first frame and the one after the last")
    return library.search_part(wish.clip, wish.start, wish.end, several=wish.several, **common)


TASKS: Mapping[str, Task] = {"search": search}
