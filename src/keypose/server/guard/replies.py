"""Refusals: a small page with words for browsers, JSON for programs.

The pages have one stylesheet of their own, which their policy allows by its hash: they need no other file, so that they
can be shown to whoever may see nothing else.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
from html import escape

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from keypose.server.failing import failed

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
code { font: 0.95em ui-monospace, monospace; color: var(--ink); overflow-wrap: anywhere; }
label { display: block; margin-bottom: 0.35rem; }
input, button { font: inherit; padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.4rem; }
input { width: 100%; margin-bottom: 0.9rem; background: transparent; color: inherit; }
button { background: var(--accent); border-color: var(--accent); color: var(--paper); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role=alert] { color: var(--ink); border-left: 3px solid var(--accent); padding-left: 0.75rem; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"


class Lingering(JSONResponse):
    """An answer to somebody who is still sending: heard out for a moment, or he would see a broken connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends all, and ends it when nothing more comes, or too much."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                more = True
                while more:
                    message = await receive()
                    more = message["type"] == "http.request" and message.get("more_body", False)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def page(status: int, title: str, body: str, headers: dict[str, str] | None = None) -> Response:
    """A small page; ``body`` is markup of ours, and whatever it holds of others is escaped already."""
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - Keypose</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(html, status, headers={"Content-Security-Policy": POLICY, **(headers or {})})


def refusal(
    scope: Scope,
    status: int,
    kind: str,
    title: str,
    says: str,
    *,
    headers: dict[str, str] | None = None,
    body: str = "",
) -> Response:
    """Why a request is refused: as a page where a person looks, else as JSON. ``body`` is more markup of ours."""
    if wants_page(scope):
        return page(status, title, f"<p>{escape(says)}</p>{body}", headers)
    return JSONResponse(failed(kind, f"{title}: {says}").model_dump(), status, headers=headers)


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks for something to show."""
    path = scope["path"]
    if path.startswith("/api/") or path.endswith(".json"):
        return False
    return "text/html" in header(scope, "accept")


def header(scope: Scope, name: str) -> str:
    """A header of a request; "" where it has none."""
    wanted = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == wanted), "")
