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
OWNER = "keypose-library"  # the file at the top that says whose bytes these are: owner.py
_HASH = re.compile(r"[0-9a-f]{64}")
_FOLDER = re.compile(r"[0-9a-f]{2}")

# What a writer that died can have left: no other file is ever taken for one.
_LEFT = re.compile(
    rf"\.{OWNER}\.[0-9a-f]{{12}}\.tmp|([0-9a-f]{{2}})/(\.\1[0-9a-f]{{18}}\.[0-9a-f]{{12}}|\1[0-9a-f]{{62}}\.[0-9a-f]{{16}})\.tmp"
)


def hash_of(data: bytes) -> str:
    """The sha256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def is_hash(name: str) -> bool:
    """Whether ``name`` can be the sha256 of something."""
    return bool(_HASH.fullmatch(name))


def is_place(name: str) -> bool:
    """Whether a name below the top, ``ab/abcdef...``, is where a blob belongs."""
    folder, _, file = name.partition("/")
    return is_hash(file) and folder == file[:2]


def is_left(name: str) -> bool:
    """Whether only a writer that died can have left a file of this name below the top."""
    return _LEFT.fullmatch(name) is not None


def is_ours(name: str) -> bool:
    """Whether a library can have put this at the top."""
    return name == OWNER or _FOLDER.fullmatch(name) is not None or is_left(name)


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

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """The bytes, checked against their hash.

        What is larger than the limits, and than ``n_bytes``, which they are said to be, is damaged and not read.
        """

    def has(self, digest: str) -> bool:
        """Whether something is there under this hash, sound or not."""

    def written_at(self, digest: str) -> datetime:
        """When the bytes were put there; for those that are not there, now."""

    def remove(self, digest: str) -> None:
        """Forgets the bytes, if they are there."""

    def hashes(self) -> Iterator[str]:
        """The hashes under which something is there."""

    def leftovers(self) -> Iterator[str]:
        """Files of writers that died; nobody can still be writing them."""

    def remove_leftover(self, name: str) -> None:
        """Removes one of these."""

    def strangers(self) -> Iterator[str]:
        """What is there and was never put there by a library."""

    def at_top(self) -> tuple[str, ...] | None:
        """The names at the top; None where there is no such place yet."""

    def make(self) -> None:
        """Makes the place, if it is not there; an error where it cannot be written to."""

    def owner(self) -> bytes | None:
        """What the file says that tells whose bytes these are; None without one."""

    def set_owner(self, says: bytes) -> None:
        """Writes that file."""

    def stand_in(self, name: str) -> Path:
        """A path for messages and for readers, beside which there is no other file."""
