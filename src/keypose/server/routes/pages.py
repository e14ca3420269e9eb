"""The pages: one HTML file for all of them, its assets, and the data of the library page as JSON."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from keypose.server.app_state import is_cached
from keypose.server.middleware.error_pages import html_page
from keypose.server.routes.library import get_clips
from keypose.server.schema import ClipHash
from keypose.server.static_files import FILES, StaticFile

logger = logging.getLogger("keypose.server")
router = APIRouter(include_in_schema=False)

router.add_api_route("/clips.json", get_clips)


@router.get("/")
@router.get("/clips/{clip}")
@router.get("/compare/{clip}")
async def show_page(request: Request, clip: ClipHash | None = None) -> Response:
    """Return the HTML file of all pages."""
    index = FILES.index
    if index is None:
        logger.error("the pages are not built: make web")
        body = "<p>The server is running, but its web pages are not built. Run <code>make web</code>, then reload.</p>"
        return html_page(503, "Web pages not built", body)
    return _file_response(request, index)


@router.get("/{name:path}")
async def static_file(request: Request, name: str) -> Response:
    """Return an asset of the pages."""
    file = FILES.get(name)
    if file is None or name.endswith(".html"):
        raise HTTPException(404)
    return _file_response(request, file)


def _file_response(request: Request, file: StaticFile) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": file.cache_control, "Vary": "Accept-Encoding"}
    if is_cached(request, file.etag):
        return Response(status_code=304, headers=headers)
    accepts_gzip = "gzip" in request.headers.get("accept-encoding", "")
    if file.gzipped is not None and accepts_gzip:
        return Response(file.gzipped, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.data, media_type=file.media_type, headers=headers)
