"""Check of the Host header.

A foreign site may let its name point at 127.0.0.1 (DNS rebinding) and would then have the same origin as our pages; but
browsers still send that name in Host.
"""

from __future__ import annotations

import ipaddress

from starlette.types import ASGIApp, Receive, Scope, Send

from keypose.server.middleware.error_pages import CLOSE, get_header, refuse
from keypose.server.settings import Settings

ANY_ADDRESS = ("0.0.0.0", "::", "")


class HostCheck:
    """Reject requests for other hosts than the address that the server listens on, and localhost."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        names = {"localhost", "127.0.0.1", "[::1]"}
        if settings.host not in ANY_ADDRESS:
            names.add(f"[{settings.host}]" if ":" in settings.host else settings.host.lower())
        self.port = settings.port
        self.hosts = {f"{name}:{settings.port}" for name in names}
        self.accepts_any_address = settings.host in ANY_ADDRESS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests for our own host on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":  # there are no WebSockets
            await send({"type": "websocket.close", "code": 1008})
        elif self._is_own_host(get_header(scope, "host").lower()):
            await self.app(scope, receive, send)
        else:
            message = "Keypose answers only under the address that it was started with."
            response = refuse(scope, 421, "WrongHost", "Another address", message, headers=CLOSE)
            await response(scope, receive, send)

    def _is_own_host(self, host: str) -> bool:
        """Whether the host is ours. Listening on all addresses, any IP address is: rebinding needs a name."""
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        if not self.accepts_any_address or port != str(self.port):
            return False
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True
