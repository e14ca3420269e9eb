"""SQLAlchemy, which keeps the tables, or the line to type where it is not installed."""

from __future__ import annotations

from keypose.errors import MissingExtra

try:
    import sqlalchemy as sa
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert
except ImportError:
    raise MissingExtra("a library of clips needs: pip install 'keypose[library]'") from None

__all__ = ["sa", "sqlite_insert"]
