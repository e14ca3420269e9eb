"""Details and frames of one clip."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.server.app_state import AppStateDep
from keypose.server.dispatch import is_cached, run_task
from keypose.server.routes.clip_responses import ARRAYS, VIEW_TIMEOUT_S, Arrays
from keypose.server.schema.base import ClipHash
from keypose.server.schema.clips import ClipDetails
from keypose.server.schema.keys import FramesHeader
from keypose.server.workers.http_headers import REVALIDATE, etag

router = APIRouter(tags=["clip"])

Fps = Annotated[
    float | None, Query(gt=0.0, le=1000.0, allow_inf_nan=False, description="Approximate frames per second.")
]
MaxFrames = Annotated[int | None, Query(ge=1, le=10_000_000, description="Maximum number of frames.")]


@router.get("/api/clips/{clip}", response_model=ClipDetails)
async def get_clip(request: Request, state: AppStateDep, clip: ClipHash) -> Response:
    """Return the details of a clip."""
    return await run_task(request, state, "details", clip, {"clip": clip}, VIEW_TIMEOUT_S)


@router.get("/api/clips/{clip}/frames", response_model=FramesHeader, response_class=Arrays, responses=ARRAYS)
async def get_frames(
    request: Request, state: AppStateDep, clip: ClipHash, fps: Fps = None, max_frames: MaxFrames = None
) -> Response:
    """Return the positions of joints and end sites as arrays."""
    payload = {"clip": clip, "fps": fps, "max_frames": max_frames}
    etag_value = etag("frames", payload)
    if is_cached(request, etag_value):  # without a worker
        await state.get_clip(clip)
        return Response(status_code=304, headers={"ETag": etag_value, **REVALIDATE})
    return await run_task(request, state, "frames", clip, payload, VIEW_TIMEOUT_S)
