"""The interface of blob stores."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

from keypose.errors import FormatError
from keypose.validation import is_sha256

OWNER_FILE = "keypose-library"  # at the top level; contains the identity of the owning library (folder.py)
_FOLDER = re.compile(r"[0-9a-f]{2}")

# Temporary files of this program; only these are deleted as leftovers.
_LEFTOVER = re.compile(
    rf"\.{OWNER_FILE}\.[0-9a-f]{{12}}\.tmp|([0-9a-f]{{2}})/(\.\1[0-9a-f]{{18}}\.[0-9a-f]{{12}}|\1[0-9a-f]{{62}}\.[0-9a-f]{{16}})\.tmp"
)


def sha256_hex(data: bytes) -> str:
    """Return the sha256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def is_blob_path(name: str) -> bool:
    """Return whether a relative name has the form of a blob path, ``ab/abcdef...``."""
    folder, _, file = name.partition("/")
    return is_sha256(file) and folder == file[:2]


def is_leftover(name: str) -> bool:
    """Return whether a relative name has the form of a temporary file, which a killed writer leaves."""
    return _LEFTOVER.fullmatch(name) is not None


def is_library_name(name: str) -> bool:
    """Return whether a library may have created this entry at the top level."""
    return name == OWNER_FILE or _FOLDER.fullmatch(name) is not None or is_leftover(name)


def check_hash(location: str | Path, digest: str) -> str:
    """Return ``digest``; FormatError if it is no sha256."""
    if not is_sha256(digest):
        raise FormatError(location, f"{digest[:80]!r} is no sha256", expected="64 hexadecimal digits")
    return digest


def check_content(location: str | Path, data: bytes, digest: str) -> bytes:
    """Return ``data``; FormatError if its sha256 is not ``digest``."""
    if (actual := sha256_hex(data)) != digest:
        raise FormatError(
            location, f"is damaged: its {len(data)} bytes have the sha256 {actual}", expected="its name", code="damaged"
        )
    return data


class Blobs(Protocol):
    """A store of bytes. ``put`` returns once they are durable; incomplete data is never visible under a hash."""

    def put(self, data: bytes) -> str:
        """Store ``data`` and return its hash; damaged data under the same hash is replaced."""

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """Return the bytes, checked against their hash.

        Data that are larger than the limits and than ``n_bytes``, the recorded size, are damaged and are not read.
        """

    def has(self, digest: str) -> bool:
        """Return whether there is a blob under this hash, intact or not."""

    def modified_at(self, digest: str) -> datetime:
        """Return the time of the last write; the current time if there is no such blob."""

    def remove(self, digest: str) -> None:
        """Remove a blob, if it exists."""

    def hashes(self) -> Iterator[str]:
        """Yield the hashes of all blobs."""

    def leftovers(self) -> Iterator[str]:
        """Yield the temporary files of killed writers, which are too old to be still in use."""

    def remove_leftover(self, name: str) -> None:
        """Remove a file that ``leftovers`` yielded."""

    def foreign_files(self) -> Iterator[str]:
        """Yield the files that no library wrote."""

    def top_level_names(self) -> tuple[str, ...] | None:
        """Return the names at the top level; None if the location does not exist."""

    def create(self) -> None:
        """Create the location if necessary; FileError if it is not writable."""

    def read_owner(self) -> bytes | None:
        """Return the content of the owner file; None without one."""

    def write_owner(self, content: bytes) -> None:
        """Write the owner file."""

    def placeholder_path(self, name: str) -> Path:
        """Return a path for messages and readers, with no other file beside it."""
