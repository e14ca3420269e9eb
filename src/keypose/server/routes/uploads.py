"""Files that come in."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request

from keypose.errors import OptionError
from keypose.library.wording import clean_tags
from keypose.server.failing import NoRoom, TooMuchAsked
from keypose.server.routes.rows import row
from keypose.server.running import Here, Running, until_gone
from keypose.server.schema.base import Text
from keypose.server.schema.clips import Uploaded
from keypose.server.work.uploading import file_name, shell_name, skeleton_file

logger = logging.getLogger("keypose.server")
router = APIRouter(tags=["uploads"])

PIECE = 1 << 20  # bytes written at once
BODY = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file, as they are; behind those of its skeleton, where it has one.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/api/uploads", status_code=201, openapi_extra=BODY)
async def upload(
    request: Request,
    here: Here,
    name: Annotated[Text, Query(description="The name of the file; its clip is called after it.")],
    tag: Annotated[list[Text], Query(max_length=50)] = [],  # noqa: B006
    skeleton: Annotated[Text, Query(description="The name of the .asf of an .amc.")] = "",
    skeleton_bytes: Annotated[int, Query(ge=0, description="So many bytes of it come first.")] = 0,
) -> Uploaded:
    """Takes a file in, and answers when it is analysed and in the library."""
    tags = clean_tags(tag)
    async with _place(here) as path:
        size = await _receive(request, path)
        if (skeleton_bytes > 0) != bool(skeleton) or skeleton_bytes >= max(size, 1):
            raise OptionError(f"{skeleton_bytes} bytes of a skeleton in {size}, expected its name, and a motion behind")
        told = {
            "file": str(path),
            "name": file_name(name),
            "tags": tags,
            "skeleton": file_name(skeleton) if skeleton else "",
            "skeleton_bytes": skeleton_bytes,
            "library": shell_name(here.settings.library),
        }
        answer = await until_gone(request, here.uploaders.run("add", path.name, told))
    said = json.loads(answer.body)
    clip = await here.clip(said["hash"])
    return Uploaded(clip=row(clip), known=said["known"], notes=tuple(said["notes"]))


@contextlib.asynccontextmanager
async def _place(here: Running) -> AsyncIterator[Path]:
    """A file of a random name for one upload, that is gone in the end; only so many at once."""
    if here.uploading >= here.settings.uploads_at_once:
        raise TooMuchAsked(f"{here.uploading} files are on their way in already")
    path = here.upload_path()
    here.uploading += 1
    try:
        yield path
    finally:
        here.uploading -= 1
        path.unlink(missing_ok=True)
        skeleton_file(path).unlink(missing_ok=True)  # if the worker was ended


async def _receive(request: Request, path: Path) -> int:
    """Writes the body of a request into a file as it comes; gives its size."""
    gathered, size = bytearray(), 0
    try:
        async with await anyio.open_file(path, "xb") as file:
            async for piece in request.stream():
                gathered += piece
                size += len(piece)
                if len(gathered) >= PIECE:
                    await file.write(gathered)
                    gathered.clear()
            await file.write(gathered)
    except OSError as error:
        logger.error("an upload cannot be written: %s", error)
        raise NoRoom from None
    return size
