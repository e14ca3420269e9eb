"""Authentication by token or password, then by a session cookie."""

from __future__ import annotations

import hmac
from html import escape
from http.cookies import CookieError, SimpleCookie

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.middleware.error_pages import get_header, refuse
from keypose.server.middleware.login import LOGIN_PATH, Login
from keypose.server.middleware.sessions import Sessions
from keypose.server.middleware.urls import current_url, query_parameters
from keypose.server.settings import Settings

TOKEN_PARAMETER = "token"  # in the query of a URL


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
        if (
            scope["method"] != "GET"
            or scope["path"].startswith("/api/")
            or TOKEN_PARAMETER.encode() not in scope["query_string"]
        ):
            return None
        tokens = [value for name, value in query_parameters(scope) if name == TOKEN_PARAMETER]
        if len(tokens) != 1 or not self._is_token(tokens[0]):
            return None if not tokens else self._refuse(scope)
        headers = {"Set-Cookie": self.sessions.set_cookie_header(self.sessions.start())}
        return RedirectResponse(current_url(scope, without=TOKEN_PARAMETER), 303, headers=headers)

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
            message = "The password of this Keypose is needed."
            query = self.login.login_query(current_url(scope, without=TOKEN_PARAMETER))
            body = f'<p><a href="{LOGIN_PATH}?{escape(query)}">Log in</a></p>'
        else:
            message = (
                "This page needs the address that Keypose printed when it was started, with its token. "
                "Look in the terminal, or start it again with: keypose serve --open"
            )
            body = ""
        return refuse(scope, 401, "Unauthorized", "Who are you?", message, headers=headers, body=body)
