"""Search by example: a clip, a part of one, a pose."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.server.asking import respond
from keypose.server.running import Here, Running, until_gone
from keypose.server.schema.clips import Hits, SearchTold
from keypose.server.work.desk import Answer

router = APIRouter(tags=["search"])
page = APIRouter(include_in_schema=False)


@router.post("/api/search", response_model=Hits)
async def search(request: Request, here: Here, told: SearchTold) -> Response:
    """Clips that are like a clip, or have something that is like a part of it, the nearest first."""
    return respond(request, await until_gone(request, _search(here, told)))


@page.get("/search.json")
async def get_search(request: Request, here: Here, told: Annotated[SearchTold, Query()]) -> Response:
    """What the library's page shows of a search by example, as JSON."""
    return await search(request, here, told)


async def _search(here: Running, told: SearchTold) -> Answer:
    pose: Any = None
    if told.frame is not None:
        if told.start is not None or told.end is not None:
            raise OptionError("frame with start or end, expected a pose or a part")
        # It is read from the clip's bytes, by a worker that may know them already.
        asked = {"clip": told.clip, "frame": told.frame}
        pose = json.loads((await here.workers.run("pose", told.clip, asked)).body)
    return await here.searchers.run("search", told.clip, {"wish": told.model_dump(mode="json"), "pose": pose})
