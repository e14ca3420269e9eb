"""The supported databases."""

from keypose.library.db.base import Dialect, Vectors
from keypose.library.db.choice import choose_dialect, is_url
from keypose.library.db.sqlite import SqliteDialect

__all__ = ["Dialect", "SqliteDialect", "Vectors", "choose_dialect", "is_url"]
