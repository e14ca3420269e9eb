"""Authentication by token or password, then by a session cookie; the login page; attempts are throttled."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import math
import secrets
import time
from collections import OrderedDict, deque
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.middleware.error_pages import (
    current_url,
    get_header,
    html_page,
    local_url,
    query_parameters,
    refuse,
)
from keypose.server.settings import Password, Settings

TOKEN_PARAMETER = "token"  # in the query of a URL

LOGIN_PATH = "/login"
BACK_PARAMETER = "back"  # in the query: the URL to redirect to
MAX_FORM_BYTES = 16 << 10
CLIENT_CLOSED_REQUEST = 499  # not read by anybody
# With no-referrer a browser would not send the origin of the form.
HEADERS = {"Referrer-Policy": "same-origin"}

MAX_PER_ADDRESS = 5  # failures from one address ...
MAX_TOTAL = 50  # ... and from all together ...
WINDOW_S = 60.0  # ... within this time
MAX_ADDRESSES = 1000
MAX_SESSIONS = 1000  # beyond that the oldest ends


class Auth:
    """Reject requests without a session, token or password."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.token = settings.token
        self.sessions = Sessions(settings.port)
        self.login = None if settings.password is None else Login(settings.password, self.sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass authenticated requests on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = self._start_session_by_token(scope)
        if response is None and self.login is not None and scope["path"] == LOGIN_PATH:
            response = await self.login.respond(scope, receive)
        if response is None and not self._is_authenticated(scope):
            response = self._refuse(scope)
        await (response or self.app)(scope, receive, send)

    def _start_session_by_token(self, scope: Scope) -> Response | None:
        """Start a session for a URL with the token and redirect to the URL without it; None: no token in the URL."""
        tokens = tokens_in_url(scope)
        if not tokens:
            return None
        if len(tokens) != 1 or not self._is_token(tokens[0]):
            return self._refuse(scope)
        url = current_url(scope, without=TOKEN_PARAMETER)
        headers = {"Set-Cookie": self.sessions.set_cookie_header(self.sessions.start())}
        if not is_cross_site(scope):
            return RedirectResponse(url, 303, headers=headers)
        # A redirect would count as a request of the other site too, to which browsers do not send the cookie.
        link = f'<p><a href="{escape(url)}">Continue</a></p>'
        return html_page(200, "Opening Keypose", link, {**headers, "Refresh": f"0; url={url}"})

    def _is_authenticated(self, scope: Scope) -> bool:
        scheme, _, credentials = get_header(scope, "authorization").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(credentials.strip())
        return any(self.sessions.is_valid(value) for value in self._session_cookies(scope))

    def _is_token(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), self.token.encode())

    def _session_cookies(self, scope: Scope) -> list[str]:
        """Return the values of the session cookie."""
        try:
            cookies = SimpleCookie(get_header(scope, "cookie"))
        except CookieError:
            return []
        return [cookies[self.sessions.cookie].value] if self.sessions.cookie in cookies else []

    def _refuse(self, scope: Scope) -> Response:
        headers = {"WWW-Authenticate": "Bearer"}
        if self.login is not None:
            title, message = "Login required", "This server is protected by a password."
            query = self.login.login_query(current_url(scope, without=TOKEN_PARAMETER))
            body = f'<p><a href="{LOGIN_PATH}?{escape(query)}">Log in</a></p>'
        else:
            title = "Access denied"
            message = (
                "Open the complete address that Keypose printed in the terminal when it was started. It contains the "
                "access token."
            )
            body = "<p>Or start Keypose again with <code>keypose serve --open</code>.</p>"
        return refuse(scope, title, message, code="unauthorized", headers=headers, body=body)


def tokens_in_url(scope: Scope) -> list[str]:
    """Return the tokens in the URL of a page; Auth responds to such a request without looking at cookies."""
    if (
        scope["method"] != "GET"
        or scope["path"].startswith("/api/")
        or TOKEN_PARAMETER.encode() not in scope["query_string"]
    ):
        return []
    return [value for name, value in query_parameters(scope) if name == TOKEN_PARAMETER]


def is_cross_site(scope: Scope) -> bool:
    """Return whether a page of another site, or a local file, has caused the request."""
    return get_header(scope, "sec-fetch-site") in ("cross-site", "same-site")


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
            text = "<p>This page accepts GET and POST requests only.</p>"
            return html_page(405, "Method not allowed", text, {"Allow": "GET, POST"})
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
                return _login_form(403, back, "Wrong password. Try again.")
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
        "<button>Log in</button></form>"
    )
    return html_page(status, "Log in to Keypose", body, {**HEADERS, **(headers or {})})


class LoginThrottle:
    """Failed attempts of the last minute, by address."""

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}

    def wait_s(self, address: str) -> float:
        """Return how long an address has to wait until its next attempt; 0: not at all."""
        now = time.monotonic()
        self._drop_old(now)
        address_times = self._failures.get(address, deque())
        all_times = sorted(when for times in self._failures.values() for when in times)
        limits = ((list(address_times), MAX_PER_ADDRESS), (all_times, MAX_TOTAL))
        waits = [times[-limit] + WINDOW_S - now for times, limit in limits if len(times) >= limit]
        return max(waits, default=0.0)

    def record_failure(self, address: str) -> None:
        """Count a failed attempt."""
        self._failures.setdefault(address, deque()).append(time.monotonic())
        while len(self._failures) > MAX_ADDRESSES:
            self._failures.pop(next(iter(self._failures)))

    def record_success(self, address: str) -> None:
        """Reset the failures of an address."""
        self._failures.pop(address, None)

    def _drop_old(self, now: float) -> None:
        for address, times in list(self._failures.items()):
            while times and times[0] <= now - WINDOW_S:
                times.popleft()
            if not times:
                del self._failures[address]


class Sessions:
    """Sessions of one server; they end with it."""

    def __init__(self, port: int) -> None:
        self.cookie = f"keypose_{port}"  # browsers share cookies between ports, so the name differs
        self._digests: OrderedDict[bytes, None] = OrderedDict()

    def start(self) -> str:
        """Start a session and return the value of its cookie."""
        value = secrets.token_urlsafe(32)
        self._digests[_digest_session(value)] = None
        while len(self._digests) > MAX_SESSIONS:
            self._digests.popitem(last=False)
        return value

    def is_valid(self, value: str) -> bool:
        """Return whether a session has this value. Digests are compared, so timing discloses nothing."""
        return _digest_session(value) in self._digests

    def end(self, value: str) -> None:
        """End a session."""
        self._digests.pop(_digest_session(value), None)

    def set_cookie_header(self, value: str) -> str:
        """Return the Set-Cookie header of a session."""
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"


def _digest_session(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
