"""Run tasks on workers and turn their results into responses."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from keypose.server.app_state import AppState, run_until_disconnect
from keypose.server.workers.worker_context import TaskResult


async def run_task(
    request: Request,
    state: AppState,
    task: str,
    clip: str,
    payload: dict[str, Any],
    timeout_s: float | None = None,
    *,
    is_slow: bool = False,
) -> Response:
    """Return the response of a task about a clip, cancelled if the client disconnects. ``payload`` is JSON data."""
    result = await run_until_disconnect(request, state.workers.run(task, clip, payload, timeout_s, is_slow=is_slow))
    return build_response(request, result)


def build_response(request: Request, result: TaskResult) -> Response:
    """Return a task result as a response: 304 without a body if the client has it by its ETag."""
    etag = next((value for name, value in result.headers.items() if name.lower() == "etag"), None)
    if etag is not None and is_cached(request, etag):
        return Response(status_code=304, headers=dict(result.headers))
    return Response(result.body, media_type=result.media_type, headers=dict(result.headers))


def is_cached(request: Request, etag: str) -> bool:
    """Whether the client has the content with this ETag."""
    etags = request.headers.get("if-none-match", "")
    return etag in (each.strip().removeprefix("W/") for each in etags.split(","))
