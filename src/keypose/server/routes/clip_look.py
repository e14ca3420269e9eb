"""One clip to look at: all about it, and where its joints are."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.server.asking import ask, is_kept
from keypose.server.routes.clip_answers import ARRAYS, LOOK_S, Arrays
from keypose.server.running import Here
from keypose.server.schema.base import ClipHash
from keypose.server.schema.clips import ClipFacts
from keypose.server.schema.keys import FramesHeader
from keypose.server.work.tasks_headers import AGAIN, tag

router = APIRouter(tags=["clip"])

Fps = Annotated[float | None, Query(gt=0.0, le=1000.0, allow_inf_nan=False, description="About so many in a second.")]
MostFrames = Annotated[int | None, Query(ge=1, le=10_000_000, description="At most so many in all.")]


@router.get("/api/clips/{clip}", response_model=ClipFacts)
async def get_clip(request: Request, here: Here, clip: ClipHash) -> Response:
    """All about a clip."""
    return await ask(request, here, "facts", clip, {"clip": clip}, LOOK_S)


@router.get("/api/clips/{clip}/frames", response_model=FramesHeader, response_class=Arrays, responses=ARRAYS)
async def get_frames(
    request: Request, here: Here, clip: ClipHash, fps: Fps = None, most_frames: MostFrames = None
) -> Response:
    """Where joints and end sites are, as arrays."""
    told = {"clip": clip, "fps": fps, "most_frames": most_frames}
    known = tag("frames", told)
    if is_kept(request, known):  # then no worker is asked
        await here.clip(clip)
        return Response(status_code=304, headers={"ETag": known, **AGAIN})
    return await ask(request, here, "frames", clip, told, LOOK_S)
