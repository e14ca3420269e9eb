"""Export: one clip as a file, several as a streamed zip."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

import keypose
from keypose.clip_edit import ExportOptions, safe_stem
from keypose.clip_edit.export import is_compressed, unique_names
from keypose.errors import KeyposeError
from keypose.library.records import Clip
from keypose.server.app_state import AppStateDep, run_task, run_until_disconnect
from keypose.server.error_responses import error_details
from keypose.server.routes.clips import EXPORT_TIMEOUT_S, FILE, ZIP
from keypose.server.schema import ClipHash
from keypose.server.schema.keys import EXPORT, FILE_OPTIONS, BatchExportRequest
from keypose.server.workers.clip_worker import content_disposition
from keypose.server.workers.pool import TaskWeight
from keypose.server.workers.process import CHUNK_BYTES
from keypose.server.workers.worker_context import TaskResult

router = APIRouter(tags=["export"])

ZIP_NAME = "keypose.zip"

MANIFEST = "manifest.json"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same clips give the same bytes


@router.post("/api/clips/{clip}/export", response_class=Response, responses=FILE)
async def export_clip(request: Request, state: AppStateDep, clip: ClipHash, body: ExportOptions) -> Response:
    """Return a clip, its keys or an edit of it as a file."""
    payload = {"clip": clip, "options": EXPORT.dump_python(body, mode="json")}
    return await run_task(request, state, "export", clip, payload, EXPORT_TIMEOUT_S, TaskWeight.HEAVY)


@router.post("/api/export", response_class=StreamingResponse, responses=ZIP)
async def export_clips(request: Request, state: AppStateDep, body: BatchExportRequest) -> Response:
    """Return several clips as a zip with a manifest."""
    options = FILE_OPTIONS.dump_python(body, mode="json")
    clips = [await state.get_clip(digest) for digest in dict.fromkeys(body.clips)]

    async def export(digest: str) -> TaskResult:
        payload = {"clip": digest, "options": options}
        return await state.run_clip_task("export", digest, payload, timeout_s=EXPORT_TIMEOUT_S, weight=TaskWeight.HEAVY)

    # The first clip is exported before anything is sent: an invalid request gets an error, not a broken zip.
    first = await run_until_disconnect(request, export(clips[0].hash))
    headers = {"Content-Disposition": content_disposition(ZIP_NAME)}
    return StreamingResponse(
        stream_zip(clips, body.format, first, export), media_type="application/zip", headers=headers
    )


class Sink(io.RawIOBase):
    """Write-only file without seek, whose content is taken out as it grows."""

    def __init__(self) -> None:
        super().__init__()
        self._buffer = bytearray()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Append ``data``."""
        self._buffer += data
        return len(data)

    def __len__(self) -> int:
        return len(self._buffer)

    def take(self) -> bytes:
        """Return and clear what was written since the last call."""
        data = bytes(self._buffer)
        self._buffer.clear()
        return data


async def stream_zip(
    clips: Sequence[Clip], suffix: str, first: TaskResult, export: Callable[[str], Awaitable[TaskResult]]
) -> AsyncIterator[bytes]:
    """Yield the bytes of a zip with a file for each clip and a manifest; ``first`` is the file of the first clip.

    A clip that cannot be exported is left out, and the manifest holds its error.
    """
    sink = Sink()
    names = unique_names(safe_stem(clip.name) + suffix for clip in clips)
    entries: list[dict[str, Any]] = []
    with zipfile.ZipFile(sink, "w") as archive:
        for index, (clip, name) in enumerate(zip(clips, names, strict=True)):
            row: dict[str, Any] = {"hash": clip.hash, "name": clip.name}
            try:
                result = first if index == 0 else await export(clip.hash)
            except KeyposeError as error:
                entries.append({**row, "file": None, "error": error_details(error).model_dump()})
                continue
            digest = hashlib.sha256()
            with archive.open(_zip_entry(name, result.size, is_compressed=is_compressed(suffix)), "w") as file:
                async for chunk in result.chunks():
                    digest.update(chunk)
                    await asyncio.to_thread(file.write, chunk)
                    if len(sink) >= CHUNK_BYTES:
                        yield sink.take()
            entries.append({**row, "file": name, "bytes": result.size, "sha256": digest.hexdigest()})
            yield sink.take()
        manifest = {"keypose": keypose.__version__, "format": suffix, "clips": entries}
        text = json.dumps(manifest, indent=2, ensure_ascii=True).encode()
        archive.writestr(_zip_entry(MANIFEST, len(text), is_compressed=False), text)
    yield sink.take()


def _zip_entry(name: str, size: int, *, is_compressed: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    entry.file_size = size
    return entry
