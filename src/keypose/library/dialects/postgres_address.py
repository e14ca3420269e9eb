"""Where a library in PostgreSQL is: a URL whose password is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from keypose.errors import OptionError
from keypose.library.extra import sa

SCHEMA = "keypose"
CONNECT_S = 10  # by then a server answers, or there is none
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    """A server, a database of it, and the schema that holds the library."""

    url: sa.URL = field(repr=False)
    schema: str

    @classmethod
    def of(cls, text: str) -> Address:
        """``postgresql://user:password@host:port/database``; ``?schema=films`` for another one than ``keypose``.

        All other options are those of libpq: ``?sslmode=verify-full``.
        """
        try:
            url = sa.make_url(text)
        except (sa.exc.ArgumentError, ValueError):
            raise OptionError("a URL that cannot be read, expected postgresql://user@host:port/database") from None
        if not url.database:
            raise OptionError("a URL without a database, expected postgresql://user@host:port/database")
        schema = url.query.get("schema", SCHEMA)
        if not isinstance(schema, str) or not _NAME.fullmatch(schema) or schema.startswith("pg_"):
            raise OptionError(f"schema={schema!r}, expected small letters, digits and _, at most 63, not pg_...")
        return cls(url.difference_update_query(["schema"]).set(drivername="postgresql+psycopg"), schema)

    @property
    def defaults(self) -> dict[str, int]:
        """What is asked of libpq where the URL says nothing."""
        return {} if "connect_timeout" in self.url.query else {"connect_timeout": CONNECT_S}

    def __str__(self) -> str:
        """Without the password and without options, which may hold one."""
        shown = self.url.set(drivername="postgresql", query={})
        shown = sa.URL.create("postgresql", shown.username, None, shown.host, shown.port, shown.database)
        of = "" if self.schema == SCHEMA else f"?schema={self.schema}"
        return shown.render_as_string() + of
