"""Pictures of key poses: those that the library keeps at once, others by a worker."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.server.asking import ask, respond
from keypose.server.routes.clip_answers import EDIT_S
from keypose.server.running import Here
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import StripTold
from keypose.server.strips import stored_strip
from keypose.server.work.desk import Answer

router = APIRouter(tags=["strips"])

LONGEST = 5000  # characters of a list of frames
A_DAY = "private, max-age=86400"
PICTURES: dict[int | str, dict[str, object]] = {200: {"content": {"image/svg+xml": {}}, "description": "The strip."}}
PNG: dict[int | str, dict[str, object]] = {200: {"content": {"image/png": {}}, "description": "The strip."}}
Theme = Literal["light", "dark", "page"]
Layout = Literal["side", "time", "path", "expanded", "in-place"]
Frames = Annotated[
    str | None,
    Query(
        pattern="^[0-9]{1,9}(,[0-9]{1,9})*$",
        max_length=LONGEST,
        description="Frames with commas; none: the strip that is kept.",
    ),
]
Height = Annotated[float | None, Query(ge=20.0, le=2000.0, allow_inf_nan=False)]


@router.get("/api/clips/{clip}/strip.svg", responses=PICTURES, response_class=Response)
async def get_strip(
    request: Request,
    here: Here,
    clip: ClipHash,
    frames: Frames = None,
    theme: Theme = "light",
    layout: Layout = "side",
    height_px: Height = None,
) -> Response:
    """Key poses side by side."""
    if frames is None:
        svg = await here.reads(lambda library: stored_strip(library, clip, theme))
        tag = f'"{hashlib.sha256(svg).hexdigest()[:32]}"'
        return respond(request, Answer(svg, "image/svg+xml", {"ETag": tag, "Cache-Control": A_DAY}))
    return await ask(request, here, "strip", clip, _told(clip, "svg", frames, theme, layout, height_px))


@router.get("/api/clips/{clip}/strip.png", responses=PNG, response_class=Response)
async def get_strip_png(
    request: Request,
    here: Here,
    clip: ClipHash,
    frames: Frames = None,
    theme: Literal["light", "dark"] = "light",
    layout: Layout = "side",
    height_px: Height = None,
) -> Response:
    """The same as pixels; without frames, those of the strip that is kept."""
    if frames is None:
        kept = await here.reads(lambda library: library.key_frames(clip))
        frames = ",".join(map(str, kept))
    return await ask(request, here, "strip", clip, _told(clip, "png", frames, theme, layout, height_px))


@router.post("/api/clips/{clip}/strip.svg", responses=PICTURES, response_class=Response)
async def get_edited_strip(request: Request, here: Here, clip: ClipHash, told: StripTold) -> Response:
    """Poses of an edit side by side."""
    asked = {**told.model_dump(mode="json"), "draft": told.draft.model_dump(mode="json", exclude_unset=True)}
    return await ask(request, here, "strip", clip, {"clip": clip, "kind": "svg", **asked}, EDIT_S)


def _told(clip: str, kind: str, frames: str, theme: str, layout: str, height_px: float | None) -> dict[str, object]:
    return {
        "clip": clip,
        "kind": kind,
        "frames": [int(frame) for frame in frames.split(",")],
        "theme": theme,
        "layout": layout,
        "height_px": height_px,
    }
