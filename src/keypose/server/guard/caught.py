"""The outermost place where something may fail."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.server.failing import UNEXPECTED, failed
from keypose.server.guard.replies import Lingering

logger = logging.getLogger("keypose.server")


class Caught:
    """Answers for what failed without an answer; what has begun to be sent is cut off, so that it is seen as broken."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, whole = False, False

        async def watched(message: Message) -> None:
            nonlocal begun, whole
            begun = True
            await send(message)
            whole = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self.app(scope, receive, watched)
        except HTTPException as error:  # of the guard itself
            said = failed("RequestError", str(error.detail)).model_dump()
            kind = Lingering if error.status_code == 413 else JSONResponse
            await kind(said, error.status_code, headers=error.headers)(scope, receive, send)
        except Exception:
            logger.exception("%s %r failed", scope["method"], scope["path"])
            if whole:
                return
            if begun:
                raise
            await JSONResponse(failed("Unexpected", UNEXPECTED).model_dump(), 500)(scope, receive, send)
