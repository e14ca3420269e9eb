"""Creation of the tables, and the check that an existing database has the schema version of this program."""

from __future__ import annotations

from keypose.errors import FormatError
from keypose.library import tables
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.rows import now_text

SCHEMA_VERSION = 1


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
        raise FormatError(location, f"the database is damaged: its versions are {versions[:3]}, expected one")
    if versions[0] != SCHEMA_VERSION:
        raise FormatError(location, f"a library of version {versions[0]}, made by another Keypose, expected version "
                                    f"{SCHEMA_VERSION}")  # fmt: skip
    return versions[0]
