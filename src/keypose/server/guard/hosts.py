"""Which names the server answers to.

A foreign page may have its own name point at 127.0.0.1 (DNS rebinding) and would then be of the same origin as we are;
but browsers still say that name in Host.
"""

from __future__ import annotations

import ipaddress

from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.guard.replies import CLOSE, header, refusal
from keypose.server.settings import Settings

EVERY_ADDRESS = ("0.0.0.0", "::", "")


class HostCheck:
    """Refuses requests to other names than the address that the server listens on, and localhost."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        names = {"localhost", "127.0.0.1", "[::1]"}
        if settings.host not in EVERY_ADDRESS:
            names.add(f"[{settings.host}]" if ":" in settings.host else settings.host.lower())
        self.port = settings.port
        self.hosts = {f"{name}:{settings.port}" for name in names}
        self.any_address = settings.host in EVERY_ADDRESS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is for us."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":  # there are no sockets
            await send({"type": "websocket.close", "code": 1008})
        elif self._is_ours(header(scope, "host").lower()):
            await self.app(scope, receive, send)
        else:
            said = "Keypose answers only under the address that it was started with."
            answer = refusal(scope, 421, "WrongHost", "Another address", said, headers=CLOSE)
            await answer(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        """Listening on all addresses, any number is ours: rebinding needs a name."""
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        if not self.any_address or port != str(self.port):
            return False
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True
