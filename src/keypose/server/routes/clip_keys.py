"""Keys of one clip: ladders, selections, curves and edits."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from keypose.server.app_state import AppStateDep
from keypose.server.dispatch import run_task
from keypose.server.routes.clip_responses import ARRAYS, EDIT_TIMEOUT_S, SELECT_TIMEOUT_S, Arrays
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import (
    CurvesHeader,
    CurvesRequest,
    EditHeader,
    EditRequest,
    LadderResponse,
    SelectionRequest,
    SelectionResponse,
    SelectionSpec,
)

keys_router = APIRouter(tags=["keys"])


@keys_router.post("/api/clips/{clip}/ladder", response_model=LadderResponse)
async def get_ladder(request: Request, state: AppStateDep, clip: ClipHash, body: SelectionSpec) -> Response:
    """Return the selections for every number of keys."""
    spec = body.model_dump(mode="json", exclude_unset=True)
    return await run_task(request, state, "ladder", clip, {"clip": clip, "spec": spec}, SELECT_TIMEOUT_S)


@keys_router.post("/api/clips/{clip}/selection", response_model=SelectionResponse)
async def get_selection(request: Request, state: AppStateDep, clip: ClipHash, body: SelectionRequest) -> Response:
    """Return the fewest keys whose curves stay within a tolerance."""
    spec = body.spec.model_dump(mode="json", exclude_unset=True)
    options = {"tolerance_mm": body.tolerance_mm, "interpolation": body.interpolation}
    payload = {"clip": clip, "spec": spec, **options}
    return await run_task(request, state, "selection", clip, payload, SELECT_TIMEOUT_S, is_slow=True)


@keys_router.post(
    "/api/clips/{clip}/curves", response_model=CurvesHeader, response_class=Arrays, responses=ARRAYS
)  # fmt: skip
async def get_curves(request: Request, state: AppStateDep, clip: ClipHash, body: CurvesRequest) -> Response:
    """Return curves through keys, with their score, as arrays."""
    payload = {"clip": clip, **body.model_dump(mode="json")}
    return await run_task(request, state, "curves", clip, payload, EDIT_TIMEOUT_S, is_slow=True)


@keys_router.post(
    "/api/clips/{clip}/edit", response_model=EditHeader, response_class=Arrays, responses=ARRAYS
)  # fmt: skip
async def get_edit(request: Request, state: AppStateDep, clip: ClipHash, body: EditRequest) -> Response:
    """Return the clip after the steps of a draft, as arrays."""
    draft = body.draft.model_dump(mode="json", exclude_unset=True)
    payload = {"clip": clip, "draft": draft, "stride": body.stride}
    return await run_task(request, state, "edit", clip, payload, EDIT_TIMEOUT_S)
