"""Limits of size and time for request bodies: uvicorn has neither."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.server.middleware.error_pages import CLOSE, get_header

JSON_BYTES = 2 << 20
IDLE_S = 15.0  # between two chunks
MIN_BYTES_PER_S = 1000.0
RATE_GRACE_S = 10.0  # before the minimum rate applies


@dataclass(frozen=True)
class BodyLimit:
    """Maximum size and duration of a body."""

    max_bytes: int = JSON_BYTES
    timeout_s: float = 60.0


class BodyLimits:
    """Reject bodies that are too large (413) or too slow (408); then the connection closes."""

    def __init__(self, app: ASGIApp, limits_by_path: Mapping[str, BodyLimit]) -> None:
        self.app = app
        self.limits_by_path = limits_by_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a limited body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.limits_by_path.get(scope["path"], BodyLimit())
        await self.app(scope, _LimitedBody(scope, receive, limit).receive, send)


class _LimitedBody:
    """The body of one request as it is received."""

    def __init__(self, scope: Scope, receive: Receive, limit: BodyLimit) -> None:
        self._receive = receive
        self._limit = limit
        self._content_length = _parse_length(get_header(scope, "content-length"))
        self._n_received = 0
        self._start_time = time.monotonic()
        self._is_complete = False

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout(min(IDLE_S, self._remaining_s())):
                message = await self._receive()
        except TimeoutError:
            self._is_complete = True  # the error response may still read the rest
            raise _too_slow() from None
        if message["type"] == "http.request":
            self._n_received += len(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
            if max(self._n_received, self._content_length) > self._limit.max_bytes:
                self._is_complete = True
                raise _too_large(self._limit)
        return message

    def _remaining_s(self) -> float:
        """Return the time until the rate falls below the minimum, or the timeout."""
        elapsed = time.monotonic() - self._start_time
        by_rate = RATE_GRACE_S + self._n_received / MIN_BYTES_PER_S
        return max(0.0, min(by_rate, self._limit.timeout_s) - elapsed)


def _parse_length(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else 0


def _too_large(limit: BodyLimit) -> HTTPException:
    max_size = f"{limit.max_bytes >> 20} MB" if limit.max_bytes >= 1 << 20 else f"{limit.max_bytes} bytes"
    return HTTPException(413, f"the request is too large, expected at most {max_size}", headers=CLOSE)


def _too_slow() -> HTTPException:
    return HTTPException(408, "the request comes too slowly", headers=CLOSE)
