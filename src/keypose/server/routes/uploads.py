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
from pydantic import Field

from keypose.errors import OptionError
from keypose.library.wording import clean_tags
from keypose.server.failing import NoRoom, TooMuchAsked
from keypose.server.rows import row
from keypose.server.running import Here, Running, until_gone
from keypose.server.schema.base import Text
from keypose.server.schema.clips import Uploaded
from keypose.server.work.uploading import bare_name, file_name

logger = logging.getLogger("keypose.server")
router = APIRouter(tags=["uploads"])

PIECE = 1 << 20  # bytes written at once
MOST_COMPANIONS = 20  # of one file
BODY = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file, as they are; behind those of its companions, where it has some.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/api/uploads", status_code=201, openapi_extra=BODY)
async def upload(
    request: Request,
    here: Here,
    name: Annotated[Text, Query(description="The name of the file; its clip is called after it.")],
    tag: Annotated[list[Text], Query(max_length=50)] = [],  # noqa: B006
    companion: Annotated[
        list[Text],
        Query(max_length=MOST_COMPANIONS, description="Files that it needs, by name: an .amc's .asf, a .gltf's .bin."),
    ] = [],  # noqa: B006
    companion_bytes: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Query(max_length=MOST_COMPANIONS, description="Their sizes: they come first in the body, in this order."),
    ] = [],  # noqa: B006
) -> Uploaded:
    """Takes a file in, and answers when it is analysed and in the library."""
    tags = clean_tags(tag)
    async with _place(here) as path:
        size = await _receive(request, path)
        companions = _companions(companion, companion_bytes, size)
        told = {
            "file": str(path),
            "name": file_name(name),
            "tags": tags,
            "companions": companions,
        }
        answer = await until_gone(request, here.uploaders.run("add", path.name, told))
    said = json.loads(answer.body)
    clip = await here.clip(said["hash"])
    return Uploaded(clip=row(clip), known=said["known"], notes=tuple(said["notes"]))


def _companions(names: list[str], sizes: list[int], size: int) -> list[tuple[str, int]]:
    """The files that come before another in a body of so many bytes."""
    bare = [bare_name(name) for name in names]
    if len(bare) != len(sizes) or not all(bare) or len(set(bare)) < len(bare):
        found = f"{len(set(bare) - {''})} names and {len(sizes)} sizes of companions"
        raise OptionError(f"{found}, expected for each a size and a name of its own")
    if sizes and sum(sizes) >= size:
        raise OptionError(f"{sum(sizes)} bytes of companions in {size}, expected a file behind them")
    return list(zip(bare, sizes, strict=True))


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
