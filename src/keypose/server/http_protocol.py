"""HTTP protocol with timeouts: uvicorn waits without limit for headers, and for clients to read responses.

A connection has ``HEADERS_S`` from its start, or from the first byte of a request, until its headers are complete; they
may be ``MAX_HEADER_BYTES`` long. It has as long for the rest of a body after the response. Connections beyond
``MAX_CONNECTIONS``, or beyond ``MAX_CONNECTIONS_PER_ADDRESS`` from another machine, get a 503 and are closed. Responses
that were not read yet take memory: ``has_buffer_space`` returns whether more may be sent.
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
UNREAD_S = 60.0  # that a client may leave a response unread
MAX_HEADER_BYTES = 16 << 10
MAX_CONNECTIONS = 512
MAX_CONNECTIONS_PER_ADDRESS = 128
MAX_UNREAD_BYTES = 256 << 20  # of all responses together
_TOO_MANY_CONNECTIONS = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\nRetry-After: 5\r\n"
    b"Connection: close\r\n\r\ntoo many connections\n"
)

_unread: set[TimedHttpProtocol] = set()  # connections with unread responses


def has_buffer_space() -> bool:
    """Return whether there is memory for another unread response."""
    return sum(each.transport.get_write_buffer_size() for each in _unread) < MAX_UNREAD_BYTES


class HeaderLimit:
    """Reject headers that are too long but arrived at once: h11 counts incomplete ones only."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond 431, or pass the request on."""
        app = self.app
        if scope["type"] == "http" and _header_bytes(scope) > MAX_HEADER_BYTES:
            app = PlainTextResponse("the headers are too long\n", 431, headers={"Connection": "close"})
        await app(scope, receive, send)


def _header_bytes(scope: Scope) -> int:
    """Return the smallest possible size of the request line and headers of a request."""
    line = len(f"{scope['method']}  HTTP/1.1") + len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + 3 for name, value in scope["headers"])


class TimedHttpProtocol(H11Protocol):
    """HTTP/1.1 with timeouts and connection limits."""

    headers_s = HEADERS_S
    max_connections = MAX_CONNECTIONS
    _headers_timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for headers, or close a connection that exceeds the limits."""
        super().connection_made(transport)
        too_many = len(self.connections) > self.max_connections
        if too_many or _exceeds_address_limit(
            self.client, (getattr(each, "client", None) for each in self.connections)
        ):
            transport.write(_TOO_MANY_CONNECTIONS)
            transport.close()
            return
        self._start_headers_timer()

    def data_received(self, data: bytes) -> None:
        """Pass headers on in chunks, so that h11 detects those that are too long; bodies as they come."""
        start = 0
        while start < len(data) and not self.transport.is_closing():
            is_header = self.conn.their_state is h11.IDLE
            end = start + MAX_HEADER_BYTES if is_header else len(data)
            super().data_received(data[start:end])
            start = end
        if not self.transport.is_closing() and (self.conn.their_state is h11.IDLE or self._has_responded()):
            self._start_headers_timer()
        else:
            self._cancel_headers_timer()

    def on_response_complete(self) -> None:
        """Restart the timer if the next request has begun, or the body of this one goes on."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY or (self.conn.trailing_data[0] and self.conn.their_state is h11.IDLE):
            self._start_headers_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        self._cancel_headers_timer()
        self._cancel_reading_timer()
        _unread.discard(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timer of a client that does not read its response."""
        super().pause_writing()
        _unread.add(self)
        if self._reading_timer is None:
            self._reading_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel that timer: the client reads again."""
        self._cancel_reading_timer()
        _unread.discard(self)
        super().resume_writing()

    def _has_responded(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    def _start_headers_timer(self) -> None:
        if self._headers_timer is None:
            self._headers_timer = self.loop.call_later(self.headers_s, self._abort)

    def _abort(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    def _cancel_headers_timer(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None

    def _cancel_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None


def _exceeds_address_limit(client: tuple[str, int] | None, clients: Iterable[tuple[str, int] | None]) -> bool:
    """Return whether the address of ``client`` has too many connections; loopback, as used by tunnels, is exempt."""
    if client is None:
        return False
    address = ip_address(client[0])
    if (getattr(address, "ipv4_mapped", None) or address).is_loopback:
        return False
    return sum(each is not None and each[0] == client[0] for each in clients) > MAX_CONNECTIONS_PER_ADDRESS
