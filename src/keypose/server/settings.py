"""Settings of a server."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field

from keypose.errors import OptionError, format_count

HOST, PORT = "127.0.0.1", 8600
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_BYTES = 32
MAX_WORKERS = 8
MAX_SEARCHERS = 4

MIN_LENGTH, MAX_LENGTH = 10, 1000  # characters
_COST = {"n": 1 << 15, "r": 8, "p": 1, "maxmem": 64 << 20}  # 32 MB and about 80 ms for each attempt


def available_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Library, address, credentials and limits of a server."""

    library: str  # a file, or the URL of a database
    host: str = HOST  # address to listen on
    port: int = PORT
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    password: Password | None = None  # for access from other machines

    # Workers
    # One stays free for light tasks, and one for those that are not heavy.
    workers: int = field(default_factory=lambda: min(max(3, available_cores()), MAX_WORKERS))
    task_timeout_s: float = 60.0  # of one request
    worker_memory_bytes: int = 4 << 30  # of each
    max_waiting: int = 128  # queued requests of each weight

    # Uploads
    upload_workers: int = field(default_factory=lambda: min(max(2, available_cores() - 1), MAX_WORKERS))
    upload_timeout_s: float = 120.0  # to read and analyse one file
    upload_worker_memory_bytes: int = 4 << 30
    max_upload_bytes: int = 256 << 20  # of a file as sent
    max_unpacked_bytes: int = 1 << 30  # after decompression
    max_uploads: int = 32  # concurrent

    # The library
    # Each searcher holds the whole index in memory.
    searchers: int = field(default_factory=lambda: min(max(2, available_cores() // 2), MAX_SEARCHERS))
    searcher_memory_bytes: int = 16 << 30
    max_waiting_searches: int = 512
    trash_days: float = 30.0  # that clips in the trash can be restored

    @property
    def is_local(self) -> bool:
        """Whether the server is reachable from this machine only."""
        return self.host in LOOPBACK

    @property
    def origin(self) -> str:
        """Scheme, host and port of its URLs."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def url(self) -> str:
        """URL to open in a browser, with the token."""
        return f"{self.origin}/?token={self.token}"


@dataclass(frozen=True)
class Password:
    """Salt and scrypt digest of a password."""

    salt: bytes
    digest: bytes

    @classmethod
    def create(cls, text: str) -> Password:
        """Return a new password; OptionError if it is too short or too long."""
        if not MIN_LENGTH <= len(text) <= MAX_LENGTH:
            raise OptionError(
                f"a password of {format_count(len(text), 'character')}", expected=f"{MIN_LENGTH} to {MAX_LENGTH}"
            )
        salt = secrets.token_bytes(16)
        return cls(salt, _digest_password(text, salt))

    def matches(self, text: str) -> bool:
        """Return whether ``text`` is the password, in constant time."""
        return hmac.compare_digest(_digest_password(text[:MAX_LENGTH], self.salt), self.digest)


def _digest_password(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, **_COST)
