"""The page that asks for the password."""

from __future__ import annotations

import asyncio
import math
from html import escape
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope

from keypose.server.guard.addresses import inside, parameters
from keypose.server.guard.passwords import Password
from keypose.server.guard.replies import page
from keypose.server.guard.sessions import Sessions
from keypose.server.guard.tries import Tries

LOGIN = "/login"
BACK = "back"  # the parameter that says where to go then
LONGEST_FORM = 16 << 10  # bytes
GONE = 499  # nobody reads this
# With no-referrer a browser would not say where a form comes from.
HEADERS = {"Referrer-Policy": "same-origin"}


class Login:
    """Asks, compares, and lets people try only so often."""

    def __init__(self, password: Password, sessions: Sessions) -> None:
        self.password = password
        self.sessions = sessions
        self.tries = Tries()
        self._one = asyncio.Lock()  # scrypt takes memory: one at a time

    def back_to(self, address: str) -> str:
        """The query for a login that leads to an address."""
        return urlencode({BACK: address})

    async def answer(self, scope: Scope, receive: Receive) -> Response:
        """The form, or what becomes of it."""
        back = inside(dict(parameters(scope)).get(BACK, "/"))
        if scope["method"] in ("GET", "HEAD"):
            return _form(200, back)
        if scope["method"] != "POST":
            return page(405, "Not so", "<p>This page is looked at, or its form is sent.</p>", {"Allow": "GET, POST"})
        return await self._tried(Request(scope, receive), back)

    async def _tried(self, request: Request, back: str) -> Response:
        address = request.client.host if request.client else ""
        try:
            given = await _password(request)  # before it is anybody's turn: it may come slowly
        except ClientDisconnect:
            return Response(status_code=GONE)
        async with self._one:
            wait_s = math.ceil(self.tries.wait_s(address))
            if wait_s > 0:
                says = f"Too many wrong passwords. Try again in {wait_s} seconds."
                return _form(429, back, says, {"Retry-After": str(wait_s)})
            if not await run_in_threadpool(self.password.matches, given):
                self.tries.was_wrong(address)
                return _form(403, back, "That is not the password.")
        self.tries.was_right(address)
        headers = {"Set-Cookie": self.sessions.header(self.sessions.begin())}
        return RedirectResponse(back, 303, headers=headers)


async def _password(request: Request) -> str:
    """What the form says; "" where it is none that we made."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            return ""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:
        return ""
    return fields.get("password", [""])[0]


def _form(status: int, back: str, says: str = "", headers: dict[str, str] | None = None) -> Response:
    alert = f'<p role="alert">{escape(says)}</p>' if says else ""
    body = (
        f'{alert}<form method="post" action="{LOGIN}?{escape(urlencode({BACK: back}))}">'
        '<label for="password">Password</label>'
        '<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>'
        "<button>Open</button></form>"
    )
    return page(status, "Open this Keypose", body, {**HEADERS, **(headers or {})})
