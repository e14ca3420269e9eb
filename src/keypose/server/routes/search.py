"""Search by example: a clip, a span of one, or a pose."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.server.app_state import AppState, AppStateDep, build_response, run_until_disconnect
from keypose.server.schema.clips import SearchRequest, SearchResponse
from keypose.server.workers.worker_context import TaskResult

router = APIRouter(tags=["search"])


@router.post("/api/search", response_model=SearchResponse)
async def search(request: Request, state: AppStateDep, body: SearchRequest) -> Response:
    """Return clips similar to a clip, to a span of it, or to a pose, the best first."""
    return build_response(request, await run_until_disconnect(request, _search(state, body)))


@router.get("/search.json", include_in_schema=False)
async def get_search(request: Request, state: AppStateDep, query: Annotated[SearchRequest, Query()]) -> Response:
    """Return the same as POST /api/search, from a query string."""
    return await search(request, state, query)


async def _search(state: AppState, body: SearchRequest) -> TaskResult:
    pose: Any = None
    if body.frame is not None:
        if body.start is not None or body.end is not None:
            raise OptionError("frame together with start or end", expected="a pose (frame) or a span (start and end)")
        # Computed by a worker of the clip, which may have its motion in memory.
        payload = {"clip": body.clip, "frame": body.frame}
        pose = (await state.run_clip_task("pose", body.clip, payload)).json()
    return await state.run_search(body.clip, {"request": body.model_dump(mode="json"), "pose": pose})
