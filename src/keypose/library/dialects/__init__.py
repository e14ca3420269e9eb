"""The kinds of databases that a library can be kept in."""

from keypose.library.dialects.base import Dialect, Vectors
from keypose.library.dialects.choice import dialect_of, is_url
from keypose.library.dialects.sqlite import SqliteDialect

__all__ = ["Dialect", "SqliteDialect", "Vectors", "dialect_of", "is_url"]
