"""Limits on requests (Host, Origin, size and time of the body), and security headers of every response."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.errors import format_count
from keypose.server.middleware.auth import is_cross_site, tokens_in_url
from keypose.server.middleware.error_pages import CLOSE, current_url, get_header, refuse
from keypose.server.settings import Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
DEFAULT_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

ANY_ADDRESS = ("0.0.0.0", "::", "")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

JSON_BYTES = 2 << 20
MIN_BYTES_PER_S = 1000.0
MAX_LAG_S = 15.0  # that a body may be late at any time, by its minimum rate


class Headers:
    """Add the headers that a response does not set itself. Responses without an ETag are never cached."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULT_HEADERS.items():
                    headers.setdefault(name, value)
                if "ETag" not in headers:
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)


class HostCheck:
    """Reject requests for other hosts than the address that the server listens on, and localhost."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        names = {"localhost", "127.0.0.1", "[::1]"}
        if settings.host not in ANY_ADDRESS:
            names.add(f"[{settings.host}]" if ":" in settings.host else settings.host.lower())
        self.port = settings.port
        self.hosts = {f"{name}:{settings.port}" for name in names}
        self.accepts_any_address = settings.host in ANY_ADDRESS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests for our own host on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":  # there are no WebSockets
            await send({"type": "websocket.close", "code": 1008})
        elif self._is_own_host(get_header(scope, "host").lower()):
            await self.app(scope, receive, send)
        else:
            message = "Keypose can be reached only at the address that it printed when it was started."
            response = refuse(scope, "Wrong address", message, code="wrong_host", headers=CLOSE)
            await response(scope, receive, send)

    def _is_own_host(self, host: str) -> bool:
        """Return whether the host is ours. Listening on all addresses, any IP address is: rebinding needs a name."""
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        if not self.accepts_any_address or port != str(self.port):
            return False
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


class OriginCheck:
    """Reject requests of other sites, and changes without an origin.

    Programs send ``Authorization`` instead, which no foreign page can.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests with a valid origin on."""
        response = None if scope["type"] != "http" else _check_origin(scope)
        await (response or self.app)(scope, receive, send)


def _check_origin(scope: Scope) -> Response | None:
    origin = get_header(scope, "origin")
    if origin and origin != f"{scope['scheme']}://{get_header(scope, 'host')}":
        return _refuse_foreign(scope)
    if is_cross_site(scope):
        is_link = get_header(scope, "sec-fetch-mode") == "navigate" and scope["method"] == "GET" and not origin
        if is_link and tokens_in_url(scope):
            return None  # other sites do not know the token, but the file that --open opens does
        return _refuse_link(scope) if is_link else _refuse_foreign(scope)
    if scope["method"] not in SAFE_METHODS and not origin and not _has_bearer_token(scope):
        message = "A request that changes data needs an Origin header or the token (Authorization: Bearer)."
        return refuse(scope, "Request refused", message, code="foreign_origin", headers=CLOSE)
    return None


def _has_bearer_token(scope: Scope) -> bool:
    return get_header(scope, "authorization").lower().startswith("bearer ")


def _refuse_foreign(scope: Scope) -> Response:
    message = "This request comes from another website, which has no access to Keypose."
    return refuse(scope, "Request refused", message, code="foreign_origin", headers=CLOSE)


def _refuse_link(scope: Scope) -> Response:
    """Return a page for somebody who followed a link on another site: the user may continue."""
    message = "You followed a link to Keypose on another website. Continue only if you trust it."
    body = f'<p><a href="{escape(current_url(scope))}">Continue to the page</a></p>'
    return refuse(scope, "Link from another website", message, code="foreign_origin", body=body)


@dataclass(frozen=True)
class BodyLimit:
    """Maximum size and duration of a body, and its minimum rate."""

    max_bytes: int = JSON_BYTES
    timeout_s: float = 60.0
    min_bytes_per_s: float = MIN_BYTES_PER_S


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
        now = time.monotonic()
        self._end_time = now + limit.timeout_s
        self._due_time = now + MAX_LAG_S  # of the next data
        self._is_complete = False

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, min(self._due_time, self._end_time) - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            self._is_complete = True  # the error response may still read the rest
            raise _too_slow() from None
        if message["type"] == "http.request":
            self._count_bytes(len(message.get("body", b"")))
            self._is_complete = not message.get("more_body", False)
            if max(self._n_received, self._content_length) > self._limit.max_bytes:
                self._is_complete = True
                raise _too_large(self._limit)
        return message

    def _count_bytes(self, n_bytes: int) -> None:
        """Put off the time when data are due; a fast start leaves no more time for the rest."""
        self._n_received += n_bytes
        due_time = self._due_time + n_bytes / self._limit.min_bytes_per_s
        self._due_time = min(due_time, time.monotonic() + MAX_LAG_S)


def _parse_length(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else 0


def _too_large(limit: BodyLimit) -> HTTPException:
    max_size = f"{limit.max_bytes >> 20} MB" if limit.max_bytes >= 1 << 20 else format_count(limit.max_bytes, "byte")
    return HTTPException(413, f"the request is too large, expected at most {max_size}", headers=CLOSE)


def _too_slow() -> HTTPException:
    return HTTPException(408, "the request arrived too slowly", headers=CLOSE)
