"""Search by example: a clip, a part of one, a pose."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request

from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.library.searching.hits import Hit
from keypose.server.routes.rows import hit
from keypose.server.running import Here, Running, until_gone
from keypose.server.schema.base import MOST_CLIPS, MOST_SKIPPED
from keypose.server.schema.clips import HitRow, Hits, SearchTold
from keypose.server.work.desk import clip_of

router = APIRouter(tags=["search"])

SURE = 250  # hits: up to so many, their order does not depend on how many are asked for
DEEPEST = MOST_SKIPPED + MOST_CLIPS


@router.post("/api/search")
async def search(request: Request, here: Here, told: SearchTold) -> Hits:
    """Clips that are like a clip, or have something that is like a part of it, the nearest first."""
    began = time.perf_counter()
    numbers = None if told.frame is None else await until_gone(request, _pose(here, told.clip, told.frame))

    def find(library: Library) -> tuple[tuple[HitRow, ...], bool]:
        clip_of(library, told.clip)
        end = told.skip + told.limit
        limit = end if end < SURE else DEEPEST  # answers go on from each other
        found = _found(library, told, limit + 1, numbers)
        return tuple(map(hit, found[told.skip : end])), len(found) > end

    hits, more = await until_gone(request, here.searches(find))
    return Hits(hits=hits, more=more, took_ms=1000 * (time.perf_counter() - began))


async def _pose(here: Running, clip: str, frame: int) -> Sequence[float]:
    """The pose that is asked for, read from the clip's bytes by a worker that may know them already."""
    numbers: list[float] = json.loads((await here.workers.run("pose", clip, {"clip": clip, "frame": frame})).body)
    return numbers


def _found(library: Library, told: SearchTold, limit: int, numbers: Sequence[float] | None) -> tuple[Hit, ...]:
    common: dict[str, Any] = {
        "limit": limit,
        "words": told.words.strip() or None if told.words else None,
        "tags": told.tags,
        "least_duration_s": told.least_duration_s,
        "most_duration_s": told.most_duration_s,
        "joints": told.joints or None,
        "mirrored": told.mirrored,
        "fold": told.fold,
    }
    if told.frame is not None:
        if told.start is not None or told.end is not None:
            raise OptionError("frame with start or end, expected a pose or a part")
        return library.search_pose(told.clip, told.frame, numbers=numbers, several=told.several, **common)
    if told.start is None and told.end is None:
        return library.search(told.clip, ranker=told.ranker, **common)
    if told.start is None or told.end is None:
        raise OptionError("start or end alone, expected both: the first frame and the one after the last")
    return library.search_part(told.clip, told.start, told.end, several=told.several, **common)
