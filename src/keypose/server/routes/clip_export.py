"""Export: one clip as a file, several as a streamed zip."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from keypose.server.app_state import AppStateDep, run_until_disconnect
from keypose.server.dispatch import run_task
from keypose.server.routes.clip_responses import EXPORT_TIMEOUT_S, FILE, ZIP
from keypose.server.routes.zip_stream import stream_zip
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import BatchExportRequest, ExportRequest
from keypose.server.workers.http_headers import content_disposition

router = APIRouter(tags=["export"])

ZIP_NAME = "keypose.zip"


@router.post("/api/clips/{clip}/export", response_class=Response, responses=FILE)
async def export_clip(request: Request, state: AppStateDep, clip: ClipHash, body: ExportRequest) -> Response:
    """Return a clip, its keys or an edit of it as a file."""
    options = body.model_dump(mode="json", exclude={"draft"})
    if body.draft is not None:
        options["draft"] = body.draft.model_dump(mode="json", exclude_unset=True)
    return await run_task(request, state, "export", clip, {"clip": clip, **options}, EXPORT_TIMEOUT_S)


@router.post("/api/export", response_class=StreamingResponse, responses=ZIP)
async def export_clips(request: Request, state: AppStateDep, body: BatchExportRequest) -> Response:
    """Return several clips as a zip with a manifest."""
    options = body.model_dump(mode="json", exclude={"clips"}, exclude_none=True)
    clips = [await state.get_clip(digest) for digest in dict.fromkeys(body.clips)]

    async def export(digest: str) -> bytes:
        result = await state.workers.run("export", digest, {"clip": digest, **options}, EXPORT_TIMEOUT_S)
        return result.body

    # The first clip is exported before anything is sent: an invalid request gets an error, not a broken zip.
    first = await run_until_disconnect(request, export(clips[0].hash))
    headers = {"Content-Disposition": content_disposition(ZIP_NAME)}
    return StreamingResponse(
        stream_zip(clips, body.format, first, export), media_type="application/zip", headers=headers
    )
