"""A password, stored as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from keypose.errors import OptionError

MIN_LENGTH, MAX_LENGTH = 10, 1000  # characters
_COST = {"n": 1 << 15, "r": 8, "p": 1, "maxmem": 64 << 20}  # 32 MB and about 80 ms for each attempt


@dataclass(frozen=True)
class Password:
    """Salt and scrypt digest of a password."""

    salt: bytes
    digest: bytes

    @classmethod
    def create(cls, text: str) -> Password:
        """Return a new password; OptionError if it is too short or too long."""
        if not MIN_LENGTH <= len(text) <= MAX_LENGTH:
            raise OptionError(f"a password of {len(text)} characters, expected {MIN_LENGTH} to {MAX_LENGTH}")
        salt = secrets.token_bytes(16)
        return cls(salt, _digest_password(text, salt))

    def matches(self, text: str) -> bool:
        """Whether ``text`` is the password, in constant time."""
        return hmac.compare_digest(_digest_password(text[:MAX_LENGTH], self.salt), self.digest)


def _digest_password(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, **_COST)
