"""The app: routes, and what their errors become."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import keypose
from keypose.errors import KeyposeError
from keypose.server.failing import UNEXPECTED, failed, problem_of, status_of
from keypose.server.guard.replies import Lingering, refusal, wants_page
from keypose.server.guard.stack import guarded
from keypose.server.routes import ROUTERS
from keypose.server.running import ClientGone, running
from keypose.server.schema.base import Failed
from keypose.server.settings import Settings

logger = logging.getLogger("keypose.server")

OPENAPI = "/api/openapi.json"
GONE = 499  # nobody reads this
_NOT_THERE = {
    404: ("Not found", "There is nothing under this address."),
    405: ("Not so", "What is under this address does not do that."),
}
# FastAPI could tell others what it does; nothing leaves this machine.
_SILENT: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)


class App(FastAPI):
    """FastAPI behind the guard."""

    def __init__(self, settings: Settings, **options: Any) -> None:
        super().__init__(**options)
        self.settings = settings

    def build_middleware_stack(self) -> ASGIApp:
        """The guard stands before all that FastAPI does, so that its answers pass it too."""
        return guarded(super().build_middleware_stack(), self.settings)


def make_app(settings: Settings) -> FastAPI:
    """The web app of one library."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings) as here:
            app.state.running = here
            yield

    app = App(
        settings,
        title="Keypose",
        summary="Clips of motion capture: look, search, choose keys, edit, take away.",
        version=keypose.__version__,
        openapi_url=OPENAPI,
        docs_url=None,  # their pages load from other servers
        redoc_url=None,
        lifespan=lifespan,
        telemetry=_SILENT,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        responses={
            422: {"model": Failed, "description": "What was sent is not what is expected."},
            "default": {"model": Failed, "description": "Any other problem."},
        },
    )
    for router in ROUTERS:
        app.include_router(router)
    handlers: dict[type[Exception], Callable[[Request, Any], Any]] = {
        KeyposeError: _on_keypose_error,
        RequestValidationError: _on_bad_request,
        HTTPException: _on_http,
        ClientGone: _on_gone,
        ClientDisconnect: _on_gone,
        Exception: _on_fault,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    return app


async def _on_keypose_error(request: Request, error: KeyposeError) -> Response:
    problem = problem_of(error)
    status = status_of(problem)
    if status >= 500:
        logger.error("%s %r: %s", request.method, request.url.path, error)
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return JSONResponse(Failed(error=problem).model_dump(), status, headers=headers)


async def _on_bad_request(request: Request, error: RequestValidationError) -> Response:
    if wants_page(request.scope):
        return _not_there(request, 404, {})
    wrong = [f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()[:5]]
    message = "; ".join(wrong).removeprefix(": ") or "the request cannot be understood"
    return JSONResponse(failed("RequestError", message).model_dump(), 422)


async def _on_http(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    if error.status_code in _NOT_THERE:
        return _not_there(request, error.status_code, headers)
    kind = Lingering if error.status_code == 413 else JSONResponse
    return kind(failed("RequestError", str(error.detail)).model_dump(), error.status_code, headers=headers)


def _not_there(request: Request, status: int, headers: dict[str, str]) -> Response:
    title, says = _NOT_THERE[status]
    back = '<p><a href="/">All clips</a></p>'
    return refusal(request.scope, status, "NoSuchPage", title, says, headers=headers, body=back)


async def _on_fault(request: Request, error: Exception) -> Response:
    """The guard logs it."""
    return JSONResponse(failed("Unexpected", UNEXPECTED).model_dump(), 500)


async def _on_gone(request: Request, error: Exception) -> Response:
    return Response(status_code=GONE)
