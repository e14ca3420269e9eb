"""The supported databases."""

from __future__ import annotations

import os
import re
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.library.db.base import Dialect, Vectors
from keypose.library.db.sqlite import SqliteDialect

__all__ = ["Dialect", "SqliteDialect", "Vectors", "choose_dialect", "is_url"]


SCHEMES = ("postgresql", "postgres")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def is_url(location: str) -> bool:
    """Return whether ``location`` is a URL and no path; ``C://`` is a path."""
    return _SCHEME.match(location) is not None


def choose_dialect(location: str | PathLike[str], busy_s: float) -> Dialect:
    """Return SQLite for a path, PostgreSQL for ``postgresql://user:password@host:port/database``.

    Errors never repeat a URL, as it may contain a password.
    """
    try:
        text = os.fspath(location)
        path = Path(text)
    except TypeError:
        raise OptionError(option="path", value=location, expected="the path or the URL of a library") from None
    if "\0" in os.fspath(path) or text == ":memory:":  # a separate database for every connection
        raise OptionError(option="path", value=text[:80], expected="the path or the URL of a library")
    match = _SCHEME.match(text) if isinstance(text, str) else None
    if match is None:
        return SqliteDialect(path, busy_s)
    if match[1].lower() not in SCHEMES:
        expected = "the path of a library or postgresql://user@host/database"
        raise OptionError(f"a URL of {match[1]}", option="path", expected=expected)
    from keypose.library.db.postgres import PostgresDialect

    return PostgresDialect(text, busy_s)
