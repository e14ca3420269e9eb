"""Sessions: random values that browsers hold as a cookie."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

MAX_SESSIONS = 1000  # beyond that the oldest ends


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
        """Whether a session has this value. Digests are compared, so that timing discloses nothing about the value."""
        return _digest_session(value) in self._digests

    def end(self, value: str) -> None:
        """End a session."""
        self._digests.pop(_digest_session(value), None)

    def set_cookie_header(self, value: str) -> str:
        """Return the Set-Cookie header of a session."""
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"


def _digest_session(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
