"""Check of the origin: requests may come from our own pages, from programs, and from typed URLs."""

from __future__ import annotations

from html import escape

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.middleware.error_pages import CLOSE, get_header, refuse
from keypose.server.middleware.urls import current_url

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


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
    origin, site = get_header(scope, "origin"), get_header(scope, "sec-fetch-site")
    if origin and origin != f"{scope['scheme']}://{get_header(scope, 'host')}":
        return _refuse_foreign(scope)
    if site in ("cross-site", "same-site"):
        is_link = get_header(scope, "sec-fetch-mode") == "navigate" and scope["method"] == "GET" and not origin
        return _refuse_link(scope) if is_link else _refuse_foreign(scope)
    if scope["method"] not in SAFE_METHODS and not origin and not _has_bearer_token(scope):
        message = "A change must say which page it comes from (Origin), or bring the token (Authorization: Bearer)."
        return refuse(scope, 403, "ForeignOrigin", "Not from here", message, headers=CLOSE)
    return None


def _has_bearer_token(scope: Scope) -> bool:
    return get_header(scope, "authorization").lower().startswith("bearer ")


def _refuse_foreign(scope: Scope) -> Response:
    message = "This request comes from another site, which may not use your Keypose."
    return refuse(scope, 403, "ForeignOrigin", "Not from here", message, headers=CLOSE)


def _refuse_link(scope: Scope) -> Response:
    """Return a page for somebody who followed a link on another site: the user may continue."""
    message = "You followed a link from another site to your Keypose. Nothing was done."
    body = f'<p><a href="{escape(current_url(scope))}">Go to the page</a></p>'
    return refuse(scope, 403, "ForeignOrigin", "From another site", message, body=body)
