"""Responses for exceptions that no other handler has caught."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.server.error_responses import INTERNAL_ERROR_MESSAGE, error_response
from keypose.server.middleware.error_pages import LingeringResponse

logger = logging.getLogger("keypose.server")


class ErrorMiddleware:
    """Respond to uncaught exceptions; a response that has begun is aborted, so that the client sees it as broken."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and handle its exceptions."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started, is_complete = False, False

        async def send_and_track(message: Message) -> None:
            nonlocal has_started, is_complete
            has_started = True
            await send(message)
            is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self.app(scope, receive, send_and_track)
        except HTTPException as error:  # raised by the middleware
            payload = error_response("RequestError", str(error.detail)).model_dump()
            response_type = LingeringResponse if error.status_code == 413 else JSONResponse
            await response_type(payload, error.status_code, headers=error.headers)(scope, receive, send)
        except Exception:
            logger.exception("%s %r failed", scope["method"], scope["path"])
            if is_complete:
                return
            if has_started:
                raise
            await JSONResponse(error_response("InternalError", INTERNAL_ERROR_MESSAGE).model_dump(), 500)(
                scope, receive, send
            )
