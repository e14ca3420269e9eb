"""One clip: details and frames, keys, curves and edits, the data of its pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.clip_edit import SelectionSpec
from keypose.clip_edit.display_data import MEDIA_TYPE
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.server.app_state import AppStateDep, is_cached, run_task
from keypose.server.schema import ClipHash
from keypose.server.schema.clips import ClipDetails
from keypose.server.schema.keys import (
    CURVE_PICTURE,
    CURVES,
    SELECTION,
    SPEC,
    ActionList,
    ComparisonQuery,
    CurvePictureRequest,
    CurvesHeader,
    CurvesRequest,
    EditHeader,
    EditRequest,
    FramesHeader,
    LadderResponse,
    SelectionRequest,
    SelectionResponse,
    SwingHeader,
    SwingRequest,
)
from keypose.server.workers.clip_worker import REVALIDATE, etag
from keypose.server.workers.pool import TaskWeight

# After which a worker is killed.
VIEW_TIMEOUT_S = 30.0
SELECT_TIMEOUT_S = 120.0
EDIT_TIMEOUT_S = 60.0
EXPORT_TIMEOUT_S = 180.0

ARRAYS: dict[int | str, dict[str, Any]] = {200: {"description": "A packet of arrays with this header."}}
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}, "description": "The file."}}
SVG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/svg+xml": {}}, "description": "The picture."}}
ZIP: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}, "description": "The files."}}

Fps = Annotated[
    float | None, Query(gt=0.0, le=1000.0, allow_inf_nan=False, description="Approximate frames per second.")
]
MaxFrames = Annotated[int | None, Query(ge=1, le=10_000_000, description="Maximum number of frames.")]


class Arrays(Response):
    """A packet of arrays."""

    media_type = MEDIA_TYPE


router = APIRouter()


@router.get("/clips/{clip}.json", include_in_schema=False)
@router.get("/api/clips/{clip}", tags=["clip"], response_model=ClipDetails)
async def get_clip(request: Request, state: AppStateDep, clip: ClipHash) -> Response:
    """Return the details of a clip."""
    return await run_task(request, state, "details", clip, {"clip": clip}, VIEW_TIMEOUT_S)


@router.get(
    "/api/clips/{clip}/frames", tags=["clip"], response_model=FramesHeader, response_class=Arrays, responses=ARRAYS
)
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


@router.post("/api/clips/{clip}/ladder", tags=["keys"], response_model=LadderResponse)
async def get_ladder(request: Request, state: AppStateDep, clip: ClipHash, body: SelectionSpec) -> Response:
    """Return the selections for every number of keys."""
    payload = {"clip": clip, "spec": SPEC.dump_python(body, mode="json")}
    return await run_task(request, state, "ladder", clip, payload, SELECT_TIMEOUT_S, TaskWeight.MEDIUM)


@router.post("/api/clips/{clip}/selection", tags=["keys"], response_model=SelectionResponse)
async def get_selection(request: Request, state: AppStateDep, clip: ClipHash, body: SelectionRequest) -> Response:
    """Return the fewest keys whose curves stay within a tolerance, or within 1 % of the height."""
    payload = {"clip": clip, "request": SELECTION.dump_python(body, mode="json")}
    return await run_task(
        request, state, "selection", clip, payload, SELECT_TIMEOUT_S, TaskWeight.HEAVY, uses_neighbour=True
    )


@router.post(
    "/api/clips/{clip}/curves", tags=["keys"], response_model=CurvesHeader, response_class=Arrays, responses=ARRAYS
)
async def get_curves(request: Request, state: AppStateDep, clip: ClipHash, body: CurvesRequest) -> Response:
    """Return curves through keys, with their score, as arrays."""
    payload = {"clip": clip, "request": CURVES.dump_python(body, mode="json")}
    return await run_task(
        request, state, "curves", clip, payload, EDIT_TIMEOUT_S, TaskWeight.MEDIUM, uses_neighbour=True
    )


@router.post("/api/clips/{clip}/curves.svg", tags=["keys"], response_class=Response, responses=SVG)
async def get_curve_picture(
    request: Request, state: AppStateDep, clip: ClipHash, body: CurvePictureRequest
) -> Response:
    """Return a picture of one joint: its curves in the capture and through the keys, or its path."""
    payload = {"clip": clip, "request": CURVE_PICTURE.dump_python(body, mode="json")}
    return await run_task(request, state, "curve picture", clip, payload, EDIT_TIMEOUT_S, TaskWeight.MEDIUM)


@router.post(
    "/api/clips/{clip}/edit", tags=["keys"], response_model=EditHeader, response_class=Arrays, responses=ARRAYS
)
async def get_edit(request: Request, state: AppStateDep, clip: ClipHash, body: EditRequest) -> Response:
    """Return the clip after the steps of a draft, as arrays."""
    payload = {"clip": clip, **body.model_dump(mode="json")}
    return await run_task(request, state, "edit", clip, payload, EDIT_TIMEOUT_S, TaskWeight.MEDIUM)


@router.post(
    "/api/clips/{clip}/swing", tags=["keys"], response_model=SwingHeader, response_class=Arrays, responses=ARRAYS
)
async def get_swing(request: Request, state: AppStateDep, clip: ClipHash, body: SwingRequest) -> Response:
    """Return a swing of a draft, with its arc, as arrays."""
    payload = {"clip": clip, **body.model_dump(mode="json")}
    return await run_task(request, state, "swing", clip, payload, EDIT_TIMEOUT_S, TaskWeight.MEDIUM)


@router.get("/api/clips/{clip}/actions", tags=["clip"], response_model=ActionList)
async def get_actions(request: Request, state: AppStateDep, clip: ClipHash) -> Response:
    """Return the actions of a clip."""
    return await run_task(request, state, "actions", clip, {"clip": clip}, EDIT_TIMEOUT_S, TaskWeight.MEDIUM)


@router.get("/compare/{clip}.json", include_in_schema=False)
async def get_comparison(
    request: Request, state: AppStateDep, clip: ClipHash, query: Annotated[ComparisonQuery, Query()]
) -> Response:
    """Compare methods on one clip with the same number of keys: their keys, and the scores of curves through them."""
    names = list(METHODS) if query.methods is None else query.methods.split(",")
    for name in names:
        if name not in METHODS:
            raise OptionError(option="methods", value=name, expected=f"some of {', '.join(METHODS)}")
    payload = {"clip": clip, "methods": names, "keys": query.keys}
    return await run_task(
        request, state, "comparison", clip, payload, SELECT_TIMEOUT_S, TaskWeight.HEAVY, uses_neighbour=True
    )
