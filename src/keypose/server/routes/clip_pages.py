"""What the pages of one clip show, as JSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.server.asking import ask
from keypose.server.routes.clip_answers import CHOOSE_S
from keypose.server.routes.clip_look import get_clip
from keypose.server.running import Here
from keypose.server.schema.base import ClipHash

router = APIRouter(include_in_schema=False)

Methods = Annotated[str | None, Query(pattern="^[a-z]{1,20}(,[a-z]{1,20}){0,19}$", description="With commas.")]
Keys = Annotated[int | None, Query(ge=2, le=20_000)]

router.add_api_route("/clips/{clip}.json", get_clip)


@router.get("/compare/{clip}.json")
async def get_comparison(
    request: Request, here: Here, clip: ClipHash, methods: Methods = None, keys: Keys = None
) -> Response:
    """Methods on one clip with the same number of keys: their keys, and how far curves through them stray."""
    some = list(METHODS) if methods is None else methods.split(",")
    for name in some:
        if name not in METHODS:
            raise OptionError(f"method {name!r}, expected some of {', '.join(METHODS)}")
    return await ask(
        request, here, "compared", clip, {"clip": clip, "methods": some, "keys": keys}, CHOOSE_S, aside=True
    )
