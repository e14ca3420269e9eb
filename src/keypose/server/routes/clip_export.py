"""Clips to take away: one as a file, several as a zip that is sent while it grows."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from keypose.server.asking import ask
from keypose.server.routes.clip_answers import EXPORT_S, FILE, ZIP
from keypose.server.routes.clip_zip import zipped
from keypose.server.running import Here, until_gone
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import ExportManyTold, ExportTold
from keypose.server.work.tasks_headers import disposition

router = APIRouter(tags=["export"])

ZIP_NAME = "keypose.zip"


@router.post("/api/clips/{clip}/export", response_class=Response, responses=FILE)
async def export_clip(request: Request, here: Here, clip: ClipHash, told: ExportTold) -> Response:
    """A clip, its keys or an edit of it as a file."""
    wanted = told.model_dump(mode="json", exclude={"draft"})
    if told.draft is not None:
        wanted["draft"] = told.draft.model_dump(mode="json", exclude_unset=True)
    return await ask(request, here, "export", clip, {"clip": clip, **wanted}, EXPORT_S)


@router.post("/api/export", response_class=StreamingResponse, responses=ZIP)
async def export_clips(request: Request, here: Here, told: ExportManyTold) -> Response:
    """Several clips in a zip, with a manifest that says which is which."""
    wanted = told.model_dump(mode="json", exclude={"clips"}, exclude_none=True)
    clips = [await here.clip(digest) for digest in dict.fromkeys(told.clips)]

    async def take(digest: str) -> bytes:
        answer = await here.workers.run("export", digest, {"clip": digest, **wanted}, EXPORT_S)
        return answer.body

    # The first one is made before anything is sent: what is wrong with the request is then an error, not a broken zip.
    first = await until_gone(request, take(clips[0].hash))
    headers = {"Content-Disposition": disposition(ZIP_NAME)}
    return StreamingResponse(zipped(clips, told.format, first, take), media_type="application/zip", headers=headers)
