"""Import of psycopg, or the pip command to install it."""

from __future__ import annotations

from keypose.errors import MissingExtra

try:
    import psycopg
    from sqlalchemy.dialects.postgresql import insert as postgres_insert
except ImportError:
    raise MissingExtra("a library in PostgreSQL needs: pip install 'keypose[postgres]'") from None

__all__ = ["postgres_insert", "psycopg"]
