"""Search by example: a clip, a part of one, a pose."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request

from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.library.searching.hits import Hit
from keypose.server.routes.rows import hit
from keypose.server.running import Here, until_gone
from keypose.server.schema.clips import HitRow, Hits, SearchTold
from keypose.server.work.desk import clip_of

router = APIRouter(tags=["search"])


@router.post("/api/search")
async def search(request: Request, here: Here, told: SearchTold) -> Hits:
    """Clips that are like a clip, or have something that is like a part of it, the nearest first."""
    began = time.perf_counter()

    def find(library: Library) -> tuple[HitRow, ...]:
        clip_of(library, told.clip)
        return tuple(map(hit, _found(library, told)))

    hits = await until_gone(request, here.searches(find))
    return Hits(hits=hits, took_ms=1000 * (time.perf_counter() - began))


def _found(library: Library, told: SearchTold) -> tuple[Hit, ...]:
    common: dict[str, Any] = {
        "limit": told.limit,
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
        return library.search_pose(told.clip, told.frame, several=told.several, **common)
    if told.start is None and told.end is None:
        return library.search(told.clip, ranker=told.ranker, **common)
    if told.start is None or told.end is None:
        raise OptionError("start or end alone, expected both: the first frame and the one after the last")
    return library.search_part(told.clip, told.start, told.end, several=told.several, **common)
