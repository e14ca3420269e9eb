"""Whose bytes are at a place: two libraries with one place would remove each other's."""

from __future__ import annotations

import contextlib
import re
import secrets

from keypose.errors import FileError, FormatError, OptionError
from keypose.library.blobs.base import OWNER, Blobs, is_ours

_SAYS = "The bytes here belong to the Keypose library {identity}.\n"
_SAID = re.compile(_SAYS.format(identity="([0-9a-f]{32})").encode())


def is_identity(value: object) -> bool:
    """Whether this can be the identity of a library."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def owner_of(blobs: Blobs) -> str | None:
    """The identity of the library that the bytes at a place belong to; None where nothing clear says it."""
    try:
        said = blobs.owner()
    except FormatError:  # something else in the place of the file
        return None
    found = None if said is None else _SAID.fullmatch(said)
    return None if found is None else found[1].decode()


def identity_at(blobs: Blobs, *, is_new: bool, is_beside: bool) -> str:
    """The identity of a library whose bytes will be at a place; an error where they cannot be.

    A folder beside a database belongs to the database of that name, also to a new one: the old one was lost.
    """
    there = owner_of(blobs)
    if there is not None:
        if is_beside:
            return there
        raise OptionError(f"blobs={str(blobs)!r} are those of another library, expected a place of its own; if the "
                          f"database of that one is lost, remove the file {OWNER} there first, and rebuild() takes "
                          "its clips in")  # fmt: skip
    if is_new:
        strangers = [name for name in blobs.at_top() or () if not is_ours(name) or name == OWNER]
        if strangers:
            raise OptionError(f"blobs={str(blobs)!r} holds other things ({strangers[0][:80]!r}), expected a place that "
                              "is empty or not there")  # fmt: skip
        blobs.make()
    return secrets.token_hex(16)


def claim(blobs: Blobs, identity: str) -> None:
    """Says at a place whose its bytes are."""
    blobs.set_owner(_SAYS.format(identity=identity).encode())


def hold(blobs: Blobs, identity: str | None, where: str) -> None:
    """Refuses a place that belongs to another library, and says of one that says nothing whose it is.

    A place that cannot be reached is no error yet: clips can be looked at without their bytes. Nor is one that may
    only be read.
    """
    with contextlib.suppress(FileError):
        there = owner_of(blobs)
        if identity is None or there == identity:
            return
        if there is not None:
            raise FormatError(where, f"the bytes at {blobs} are those of another library ({OWNER} there says so), "
                                     "expected its own")  # fmt: skip
        if blobs.at_top() is not None:
            claim(blobs, identity)
