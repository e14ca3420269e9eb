"""The login page."""

from __future__ import annotations

import asyncio
import math
from html import escape
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope

from keypose.server.middleware.error_pages import html_page
from keypose.server.middleware.login_throttle import LoginThrottle
from keypose.server.middleware.passwords import Password
from keypose.server.middleware.sessions import Sessions
from keypose.server.middleware.urls import local_url, query_parameters

LOGIN_PATH = "/login"
BACK_PARAMETER = "back"  # in the query: the URL to redirect to
MAX_FORM_BYTES = 16 << 10
CLIENT_CLOSED_REQUEST = 499  # not read by anybody
# With no-referrer a browser would not send the origin of the form.
HEADERS = {"Referrer-Policy": "same-origin"}


class Login:
    """Show the form, check the password and throttle attempts."""

    def __init__(self, password: Password, sessions: Sessions) -> None:
        self.password = password
        self.sessions = sessions
        self.throttle = LoginThrottle()
        self._lock = asyncio.Lock()  # scrypt takes memory: one at a time

    def login_query(self, address: str) -> str:
        """Return the query of a login that redirects to ``address``."""
        return urlencode({BACK_PARAMETER: address})

    async def respond(self, scope: Scope, receive: Receive) -> Response:
        """Return the form, or the response to it."""
        back = local_url(dict(query_parameters(scope)).get(BACK_PARAMETER, "/"))
        if scope["method"] in ("GET", "HEAD"):
            return _login_form(200, back)
        if scope["method"] != "POST":
            return html_page(
                405, "Not so", "<p>This page is looked at, or its form is sent.</p>", {"Allow": "GET, POST"}
            )
        return await self._check_password(Request(scope, receive), back)

    async def _check_password(self, request: Request, back: str) -> Response:
        address = request.client.host if request.client else ""
        try:
            password = await _read_password(request)  # before taking the lock: it may arrive slowly
        except ClientDisconnect:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        async with self._lock:
            wait_s = math.ceil(self.throttle.wait_s(address))
            if wait_s > 0:
                message = f"Too many wrong passwords. Try again in {wait_s} seconds."
                return _login_form(429, back, message, {"Retry-After": str(wait_s)})
            if not await run_in_threadpool(self.password.matches, password):
                self.throttle.record_failure(address)
                return _login_form(403, back, "That is not the password.")
        self.throttle.record_success(address)
        headers = {"Set-Cookie": self.sessions.set_cookie_header(self.sessions.start())}
        return RedirectResponse(back, 303, headers=headers)


async def _read_password(request: Request) -> str:
    """Return the password of the form; "" if the form is invalid."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            return ""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:
        return ""
    return fields.get("password", [""])[0]


def _login_form(status: int, back: str, message: str = "", headers: dict[str, str] | None = None) -> Response:
    alert = f'<p role="alert">{escape(message)}</p>' if message else ""
    body = (
        f'{alert}<form method="post" action="{LOGIN_PATH}?{escape(urlencode({BACK_PARAMETER: back}))}">'
        '<label for="password">Password</label>'
        '<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>'
        "<button>Open</button></form>"
    )
    return html_page(status, "Open this Keypose", body, {**HEADERS, **(headers or {})})
