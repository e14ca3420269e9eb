"""The location of the blobs of a library: beside its database, a folder, or an object store.

The location is recorded in the database when the library is created. Whoever can write to the database can thus choose
the folder or store that is read and written: trust the database as you trust the folder.
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
    from keypose.library.db import Dialect

DEFAULT_LOCATION = ""  # as recorded in the database: beside it
DEFAULT_SUFFIX = ".blobs"
MAX_LOCATION_CHARS = 4000
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # no database stores these; file names that are not UTF-8 contain them
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://[^\x00-\x20]*")


def choose_location(requested: str | PathLike[str] | None, recorded: str | None, dialect: Dialect) -> str:
    """Return the location to record for a new library (``recorded`` None), else the recorded one.

    A ``requested`` location that differs from the recorded one is an OptionError.
    """
    location = None if requested is None else normalize_location(requested)
    if recorded is None:
        if location is None and dialect.path is None:
            raise OptionError("blobs=None for a new library in a server, expected a folder or a URL for the bytes of "
                              "its clips, that all who use it can reach")  # fmt: skip
        return DEFAULT_LOCATION if location is None or location == _default_path(dialect.path) else location
    if location is not None and location not in (
        recorded,
        _default_path(dialect.path) if recorded == DEFAULT_LOCATION else recorded,
    ):
        raise OptionError(f"blobs={location!r}, expected {recorded or _default_path(dialect.path)!r}, where the bytes "
                          "of this library are, or nothing")  # fmt: skip
    return recorded


def normalize_location(location: str | PathLike[str]) -> str:
    """Return a path or URL as it is recorded: paths are absolute, URLs have no credentials."""
    text = os.fspath(location) if isinstance(location, str | PathLike) else ""
    if not isinstance(text, str) or not text or _UNSTORABLE.search(text) or len(text) > MAX_LOCATION_CHARS:
        raise OptionError(f"blobs={str(location)[:80]!a}, expected a folder or a URL like s3://bucket/clips")
    if "://" not in text:
        return os.path.abspath(text)  # noqa: PTH100  # links stay as they are
    if "::" in text or not _URL.fullmatch(text):
        raise OptionError("blobs is a URL that cannot be read, expected one like s3://bucket/clips")
    url_parts = urlsplit(text)
    if url_parts.password or "@" in url_parts.netloc or url_parts.query:
        raise OptionError("blobs is a URL with a user, a password or options, expected them in the environment or in "
                          "the settings of the store: the URL is kept in the database")  # fmt: skip
    if url_parts.scheme in ("file", "local"):
        return os.path.abspath(unquote(url_parts.path))  # noqa: PTH100
    return text.rstrip("/") if url_parts.netloc or url_parts.path.strip("/") else text


def open_blobs(location: str, dialect: Dialect, max_bytes: int = Limits().bytes) -> Blobs:
    """Return the blobs at a recorded location."""
    if location == DEFAULT_LOCATION:
        if dialect.path is None:
            raise FormatError(dialect.location, "does not say where the bytes of its clips are")
        return FolderBlobs(Path(_default_path(dialect.path)), max_bytes)
    if "://" not in location:
        if not Path(location).is_absolute():
            raise FormatError(dialect.location, f"its bytes are in {location[:80]!r}, expected a full path or a URL")
        return FolderBlobs(Path(location), max_bytes)
    from keypose.library.blobs.object_store import FsspecBlobs

    return FsspecBlobs(normalize_location(location), max_bytes)


def _default_path(path: Path | None) -> str:
    """Return the path beside the database file, with links resolved; "" without a file."""
    return "" if path is None else os.path.realpath(path) + DEFAULT_SUFFIX
