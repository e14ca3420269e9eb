"""Connections that keep to a clock: uvicorn waits for headers, and for readers of answers, as long as they like.

A connection has ``HEADERS_S`` from its first byte, or from its beginning, until its headers are complete; they may be
``MOST_HEADER_BYTES`` long. As long it has for the rest of a body that nobody waited for. Nobody needs more connections
than ``MOST_CONNECTIONS``, and nobody else's machine more than ``MOST_OF_ONE``: a further one is told so and closed.
What nobody has read yet takes memory: ``has_room`` says whether there may be more of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from ipaddress import ip_address

import h11
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0
KEEP_ALIVE_S = 20
UNREAD_S = 60.0  # that somebody may leave an answer unread
MOST_HEADER_BYTES = 16 << 10
MOST_CONNECTIONS = 512
MOST_OF_ONE = 128  # of them from one address
MOST_UNREAD_BYTES = 256 << 20  # of answers, in all
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\nRetry-After: 5\r\n"
    b"Connection: close\r\n\r\ntoo many connections\n"
)

_unread: set[Receiving] = set()  # whose answers wait to be read


def has_room() -> bool:
    """Whether another answer may wait to be read."""
    return sum(each.transport.get_write_buffer_size() for each in _unread) < MOST_UNREAD_BYTES


class ShortHeads:
    """Refuses headers that are too long but came at once: h11 counts only those that are not complete."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on."""
        app = self.app
        if scope["type"] == "http" and _head_bytes(scope) > MOST_HEADER_BYTES:
            app = PlainTextResponse("the headers are too long\n", 431, headers={"Connection": "close"})
        await app(scope, receive, send)


def _head_bytes(scope: Scope) -> int:
    """How long the head of a request is, written as short as can be."""
    line = len(f"{scope['method']}  HTTP/1.1") + len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + 3 for name, value in scope["headers"])


class Receiving(H11Protocol):
    """HTTP/1.1 with deadlines."""

    headers_s = HEADERS_S
    most_connections = MOST_CONNECTIONS
    _headers_due: asyncio.TimerHandle | None = None
    _reading_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the clock."""
        super().connection_made(transport)
        too_many = len(self.connections) > self.most_connections
        if too_many or _is_greedy(self.client, (getattr(each, "client", None) for each in self.connections)):
            transport.write(_FULL)
            transport.close()
            return
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Hands headers on in pieces, so that too many of them are noticed; bodies as they come."""
        start = 0
        while start < len(data) and not self.transport.is_closing():
            is_head = self.conn.their_state is h11.IDLE
            end = start + MOST_HEADER_BYTES if is_head else len(data)
            super().data_received(data[start:end])
            start = end
        if not self.transport.is_closing() and (self.conn.their_state is h11.IDLE or self._is_answered()):
            self._expect_headers()
        else:
            self._cancel_headers()

    def on_response_complete(self) -> None:
        """A next request may have begun already; or this one goes on, though it has its answer."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY or (self.conn.trailing_data[0] and self.conn.their_state is h11.IDLE):
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops all clocks."""
        self._cancel_headers()
        self._cancel_reading()
        _unread.discard(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        _unread.add(self)
        if self._reading_due is None:
            self._reading_due = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        self._cancel_reading()
        _unread.discard(self)
        super().resume_writing()

    def _is_answered(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    def _expect_headers(self) -> None:
        if self._headers_due is None:
            self._headers_due = self.loop.call_later(self.headers_s, self._too_slow)

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    def _cancel_headers(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None

    def _cancel_reading(self) -> None:
        if self._reading_due is not None:
            self._reading_due.cancel()
            self._reading_due = None


def _is_greedy(one: tuple[str, int] | None, all_: Iterable[tuple[str, int] | None]) -> bool:
    """Whether an address has more connections than others leave it; through a tunnel many come from this machine."""
    if one is None:
        return False
    address = ip_address(one[0])
    if (getattr(address, "ipv4_mapped", None) or address).is_loopback:
        return False
    return sum(each is not None and each[0] == one[0] for each in all_) > MOST_OF_ONE
