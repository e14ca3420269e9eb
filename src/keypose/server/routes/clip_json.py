"""The data of the pages of one clip, as JSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.server.app_state import AppStateDep
from keypose.server.dispatch import run_task
from keypose.server.routes.clip_details import get_clip
from keypose.server.routes.clip_responses import SELECT_TIMEOUT_S
from keypose.server.schema.base import ClipHash

json_router = APIRouter(include_in_schema=False)

Methods = Annotated[str | None, Query(pattern="^[a-z]{1,20}(,[a-z]{1,20}){0,19}$", description="Separated by commas.")]
Keys = Annotated[int | None, Query(ge=2, le=20_000)]

json_router.add_api_route("/clips/{clip}.json", get_clip)


@json_router.get("/compare/{clip}.json")
async def get_comparison(
    request: Request, state: AppStateDep, clip: ClipHash, methods: Methods = None, keys: Keys = None
) -> Response:
    """Compare methods on one clip with the same number of keys: their keys, and the scores of curves through them."""
    names = list(METHODS) if methods is None else methods.split(",")
    for name in names:
        if name not in METHODS:
            raise OptionError(f"method {name!r}, expected some of {', '.join(METHODS)}")
    payload = {"clip": clip, "methods": names, "keys": keys}
    return await run_task(request, state, "comparison", clip, payload, SELECT_TIMEOUT_S, is_slow=True)
