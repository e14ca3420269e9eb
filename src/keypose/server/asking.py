"""Routes ask workers."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from keypose.server.running import Running, until_gone
from keypose.server.work.desk import Answer


async def ask(
    request: Request,
    here: Running,
    task: str,
    clip: str,
    told: dict[str, Any],
    time_s: float | None = None,
    *,
    aside: bool = False,
) -> Response:
    """What a worker answers about a clip; broken off when the client goes. ``told`` is plain data, fit for JSON."""
    answer = await until_gone(request, here.workers.run(task, clip, told, time_s, aside=aside))
    return respond(request, answer)


def respond(request: Request, answer: Answer) -> Response:
    """An answer as a response; one that the client has already, by its ETag, is not sent again."""
    tag = next((value for name, value in answer.headers.items() if name.lower() == "etag"), None)
    if tag is not None and is_kept(request, tag):
        return Response(status_code=304, headers=dict(answer.headers))
    return Response(answer.body, media_type=answer.media_type, headers=dict(answer.headers))


def is_kept(request: Request, tag: str) -> bool:
    """Whether a browser has what it asks for."""
    known = request.headers.get("if-none-match", "")
    return tag in (each.strip().removeprefix("W/") for each in known.split(","))
