"""The FastAPI app: routes, and handlers that turn exceptions into responses."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from operator import attrgetter
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import keypose
from keypose.errors import KeyposeError
from keypose.server.app_state import ClientDisconnected, open_app_state
from keypose.server.error_responses import OUTAGE_CODES, describe_for_log, error_details, error_response
from keypose.server.middleware import add_middleware
from keypose.server.middleware.error_pages import refuse, respond_to_http_exception, wants_html
from keypose.server.routes import ROUTERS
from keypose.server.schema import ErrorResponse
from keypose.server.settings import Settings
from keypose.validation import clean_line

logger = logging.getLogger("keypose.server")

OPENAPI_PATH = "/api/openapi.json"
CLIENT_CLOSED_REQUEST = 499  # not read by anybody
MAX_PROBLEM_LENGTH = 500  # characters; names and tags in problems come from the request
_NOT_FOUND_TEXTS = {
    "unknown_page": ("Page not found", "There is no page at this address."),
    "wrong_method": ("Method not allowed", "This address does not support requests of this kind."),
}
# FastAPI can send telemetry; nothing may leave this machine.
_NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)


class App(FastAPI):
    """FastAPI behind our middleware."""

    def __init__(self, settings: Settings, **options: Any) -> None:
        super().__init__(**options)
        self.settings = settings

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap the whole FastAPI stack, so that its own responses pass our middleware too."""
        return add_middleware(super().build_middleware_stack(), self.settings)


def make_app(settings: Settings) -> FastAPI:
    """Return the web app of one library."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_app_state(settings) as state:
            app.state.app_state = state
            yield

    app = App(
        settings,
        title="Keypose",
        summary="Clips of motion capture: view, search, select keys, edit, export.",
        version=keypose.__version__,
        openapi_url=OPENAPI_PATH,
        docs_url=None,  # their pages load from other servers
        redoc_url=None,
        lifespan=lifespan,
        telemetry=_NO_TELEMETRY,
        redirect_slashes=False,
        generate_unique_id_function=attrgetter("name"),
        responses={
            422: {"model": ErrorResponse, "description": "The request is invalid."},
            "default": {"model": ErrorResponse, "description": "Any other error."},
        },
    )
    for router in ROUTERS:
        app.include_router(router)
    handlers: dict[type[Exception], Callable[[Request, Any], Any]] = {
        KeyposeError: _on_keypose_error,
        RequestValidationError: _on_bad_request,
        HTTPException: _on_http_exception,
        ClientDisconnected: _on_disconnect,
        ClientDisconnect: _on_disconnect,
        Exception: _on_unexpected,
    }
    for error_type, handler in handlers.items():
        app.add_exception_handler(error_type, handler)
    return app


async def _on_keypose_error(request: Request, error: KeyposeError) -> Response:
    details = error_details(error)
    if details.status >= 500 and details.code not in OUTAGE_CODES:  # logged once for each outage
        logger.error("%s %r: %s", request.method, request.url.path, describe_for_log(error))
    headers = {"Retry-After": "1"} if details.status in (429, 503) else None
    return JSONResponse(ErrorResponse(error=details).model_dump(), details.status, headers=headers)


async def _on_bad_request(request: Request, error: RequestValidationError) -> Response:
    if wants_html(request.scope):
        return _respond_not_found(request, {}, code="unknown_page")
    errors = error.errors()[:5]
    if len(errors) == 1 and isinstance(cause := errors[0].get("ctx", {}).get("error"), KeyposeError):
        return await _on_keypose_error(request, cause)
    problems = [(clean_line(".".join(map(str, each["loc"][1:]))), each["msg"]) for each in errors]
    texts = [f"{option}: {problem}" if option else problem for option, problem in problems]
    message = "; ".join(clean_line(text, MAX_PROBLEM_LENGTH) for text in texts)
    option = next((option for option, _ in problems if option), None)
    payload = error_response(message or "the request is not valid", code="request", option=option)
    return JSONResponse(payload.model_dump(), 422)


async def _on_http_exception(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return _respond_not_found(request, headers, code="unknown_page")
    if error.status_code == 405:
        return _respond_not_found(request, headers, code="wrong_method")
    return respond_to_http_exception(error)


def _respond_not_found(request: Request, headers: dict[str, str], *, code: str) -> Response:
    title, message = _NOT_FOUND_TEXTS[code]
    back = '<p><a href="/">Go to the library</a></p>'
    return refuse(request.scope, title, message, code=code, headers=headers, body=back)


async def _on_unexpected(request: Request, error: Exception) -> Response:
    """Respond without details: ErrorMiddleware logs the exception."""
    return JSONResponse(error_response(code="internal").model_dump(), 500)


async def _on_disconnect(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)
