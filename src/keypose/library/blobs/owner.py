"""Which library owns the blobs at a location: two libraries that share one would delete each other's blobs."""

from __future__ import annotations

import contextlib
import re
import secrets

from keypose.errors import FileError, FormatError, OptionError
from keypose.library.blobs.base import OWNER_FILE, Blobs, is_library_name

_TEMPLATE = "The bytes here belong to the Keypose library {identity}.\n"
_PATTERN = re.compile(_TEMPLATE.format(identity="([0-9a-f]{32})").encode())


def is_identity(value: object) -> bool:
    """Return whether ``value`` has the form of a library identity."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def load_owner(blobs: Blobs) -> str | None:
    """Return the identity of the library that owns the blobs; None if the owner file is missing or unreadable."""
    try:
        content = blobs.read_owner()
    except FormatError:  # not a regular file
        return None
    match = None if content is None else _PATTERN.fullmatch(content)
    return None if match is None else match[1].decode()


def choose_identity(blobs: Blobs, *, is_default_location: bool) -> str:
    """Return the identity of a new library with its blobs at a location; OptionError if the location is taken.

    The folder beside a database belongs to the database of that name, so a new database takes over its identity.
    """
    owner = load_owner(blobs)
    if owner is not None:
        if is_default_location:
            return owner
        raise OptionError(f"blobs={str(blobs)!r} are those of another library, expected a place of its own; if the "
                          f"database of that one is lost, remove the file {OWNER_FILE} there first, and rebuild() "
                          "takes its clips in")  # fmt: skip
    foreign_names = [name for name in blobs.top_level_names() or () if not is_library_name(name) or name == OWNER_FILE]
    if foreign_names:
        raise OptionError(f"blobs={str(blobs)!r} holds other things ({foreign_names[0][:80]!r}), expected a place that "
                          "is empty or not there")  # fmt: skip
    blobs.create()
    return secrets.token_hex(16)


def write_identity(blobs: Blobs, identity: str) -> None:
    """Record the owner at the location of the blobs."""
    blobs.write_owner(_TEMPLATE.format(identity=identity).encode())


def check_owner(blobs: Blobs, identity: str | None, location: str) -> None:
    """Raise FormatError if the blobs belong to another library; record the owner if none is recorded.

    A location that is unreachable or read-only is no error: clips can be listed without their blobs.
    """
    with contextlib.suppress(FileError):
        owner = load_owner(blobs)
        if identity is None or owner == identity:
            return
        if owner is not None:
            raise FormatError(location, f"the bytes at {blobs} are those of another library ({OWNER_FILE} there says "
                                        "so), expected its own")  # fmt: skip
        if blobs.top_level_names() is not None:
            write_identity(blobs, identity)
