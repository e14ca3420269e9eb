"""The pages: one shell for all of them, the files that it needs, and what each shows as JSON."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from keypose.server.asking import is_kept
from keypose.server.guard.replies import page
from keypose.server.routes.library import get_clips
from keypose.server.schema.base import ClipHash
from keypose.server.static_files import FILES, StaticFile

logger = logging.getLogger("keypose.server")
router = APIRouter(include_in_schema=False)


# What the pages show, as data
router.add_api_route("/clips.json", get_clips)


@router.get("/")
@router.get("/clips/{clip}")
@router.get("/compare/{clip}")
async def show(request: Request, clip: ClipHash | None = None) -> Response:
    """Any page."""
    shell = FILES.shell
    if shell is None:
        logger.error("the pages are not built: make web")
        body = "<p>The server runs, but its pages were not built. Type <code>make web</code>, then reload.</p>"
        return page(503, "No pages yet", body)
    return _file(request, shell)


@router.get("/{name:path}")
async def static_file(request: Request, name: str) -> Response:
    """A file of the pages."""
    found = FILES.get(name)
    if found is None or name.endswith(".html"):
        raise HTTPException(404)
    return _file(request, found)


def _file(request: Request, found: StaticFile) -> Response:
    headers = {"ETag": found.tag, "Cache-Control": found.keep, "Vary": "Accept-Encoding"}
    if is_kept(request, found.tag):
        return Response(status_code=304, headers=headers)
    zips = "gzip" in request.headers.get("accept-encoding", "")
    if found.zipped is not None and zips:
        return Response(found.zipped, media_type=found.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.data, media_type=found.media_type, headers=headers)
