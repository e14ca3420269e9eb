"""Strips of key poses: stored ones from the library, others drawn by a worker."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.library.library import Library
from keypose.library.results_page import sanitize_svg
from keypose.options import Layout
from keypose.pictures.svg import find_theme
from keypose.server.app_state import AppStateDep, build_response, run_task
from keypose.server.error_responses import StripNotFound
from keypose.server.routes.clips import EDIT_TIMEOUT_S
from keypose.server.schema import ClipHash
from keypose.server.schema.keys import StripRequest
from keypose.server.workers.worker_context import TaskResult, find_clip

router = APIRouter(tags=["strips"])

MAX_FRAMES_LENGTH = 5000  # characters of a list of frames
CACHE_ONE_DAY = "private, max-age=86400"
SVG_RESPONSE: dict[int | str, dict[str, object]] = {
    200: {"content": {"image/svg+xml": {}}, "description": "The strip."}
}
PNG_RESPONSE: dict[int | str, dict[str, object]] = {200: {"content": {"image/png": {}}, "description": "The strip."}}
Theme = Literal["light", "dark", "page"]
Frames = Annotated[
    str | None,
    Query(
        pattern="^[0-9]{1,9}(,[0-9]{1,9})*$",
        max_length=MAX_FRAMES_LENGTH,
        description="Frames separated by commas; none: the stored strip.",
    ),
]
Height = Annotated[float | None, Query(ge=20.0, le=2000.0, allow_inf_nan=False)]
_COLOUR = re.compile(r"var\(--kp-([a-z0-9_]+)\)")


@router.get("/api/clips/{clip}/strip.svg", responses=SVG_RESPONSE, response_class=Response)
async def get_strip(
    request: Request,
    state: AppStateDep,
    clip: ClipHash,
    frames: Frames = None,
    theme: Theme = "light",
    layout: Layout = "side",
    height_px: Height = None,
) -> Response:
    """Return key poses side by side as SVG."""
    if frames is None:
        svg = await state.run_read(lambda library: stored_strip(library, clip, theme))
        etag = f'"{hashlib.sha256(svg).hexdigest()[:32]}"'
        return build_response(request, TaskResult(svg, "image/svg+xml", {"ETag": etag, "Cache-Control": CACHE_ONE_DAY}))
    return await run_task(request, state, "strip", clip, _strip_payload(clip, "svg", frames, theme, layout, height_px))


@router.get("/api/clips/{clip}/strip.png", responses=PNG_RESPONSE, response_class=Response)
async def get_strip_png(
    request: Request,
    state: AppStateDep,
    clip: ClipHash,
    frames: Frames = None,
    theme: Literal["light", "dark"] = "light",
    layout: Layout = "side",
    height_px: Height = None,
) -> Response:
    """Return key poses side by side as PNG; without frames, those of the stored strip."""
    if frames is None:
        key_frames = await state.run_read(lambda library: library.key_frames(clip))
        frames = ",".join(map(str, key_frames))
    return await run_task(request, state, "strip", clip, _strip_payload(clip, "png", frames, theme, layout, height_px))


@router.post("/api/clips/{clip}/strip.svg", responses=SVG_RESPONSE, response_class=Response)
async def get_edit_strip(request: Request, state: AppStateDep, clip: ClipHash, body: StripRequest) -> Response:
    """Return poses of an edit side by side as SVG."""
    payload = {"clip": clip, "format": "svg", **body.model_dump(mode="json")}
    return await run_task(request, state, "strip", clip, payload, EDIT_TIMEOUT_S)


def _strip_payload(
    clip: str, picture_format: str, frames: str, theme: str, layout: str, height_px: float | None
) -> dict[str, object]:
    return {
        "clip": clip,
        "format": picture_format,
        "frames": [int(frame) for frame in frames.split(",")],
        "theme": theme,
        "layout": layout,
        "height_px": height_px,
    }


def stored_strip(library: Library, digest: str, theme: str) -> bytes:
    """Return the strip of a clip as SVG: shapes and text only, whatever the database holds."""
    colours = find_theme(theme).colours
    find_clip(library, digest)
    picture = library.strip(digest)
    svg = None if picture is None else sanitize_svg(picture.svg)
    if svg is None:
        raise StripNotFound
    coloured = _COLOUR.sub(lambda match: colours.get(match[1], "none"), svg)
    return coloured.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()
