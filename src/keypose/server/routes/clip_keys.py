"""Keys of one clip: chosen, with curves through them, and under edit."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from keypose.server.asking import ask
from keypose.server.routes.clip_answers import ARRAYS, CHOOSE_S, EDIT_S, Arrays
from keypose.server.running import Here
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import (
    EditedHeader,
    EditedTold,
    LadderSaid,
    RecipeTold,
    UnbakedHeader,
    UnbakedTold,
    WithinSaid,
    WithinTold,
)

router = APIRouter(tags=["keys"])


@router.post("/api/clips/{clip}/ladder", response_model=LadderSaid)
async def get_ladder(request: Request, here: Here, clip: ClipHash, told: RecipeTold) -> Response:
    """Keys for every number of keys."""
    recipe = told.model_dump(mode="json", exclude_unset=True)
    return await ask(request, here, "ladder", clip, {"clip": clip, "recipe": recipe}, CHOOSE_S)


@router.post("/api/clips/{clip}/within", response_model=WithinSaid)
async def get_within(request: Request, here: Here, clip: ClipHash, told: WithinTold) -> Response:
    """Fewest keys whose curves leave no joint farther off."""
    recipe = told.recipe.model_dump(mode="json", exclude_unset=True)
    beside = {"tolerance_mm": told.tolerance_mm, "interpolation": told.interpolation}
    return await ask(request, here, "within", clip, {"clip": clip, "recipe": recipe, **beside}, CHOOSE_S, aside=True)


@router.post(
    "/api/clips/{clip}/unbaked", response_model=UnbakedHeader, response_class=Arrays, responses=ARRAYS
)  # fmt: skip
async def get_unbaked(request: Request, here: Here, clip: ClipHash, told: UnbakedTold) -> Response:
    """Curves through keys, and how far they stray, as arrays."""
    asked = {"clip": clip, **told.model_dump(mode="json")}
    return await ask(request, here, "unbaked", clip, asked, EDIT_S, aside=True)


@router.post(
    "/api/clips/{clip}/edited", response_model=EditedHeader, response_class=Arrays, responses=ARRAYS
)  # fmt: skip
async def get_edited(request: Request, here: Here, clip: ClipHash, told: EditedTold) -> Response:
    """The clip after the steps of a draft, as arrays."""
    draft = told.draft.model_dump(mode="json", exclude_unset=True)
    return await ask(request, here, "edited", clip, {"clip": clip, "draft": draft, "step": told.step}, EDIT_S)
