"""Where the bytes of a library are: beside its file, in a folder, or in an object store.

The place is recorded in the database when the library is made. Whoever can write to the database can thus name the
folder or store that is read and written: trust the database as you trust the folder.
"""

from __future__ import annotations

import os
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from keypose.errors import FormatError, OptionError
from keypose.formats import Limits
from keypose.library.blobs.base import Blobs
from keypose.library.blobs.folder import FolderBlobs

if TYPE_CHECKING:
    from keypose.library.dialects import Dialect

BESIDE = ""  # as it is recorded
BESIDE_SUFFIX = ".blobs"
LONGEST_PLACE = 4000
_NOT_KEPT = re.compile("[\0\ud800-\udfff]")  # no database keeps such: names of files that are no UTF-8 have them
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://[^\x00-\x20]*")


def chosen_place(asked: str | PathLike[str] | None, recorded: str | None, dialect: Dialect) -> str:
    """The place to record for a new library (``recorded`` None), or the one that was, if the same is asked for."""
    place = None if asked is None else place_of(asked)
    if recorded is None:
        if place is None and dialect.path is None:
            raise OptionError("blobs=None for a new library in a server, expected a folder or a URL for the bytes of "
                              "its clips, that all who use it can reach")  # fmt: skip
        return BESIDE if place is None or place == _beside(dialect.path) else place
    if place is not None and place not in (recorded, _beside(dialect.path) if recorded == BESIDE else recorded):
        raise OptionError(f"blobs={place!r}, expected {recorded or _beside(dialect.path)!r}, where the bytes of this "
                          "library are, or nothing")  # fmt: skip
    return recorded


def place_of(asked: str | PathLike[str]) -> str:
    """A path or URL as it is recorded: paths in full, without a password."""
    said = os.fspath(asked) if isinstance(asked, str | PathLike) else ""
    if not isinstance(said, str) or not said or _NOT_KEPT.search(said) or len(said) > LONGEST_PLACE:
        raise OptionError(f"blobs={str(asked)[:80]!a}, expected a folder or a URL like s3://bucket/clips")
    if "://" not in said:
        return os.path.abspath(said)  # noqa: PTH100  # links stay as they are
    if "::" in said or not _URL.fullmatch(said):
        raise OptionError("blobs is a URL that cannot be read, expected one like s3://bucket/clips")
    parts = urlsplit(said)
    if parts.password or "@" in parts.netloc or parts.query:
        raise OptionError("blobs is a URL with a user, a password or options, expected them in the environment or in "
                          "the settings of the store: the URL is kept in the database")  # fmt: skip
    if parts.scheme in ("file", "local"):
        return os.path.abspath(unquote(parts.path))  # noqa: PTH100
    return said.rstrip("/") if parts.netloc or parts.path.strip("/") else said


def blobs_at(place: str, dialect: Dialect, most_bytes: int = Limits().bytes) -> Blobs:
    """The bytes at a place as it is recorded."""
    if place == BESIDE:
        if dialect.path is None:
            raise FormatError(dialect.where, "does not say where the bytes of its clips are")
        return FolderBlobs(Path(_beside(dialect.path)), most_bytes)
    if "://" not in place:
        if not Path(place).is_absolute():
            raise FormatError(dialect.where, f"its bytes are in {place[:80]!r}, expected a full path or a URL")
        return FolderBlobs(Path(place), most_bytes)
    from keypose.library.blobs.objects import FsspecBlobs

    return FsspecBlobs(place_of(place), most_bytes)


def _beside(path: Path | None) -> str:
    """Beside the file itself, by whatever link it was reached."""
    return "" if path is None else os.path.realpath(path) + BESIDE_SUFFIX
