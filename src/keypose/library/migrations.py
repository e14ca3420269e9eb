"""From any older schema to today's, one step after another, all in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keypose.errors import FormatError
from keypose.library import tables
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.limbs import limbs_that_swing
from keypose.library.rows import now

Migration = Callable[[sa.Connection, Dialect], None]


def _first(connection: sa.Connection, dialect: Dialect) -> None:
    """Clips, their names and tags, blobs, what is known about frames, and the index of words."""
    tables.metadata.create_all(connection, tables=tables.FIRST, checkfirst=False)
    connection.execute(sa.insert(tables.schema).values(version=0, made_at=now()))
    dialect.make_word_index(connection)
    dialect.make_vector_index(connection)


def _second(connection: sa.Connection, dialect: Dialect) -> None:
    """Edits that people are at, and clips that were thrown away."""
    tables.metadata.create_all(connection, tables=tables.SECOND, checkfirst=False)


def _third(connection: sa.Connection, dialect: Dialect) -> None:
    """What swings in which clip, an index of the versions of analyses, a second marker, and room for an identity."""
    tables.metadata.create_all(connection, tables=tables.THIRD, checkfirst=False)
    tables.by_version.create(connection, checkfirst=True)
    marker = sa.select(tables.schema.c.made_at, tables.schema.c.blobs, tables.schema.c.changes)
    connection.execute(sa.insert(tables.twin).from_select(list(marker.selected_columns.keys()), marker))
    swung = sa.select(tables.swings.c.clip, tables.swings.c.part, sa.func.max(tables.swings.c.angle_rad))
    widest = connection.execute(swung.group_by(tables.swings.c.clip, tables.swings.c.part))
    limbs = {(limb, clip) for clip, part, angle in widest for limb in limbs_that_swing([(part, angle)])}
    if limbs:
        connection.execute(sa.insert(tables.swinging), [{"limb": limb, "clip": clip} for limb, clip in sorted(limbs)])


MIGRATIONS: tuple[Migration, ...] = (_first, _second, _third)  # the n-th makes version n of n - 1; none is ever changed


def version_of(connection: sa.Connection) -> int:
    """The version of the schema that is there; 0 for an empty database."""
    schema = connection.get_execution_options().get("schema_of_library")
    if not sa.inspect(connection).has_table(tables.schema.name, schema=schema):
        return 0
    found = list(connection.scalars(sa.select(tables.schema.c.version)))
    if len(found) != 1 or not isinstance(found[0], int) or found[0] < 1:
        where = connection.engine.url.database or "the library"
        raise FormatError(where, f"the database is damaged: its versions are {found[:3]}, expected one")
    return found[0]


def migrate(
    connection: sa.Connection, dialect: Dialect, where: str, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Brings the schema up to date within the transaction of ``connection``; one of a newer Keypose is refused."""
    there = version_of(connection)
    if there > len(migrations):
        raise FormatError(where, f"a library of version {there}, made by a newer Keypose, expected at most "
                                 f"{len(migrations)}")  # fmt: skip
    for step in migrations[there:]:
        step(connection, dialect)
    if there < len(migrations):
        connection.execute(sa.update(tables.schema).values(version=len(migrations)))
