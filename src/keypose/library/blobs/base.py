"""What every place for bytes can do."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

from keypose.errors import FormatError

LEFTOVER_AFTER_S = 3600.0  # a file that is still being written is younger
_HASH = re.compile(r"[0-9a-f]{64}")


def hash_of(data: bytes) -> str:
    """The sha256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def is_hash(name: str) -> bool:
    """Whether ``name`` can be the sha256 of something."""
    return bool(_HASH.fullmatch(name))


def checked(where: str | Path, digest: str) -> str:
    """``digest``, if it is a sha256."""
    if not is_hash(digest):
        raise FormatError(where, f"{digest[:80]!r} is no sha256, expected 64 hexadecimal digits")
    return digest


def sound(where: str | Path, data: bytes, digest: str) -> bytes:
    """``data``, if they have this hash."""
    if (found := hash_of(data)) != digest:
        raise FormatError(where, f"is damaged: its {len(data)} bytes have the sha256 {found}, expected its name")
    return data


class Blobs(Protocol):
    """A place for bytes. ``put`` returns when they are safe; nothing half-written is ever seen under a hash."""

    def put(self, data: bytes) -> str:
        """Keeps ``data`` and gives their hash; damaged ones of the same hash are replaced."""

    def read(self, digest: str) -> bytes:
        """The bytes, checked against their hash."""

    def has(self, digest: str) -> bool:
        """Whether something is there under this hash, sound or not."""

    def written_at(self, digest: str) -> datetime:
        """When the bytes were put there; for those that are not there, now."""

    def remove(self, digest: str) -> None:
        """Forgets the bytes, if they are there."""

    def hashes(self) -> Iterator[str]:
        """The hashes under which something is there."""

    def leftovers(self) -> Iterator[str]:
        """What is there and is no blob: files of writers that died, and strangers."""

    def remove_leftover(self, name: str) -> None:
        """Removes one of these."""

    def stand_in(self, name: str) -> Path:
        """A path for messages and for readers, beside which there is no other file."""
