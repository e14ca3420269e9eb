"""How much a request may bring, and how long that may take: uvicorn asks for neither."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.server.guard.replies import CLOSE, header

JSON_BYTES = 2 << 20
IDLE_S = 15.0  # between two pieces
LEAST_BYTES_PER_S = 1000.0
START_S = 10.0  # before the rate counts


@dataclass(frozen=True)
class Allowed:
    """How much a body may be."""

    bytes: int = JSON_BYTES
    total_s: float = 60.0


class BodyLimits:
    """Ends requests whose bodies are too large (413) or too slow (408); then the connection closes."""

    def __init__(self, app: ASGIApp, others: Mapping[str, Allowed]) -> None:
        self.app = app
        self.others = others  # by path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on, and watches what is received."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        allowed = self.others.get(scope["path"], Allowed())
        await self.app(scope, _Watched(scope, receive, allowed).receive, send)


class _Watched:
    """The body of one request on its way in."""

    def __init__(self, scope: Scope, receive: Receive, allowed: Allowed) -> None:
        self._receive = receive
        self._allowed = allowed
        self._told = _length(header(scope, "content-length"))
        self._came = 0
        self._began = time.monotonic()
        self._whole = False

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout(min(IDLE_S, self._left_s())):
                message = await self._receive()
        except TimeoutError:
            self._whole = True  # nothing more is wanted: whoever refuses it may look at what still comes
            raise _too_slow() from None
        if message["type"] == "http.request":
            self._came += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if max(self._came, self._told) > self._allowed.bytes:
                self._whole = True
                raise _too_large(self._allowed)
        return message

    def _left_s(self) -> float:
        """Until what has come would be too little, or everything too late."""
        elapsed = time.monotonic() - self._began
        by_rate = START_S + self._came / LEAST_BYTES_PER_S
        return max(0.0, min(by_rate, self._allowed.total_s) - elapsed)


def _length(told: str) -> int:
    return int(told) if told.isdecimal() and told.isascii() else 0


def _too_large(allowed: Allowed) -> HTTPException:
    most = f"{allowed.bytes >> 20} MB" if allowed.bytes >= 1 << 20 else f"{allowed.bytes} bytes"
    return HTTPException(413, f"the request is too large, expected at most {most}", headers=CLOSE)


def _too_slow() -> HTTPException:
    return HTTPException(408, "the request comes too slowly", headers=CLOSE)
