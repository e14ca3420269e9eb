"""Import of SQLAlchemy, or the pip command to install it."""

from __future__ import annotations

from keypose.errors import MissingExtra

try:
    import sqlalchemy as sa
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert
except ImportError:
    raise MissingExtra("a library of clips needs", "pip install 'keypose[library]'") from None

__all__ = ["sa", "sqlite_insert"]
