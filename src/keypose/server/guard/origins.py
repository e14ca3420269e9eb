"""From which pages requests may come: our own, and none."""

from __future__ import annotations

from html import escape

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.guard.addresses import here
from keypose.server.guard.replies import CLOSE, header, refusal

HARMLESS = ("GET", "HEAD", "OPTIONS")


class OriginCheck:
    """Refuses what another site asks for, and changes that do not say where they come from.

    Programs say it with ``Authorization``, which no foreign page can send.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what comes from our pages, from programs, and from somebody who types."""
        answer = None if scope["type"] != "http" else _refused(scope)
        await (answer or self.app)(scope, receive, send)


def _refused(scope: Scope) -> Response | None:
    origin, site = header(scope, "origin"), header(scope, "sec-fetch-site")
    if origin and origin != f"{scope['scheme']}://{header(scope, 'host')}":
        return _foreign(scope)
    if site in ("cross-site", "same-site"):
        is_link = header(scope, "sec-fetch-mode") == "navigate" and scope["method"] == "GET" and not origin
        return _followed(scope) if is_link else _foreign(scope)
    if scope["method"] not in HARMLESS and not origin and not _brings_token(scope):
        says = "A change must say which page it comes from (Origin), or bring the token (Authorization: Bearer)."
        return refusal(scope, 403, "ForeignOrigin", "Not from here", says, headers=CLOSE)
    return None


def _brings_token(scope: Scope) -> bool:
    return header(scope, "authorization").lower().startswith("bearer ")


def _foreign(scope: Scope) -> Response:
    says = "This request comes from another site, which may not use your Keypose."
    return refusal(scope, 403, "ForeignOrigin", "Not from here", says, headers=CLOSE)


def _followed(scope: Scope) -> Response:
    """A link on another site, that a person followed: it is his to decide."""
    says = "You followed a link from another site to your Keypose. Nothing was done."
    body = f'<p><a href="{escape(here(scope))}">Go to the page</a></p>'
    return refusal(scope, 403, "ForeignOrigin", "From another site", says, body=body)
