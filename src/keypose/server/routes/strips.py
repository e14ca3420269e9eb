"""Strips of key poses: stored ones from the library, others drawn by a worker."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from keypose.library.library import Library
from keypose.library.results_page import sanitize_svg
from keypose.pictures.svg import find_theme
from keypose.server.app_state import AppStateDep, build_response, run_task
from keypose.server.error_responses import StripNotFound
from keypose.server.routes.clips import EDIT_TIMEOUT_S
from keypose.server.schema import ClipHash
from keypose.server.schema.keys import PngStripQuery, StripQuery, StripRequest
from keypose.server.workers.pool import TaskWeight
from keypose.server.workers.worker_context import TaskResult, find_clip

router = APIRouter(tags=["strips"])

CACHE_ONE_DAY = "private, max-age=86400"
SVG_RESPONSE: dict[int | str, dict[str, object]] = {
    200: {"content": {"image/svg+xml": {}}, "description": "The strip."}
}
PNG_RESPONSE: dict[int | str, dict[str, object]] = {200: {"content": {"image/png": {}}, "description": "The strip."}}
_COLOUR = re.compile(r"var\(--kp-([a-z0-9_]+)\)")


@router.get("/api/clips/{clip}/strip.svg", responses=SVG_RESPONSE, response_class=Response)
async def get_strip(
    request: Request,
    state: AppStateDep,
    clip: ClipHash,
    query: Annotated[StripQuery, Query()],
) -> Response:
    """Return key poses side by side as SVG."""
    if query.frames is None:
        svg = await state.run_read(lambda library: stored_strip(library, clip, query.theme, rank=query.rank))
        etag = f'"{hashlib.sha256(svg).hexdigest()[:32]}"'
        return build_response(request, TaskResult(svg, "image/svg+xml", {"ETag": etag, "Cache-Control": CACHE_ONE_DAY}))
    payload = _strip_payload(clip, "svg", query.frames, query) | {"rank": query.rank}
    return await run_task(request, state, "strip", clip, payload)


@router.get("/api/clips/{clip}/strip.png", responses=PNG_RESPONSE, response_class=Response)
async def get_strip_png(
    request: Request,
    state: AppStateDep,
    clip: ClipHash,
    query: Annotated[PngStripQuery, Query()],
) -> Response:
    """Return key poses side by side as PNG; without frames, those of the stored strip."""
    frames = query.frames
    if frames is None:
        key_frames = await state.run_read(lambda library: library.key_frames(clip))
        frames = ",".join(map(str, key_frames))
    return await run_task(request, state, "strip", clip, _strip_payload(clip, "png", frames, query))


@router.post("/api/clips/{clip}/strip.svg", responses=SVG_RESPONSE, response_class=Response)
async def get_edit_strip(request: Request, state: AppStateDep, clip: ClipHash, body: StripRequest) -> Response:
    """Return poses of an edit side by side as SVG."""
    payload = {"clip": clip, "format": "svg", **body.model_dump(mode="json")}
    return await run_task(request, state, "strip", clip, payload, EDIT_TIMEOUT_S, TaskWeight.MEDIUM)


def _strip_payload(clip: str, picture_format: str, frames: str, query: PngStripQuery) -> dict[str, object]:
    return {
        "clip": clip,
        "format": picture_format,
        "frames": [int(frame) for frame in frames.split(",")],
        "theme": query.theme,
        "layout": query.layout,
        "height_px": query.height_px,
    }


def stored_strip(library: Library, digest: str, theme: str, *, rank: bool) -> bytes:
    """Return the strip of a clip as SVG: shapes and text only, whatever the database holds."""
    colours = find_theme(theme).colours
    find_clip(library, digest)
    picture = library.strip(digest)
    svg = None if picture is None else sanitize_svg(picture.svg, rank=rank)
    if svg is None:
        raise StripNotFound
    coloured = _COLOUR.sub(lambda match: colours.get(match[1], "none"), svg)
    return coloured.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()
