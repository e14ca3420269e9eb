"""What a server is told when it starts."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field

from keypose.server.guard.passwords import Password

HOST, PORT = "127.0.0.1", 8600
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_BYTES = 32
MOST_WORKERS = 8
MOST_SEARCHERS = 4


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Which library is shown, to whom, and how much anybody may ask for."""

    library: str  # a file, or the URL of a database
    host: str = HOST  # the address that it listens on
    port: int = PORT
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    password: Password | None = None  # for people at other machines

    # Processes that compute
    workers: int = field(default_factory=lambda: min(max(2, cores()), MOST_WORKERS))
    task_s: float = 60.0  # that one request may take
    worker_bytes: int = 4 << 30  # of memory, each
    most_waiting: int = 128  # requests that wait for them

    # Files that come in
    upload_workers: int = field(default_factory=lambda: min(max(2, cores() - 1), MOST_WORKERS))
    upload_s: float = 120.0  # that reading and analysing one may take
    upload_worker_bytes: int = 4 << 30
    upload_bytes: int = 256 << 20  # of a file as it comes
    unpacked_bytes: int = 1 << 30  # of it after decompression
    uploads_at_once: int = 32

    # The library
    searchers: int = field(default_factory=lambda: min(max(2, cores() // 2), MOST_SEARCHERS))  # each holds all of it
    searcher_bytes: int = 16 << 30
    searches_waiting: int = 512
    bin_days: float = 30.0  # that thrown away clips can be restored

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    @property
    def origin(self) -> str:
        """The beginning of its addresses."""
        named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{named}]' if ':' in named else named}:{self.port}"

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"{self.origin}/?token={self.token}"
