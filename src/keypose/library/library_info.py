"""Creation of the tables, their schema version, and the row that describes the library."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from keypose.errors import FormatError
from keypose.library import tables
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.tables import library_info, library_info_copy, now_text

_COPIED_COLUMNS = ("created_at", "blob_location", "changes")
SCHEMA_VERSION = 1


def find_problems(connection: sa.Connection) -> Iterator[str]:
    """Yield differences between the row and its copy, and invalid values."""
    rows, copies = _rows(connection, library_info), _rows(connection, library_info_copy)
    if len(rows) != 1 or len(copies) != 1:
        yield f"{len(rows)} and {len(copies)} rows say what the library is, expected one and its copy"
        return
    for column in _COPIED_COLUMNS:
        if rows[0][column] != copies[0][column]:
            values = f"{rows[0][column]!r} and {copies[0][column]!r}"
            yield f"its {column} is {values}, expected the same twice"
    if not _is_timestamp(rows[0]["created_at"]):
        yield f"it was made at {rows[0]['created_at']!r}, expected a date"


def load_created_at(connection: sa.Connection) -> datetime:
    """Return when the library was created."""
    text = connection.execute(sa.select(library_info.c.created_at)).scalar_one()
    if not _is_timestamp(text):
        raise ValueError(f"made at {text!r}, expected a date")
    return datetime.fromisoformat(text)


def repair(connection: sa.Connection, blob_location: str) -> None:
    """Make both rows equal, with this location, the later date and a change count higher than both."""
    both = [*_rows(connection, library_info), *_rows(connection, library_info_copy)]
    dates = [row["created_at"] for row in both if _is_timestamp(row["created_at"])]
    counts = [row["changes"] for row in both if isinstance(row["changes"], int)]
    created_at, changes = max(dates, default=now_text()), max(counts, default=0) + 1
    values = {"created_at": created_at, "blob_location": blob_location, "changes": changes}
    connection.execute(sa.update(library_info).values(values))
    connection.execute(sa.delete(library_info_copy))
    connection.execute(sa.insert(library_info_copy).values(values))


def _rows(connection: sa.Connection, table: sa.Table) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(sa.select(table)).mappings()]


def _is_timestamp(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def create_tables(connection: sa.Connection, dialect: Dialect, blob_location: str, identity: str) -> None:
    """Create all tables and indexes of an empty database in the transaction of ``connection``."""
    tables.metadata.create_all(connection, checkfirst=False)
    values = {"created_at": now_text(), "blob_location": blob_location, "changes": 0}
    connection.execute(sa.insert(tables.library_info).values(version=SCHEMA_VERSION, **values))
    connection.execute(sa.insert(tables.library_info_copy).values(values))
    connection.execute(sa.insert(tables.identity).values(identity=identity))
    dialect.create_word_index(connection)
    dialect.create_vector_index(connection)


def load_version(connection: sa.Connection, location: str) -> int:
    """Return the schema version of a database, 0 for an empty one; FormatError for any version but SCHEMA_VERSION."""
    schema = connection.get_execution_options().get("schema_of_library")
    if not sa.inspect(connection).has_table(tables.library_info.name, schema=schema):
        return 0
    versions = list(connection.scalars(sa.select(tables.library_info.c.version)))
    if len(versions) != 1 or not isinstance(versions[0], int) or versions[0] < 1:
        raise FormatError(
            location,
            f"the database is damaged: its versions are {versions[:3]}",
            expected="one",
            code="library_damaged",
        )
    if versions[0] != SCHEMA_VERSION:
        raise FormatError(location, f"a library of version {versions[0]}, made by another Keypose", expected=f"version "
                                    f"{SCHEMA_VERSION}", code="unsupported")  # fmt: skip
    return versions[0]
