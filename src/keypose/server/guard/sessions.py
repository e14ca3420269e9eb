"""Who has shown the token or the password: random values that browsers keep as a cookie."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

MOST = 1000  # sessions; beyond that the oldest ends


class Sessions:
    """Sessions of one server; they end with it."""

    def __init__(self, port: int) -> None:
        self.cookie = f"keypose_{port}"  # browsers do not tell ports apart, so the name does
        self._kept: OrderedDict[bytes, None] = OrderedDict()

    def begin(self) -> str:
        """A new session, as the value of its cookie."""
        value = secrets.token_urlsafe(32)
        self._kept[_digest(value)] = None
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return value

    def knows(self, value: str) -> bool:
        """Whether a value is that of a session. Hashes are looked up, so that time tells nothing of the value."""
        return _digest(value) in self._kept

    def end(self, value: str) -> None:
        """Forgets a session."""
        self._kept.pop(_digest(value), None)

    def header(self, value: str) -> str:
        """The Set-Cookie of a session."""
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
