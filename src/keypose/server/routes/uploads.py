"""Uploads."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from pydantic import Field

from keypose.errors import OptionError, format_count
from keypose.library.rows import clean_tags
from keypose.server.app_state import AppState, AppStateDep, run_until_disconnect
from keypose.server.error_responses import DiskFull, TooManyRequests
from keypose.server.routes.library import clip_row
from keypose.server.schema import Text
from keypose.server.schema.clips import UploadResponse
from keypose.server.workers.upload_worker import base_name, clean_file_name

logger = logging.getLogger("keypose.server")
router = APIRouter(tags=["uploads"])

CHUNK_BYTES = 1 << 20  # written at once
MAX_COMPANIONS = 20  # of one file
BODY_SCHEMA = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file, after those of its companions, if any.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/api/uploads", status_code=201, openapi_extra=BODY_SCHEMA)
async def upload(
    request: Request,
    state: AppStateDep,
    name: Annotated[Text, Query(description="The name of the file, from which the clip gets its name.")],
    tag: Annotated[list[Text], Query(max_length=50)] = [],  # noqa: B006
    companion: Annotated[
        list[Text],
        Query(max_length=MAX_COMPANIONS, description="Files that it needs, by name: an .amc's .asf, a .gltf's .bin."),
    ] = [],  # noqa: B006
    companion_bytes: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Query(max_length=MAX_COMPANIONS, description="Their sizes: they come first in the body, in this order."),
    ] = [],  # noqa: B006
) -> UploadResponse:
    """Add a file to the library; responds when it has been analysed and added."""
    tags = clean_tags(tag)
    async with _reserve_path(state) as path:
        size = await _save_body(request, path)
        companions = _pair_companions(companion, companion_bytes, size)
        payload = {
            "file": str(path),
            "name": clean_file_name(name),
            "tags": tags,
            "companions": companions,
        }
        result = await run_until_disconnect(request, state.add_upload(path.name, payload))
    report = result.json()
    clip = await state.get_clip(report["hash"])
    return UploadResponse(clip=clip_row(clip), is_duplicate=report["is_duplicate"], notes=tuple(report["notes"]))


def _pair_companions(names: list[str], sizes: list[int], size: int) -> list[tuple[str, int]]:
    """Return names and sizes of the companions that precede the file in a body of ``size`` bytes."""
    base_names = [base_name(name) for name in names]
    if len(base_names) != len(sizes) or not all(base_names) or len(set(base_names)) < len(base_names):
        counts = f"{len(set(base_names) - {''})} names and {len(sizes)} sizes of companions"
        raise OptionError(counts, expected="for each a size and a name of its own")
    if sizes and sum(sizes) >= size:
        raise OptionError(f"{format_count(sum(sizes), 'byte')} of companions in {size}", expected="a file behind them")
    return list(zip(base_names, sizes, strict=True))


@contextlib.asynccontextmanager
async def _reserve_path(state: AppState) -> AsyncIterator[Path]:
    """Yield a random path for an upload, removed at the end; TooManyRequests beyond ``max_uploads``."""
    if state.n_uploads >= state.settings.max_uploads:
        raise TooManyRequests(f"{state.n_uploads} files are on their way in already")
    path = state.upload_path()
    state.n_uploads += 1
    try:
        yield path
    finally:
        state.n_uploads -= 1
        path.unlink(missing_ok=True)


async def _save_body(request: Request, path: Path) -> int:
    """Write the body of a request to a file as it arrives, and return its size."""
    buffer, size = bytearray(), 0
    try:
        async with await anyio.open_file(path, "xb") as file:
            async for chunk in request.stream():
                buffer += chunk
                size += len(chunk)
                if len(buffer) >= CHUNK_BYTES:
                    await file.write(buffer)
                    buffer.clear()
            await file.write(buffer)
    except OSError as error:
        logger.error("an upload cannot be written: %s", error)
        raise DiskFull from None
    return size
