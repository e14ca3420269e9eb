"""The address of a library in PostgreSQL: a URL whose password is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from keypose.errors import OptionError
from keypose.library.extra import sa

SCHEMA = "keypose"
CONNECT_S = 10  # connection timeout
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    """A server, a database on it, and the schema of the library."""

    url: sa.URL = field(repr=False)
    schema: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse ``postgresql://user:password@host:port/database``.

        ``?schema=films`` selects another schema than ``keypose``.

        All other options are passed to libpq: ``?sslmode=verify-full``.
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
    def connect_args(self) -> dict[str, int]:
        """Defaults for libpq options that the URL lacks."""
        return {} if "connect_timeout" in self.url.query else {"connect_timeout": CONNECT_S}

    def __str__(self) -> str:
        """Return the URL without the password and without options, which may contain one."""
        display_url = self.url.set(drivername="postgresql", query={})
        display_url = sa.URL.create(
            "postgresql", display_url.username, None, display_url.host, display_url.port, display_url.database
        )
        suffix = "" if self.schema == SCHEMA else f"?schema={self.schema}"
        return display_url.render_as_string() + suffix
