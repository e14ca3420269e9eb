"""Who may come in: whoever knows the token or the password, and has a cookie from then on."""

from __future__ import annotations

import hmac
from html import escape
from http.cookies import CookieError, SimpleCookie

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.guard.addresses import here, parameters
from keypose.server.guard.login import LOGIN, Login
from keypose.server.guard.replies import header, refusal
from keypose.server.guard.sessions import Sessions
from keypose.server.settings import Settings

TOKEN = "token"  # the parameter of addresses


class Door:
    """Lets nobody in without a session, a token or a password."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.token = settings.token
        self.sessions = Sessions(settings.port)
        self.login = None if settings.password is None else Login(settings.password, self.sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on the requests of those who may come in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._with_token(scope)
        if answer is None and self.login is not None and scope["path"] == LOGIN:
            answer = await self.login.answer(scope, receive)
        if answer is None and not self._is_known(scope):
            answer = self._unknown(scope)
        await (answer or self.app)(scope, receive, send)

    def _with_token(self, scope: Scope) -> Response | None:
        """An address with the token, as it was printed: a session begins, and the token leaves the address."""
        if scope["method"] != "GET" or scope["path"].startswith("/api/") or TOKEN.encode() not in scope["query_string"]:
            return None
        given = [value for name, value in parameters(scope) if name == TOKEN]
        if len(given) != 1 or not self._is_token(given[0]):
            return None if not given else self._unknown(scope)
        headers = {"Set-Cookie": self.sessions.header(self.sessions.begin())}
        return RedirectResponse(here(scope, without=TOKEN), 303, headers=headers)

    def _is_known(self, scope: Scope) -> bool:
        scheme, _, given = header(scope, "authorization").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(given.strip())
        return any(self.sessions.knows(value) for value in self._cookies(scope))

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.token.encode())

    def _cookies(self, scope: Scope) -> list[str]:
        """Values of our cookie."""
        try:
            cookies = SimpleCookie(header(scope, "cookie"))
        except CookieError:
            return []
        return [cookies[self.sessions.cookie].value] if self.sessions.cookie in cookies else []

    def _unknown(self, scope: Scope) -> Response:
        headers = {"WWW-Authenticate": "Bearer"}
        if self.login is not None:
            says = "The password of this Keypose is needed."
            body = f'<p><a href="{LOGIN}?{escape(self.login.back_to(here(scope, without=TOKEN)))}">Log in</a></p>'
        else:
            says = (
                "This page needs the address that Keypose printed when it was started, with its token. "
                "Look in the terminal, or start it again with: keypose serve --open"
            )
            body = ""
        return refusal(scope, 401, "NotKnown", "Who are you?", says, headers=headers, body=body)
