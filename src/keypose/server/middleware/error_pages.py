"""Error responses of the middleware: a small HTML page for browsers, JSON for programs.

The pages have an inline stylesheet, which their policy allows by its hash: they need no other file, so that they can be
shown without a session.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import logging
from html import escape
from urllib.parse import parse_qsl, quote, urlencode

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keypose.server.error_responses import RESPONSES, error_response

CLOSE = {"Connection": "close"}
LINGER_S = 2.0
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1f24; --quiet: #5b6370; --paper: #fbfaf8; --line: #d9d6d0;
  --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceae6; --quiet: #a2a8b2; --paper: #16181c; --line: #363a42; --accent: #7db8f5; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--paper); color: var(--ink);
  font: 17px/1.55 system-ui, sans-serif; }
main { max-width: 34rem; padding: 2rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.75rem; }
p { margin: 0 0 1rem; color: var(--quiet); }
a { color: var(--accent); }
code { font: 0.95em ui-monospace, monospace; color: var(--ink); white-space: nowrap; }
label { display: block; margin-bottom: 0.35rem; }
input, button { font: inherit; padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.4rem; }
input { width: 100%; margin-bottom: 0.9rem; background: transparent; color: inherit; }
button { background: var(--accent); border-color: var(--accent); color: var(--paper); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role=alert] { color: var(--ink); border-left: 3px solid var(--accent); padding-left: 0.75rem; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

logger = logging.getLogger("keypose.server")

MAX_PARAMETERS = 1000
_SAFE = "/-._~!$&'()*+,;=:@%"


class LingeringResponse(JSONResponse):
    """A response to a client that is still sending: the rest is read for a moment, or it would see a reset."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; finish it when the body has ended, or after LINGER_S."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                has_more = True
                while has_more:
                    message = await receive()
                    has_more = message["type"] == "http.request" and message.get("more_body", False)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def html_page(status: int, title: str, body: str, headers: dict[str, str] | None = None) -> Response:
    """Return a small page; ``body`` is trusted markup in which foreign text is escaped already."""
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - Keypose</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(html, status, headers={"Content-Security-Policy": POLICY, **(headers or {})})


def refuse(
    scope: Scope,
    title: str,
    message: str,
    *,
    code: str,
    headers: dict[str, str] | None = None,
    body: str = "",
) -> Response:
    """Return an error response: a page for browsers, else JSON. ``body`` is additional trusted markup."""
    status = RESPONSES[code].status
    if wants_html(scope):
        return html_page(status, title, f"<p>{escape(message)}</p>{body}", headers)
    return JSONResponse(error_response(f"{title}: {message}", code=code).model_dump(), status, headers=headers)


def respond_to_http_exception(error: HTTPException) -> Response:
    """Return the response to an exception of the middleware or of the framework."""
    match error.status_code:
        case 408:
            payload = error_response(str(error.detail), code="request_timeout")
        case 413:
            payload = error_response(str(error.detail), code="request_too_large")
        case _:
            payload = error_response(str(error.detail), code="request")
    details = payload.error.model_copy(update={"status": error.status_code})
    response_type = LingeringResponse if error.status_code == 413 else JSONResponse
    return response_type({"error": details.model_dump()}, error.status_code, headers=error.headers)


def wants_html(scope: Scope) -> bool:
    """Return whether a browser requests a page."""
    path = scope["path"]
    if path.startswith("/api/") or path.endswith(".json"):
        return False
    return "text/html" in get_header(scope, "accept")


def get_header(scope: Scope, name: str) -> str:
    """Return a header of a request; "" if it is missing."""
    key_bytes = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == key_bytes), "")


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
            await respond_to_http_exception(error)(scope, receive, send)
        except Exception:
            logger.exception("%s %r failed", scope["method"], scope["path"])
            if is_complete:
                return
            if has_started:
                raise
            await JSONResponse(error_response(code="internal").model_dump(), 500)(scope, receive, send)


def current_url(scope: Scope, *, without: str | None = None) -> str:
    """Return path and query of a request, without one of its parameters.

    Always on this server: browsers take ``//elsewhere`` and ``/\\elsewhere`` for another host.
    """
    path = "/" + quote(scope["path"].replace("\\", "/").lstrip("/"), safe=_SAFE.replace("%", ""))
    pairs = query_parameters(scope)
    query = urlencode([(name, value) for name, value in pairs if name != without])
    return f"{path}?{query}" if query else path


def local_url(address: str) -> str:
    """Return ``address`` if it is on this server, else "/"."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return quote(address, safe=_SAFE + "?#") if is_local and "\\" not in address else "/"


def query_parameters(scope: Scope) -> list[tuple[str, str]]:
    """Return the query parameters in order; none if there are more than MAX_PARAMETERS."""
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return []
