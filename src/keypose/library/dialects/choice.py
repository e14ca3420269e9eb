"""Which database a path or a URL means."""

from __future__ import annotations

import os
import re
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.library.dialects.base import Dialect
from keypose.library.dialects.sqlite import SqliteDialect

SCHEMES = ("postgresql", "postgres")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def is_url(where: str) -> bool:
    """Whether this is a URL and no path; ``C://`` is a path."""
    return _SCHEME.match(where) is not None


def dialect_of(where: str | PathLike[str], busy_s: float) -> Dialect:
    """SQLite for a path, PostgreSQL for ``postgresql://user:password@host:port/database``.

    Errors never repeat a URL: there may be a password in it.
    """
    try:
        said = os.fspath(where)
        path = Path(said)
    except TypeError:
        raise OptionError(f"path={type(where).__name__}, expected the path or the URL of a library") from None
    if "\0" in os.fspath(path) or said == ":memory:":  # which SQLite would make anew for every connection
        raise OptionError(f"path={said[:80]!a}, expected the path or the URL of a library")
    found = _SCHEME.match(said) if isinstance(said, str) else None
    if found is None:
        return SqliteDialect(path, busy_s)
    if found[1].lower() not in SCHEMES:
        raise OptionError(f"a URL of {found[1]}, expected the path of a library or postgresql://user@host/database")
    from keypose.library.dialects.postgres import PostgresDialect

    return PostgresDialect(said, busy_s)
