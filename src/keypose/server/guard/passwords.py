"""A password, kept so that it cannot be read back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from keypose.errors import OptionError

SHORTEST, LONGEST = 10, 1000  # characters
_COST = {"n": 1 << 15, "r": 8, "p": 1, "maxmem": 64 << 20}  # 32 MB and some 80 ms for each try


@dataclass(frozen=True)
class Password:
    """Salt, and what scrypt makes of the password with it."""

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, text: str) -> Password:
        """A new one; too short ones are refused."""
        if not SHORTEST <= len(text) <= LONGEST:
            raise OptionError(f"a password of {len(text)} characters, expected {SHORTEST} to {LONGEST}")
        salt = secrets.token_bytes(16)
        return cls(salt, _digest(text, salt))

    def matches(self, text: str) -> bool:
        """Whether that is the password; takes as long either way."""
        return hmac.compare_digest(_digest(text[:LONGEST], self.salt), self.digest)


def _digest(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, **_COST)
