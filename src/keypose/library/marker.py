"""The one row that says what a library is, kept twice, so that damage of it is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from keypose.library.extra import sa
from keypose.library.rows import now
from keypose.library.tables import schema, twin

_SAID_TWICE = ("made_at", "blobs", "changes")
_MENDED = "rebuild() makes it sound"


def problems(connection: sa.Connection) -> Iterator[str]:
    """Where the row and its twin differ, or cannot be right."""
    ours, theirs = _rows(connection, schema), _rows(connection, twin)
    if len(ours) != 1 or len(theirs) != 1:
        yield f"{len(ours)} and {len(theirs)} rows say what the library is, expected one and its twin; {_MENDED}"
        return
    for what in _SAID_TWICE:
        if ours[0][what] != theirs[0][what]:
            yield f"its {what} is {ours[0][what]!r} and {theirs[0][what]!r}, expected the same twice; {_MENDED}"
    if not _is_date(ours[0]["made_at"]):
        yield f"it was made at {ours[0]['made_at']!r}, expected a date; {_MENDED}"


def made_at(connection: sa.Connection) -> datetime:
    """When the library was made."""
    said = connection.execute(sa.select(schema.c.made_at)).scalar_one()
    if not _is_date(said):
        raise ValueError(f"made at {said!r}, expected a date")
    return datetime.fromisoformat(said)


def mend(connection: sa.Connection) -> None:
    """Makes both say the same: the later date, before which bytes are never removed, and more changes than either."""
    both = [*_rows(connection, schema), *_rows(connection, twin)]
    dates = [row["made_at"] for row in both if _is_date(row["made_at"])]
    counts = [row["changes"] for row in both if isinstance(row["changes"], int)]
    values = {"made_at": max(dates, default=now()), "changes": max(counts, default=0) + 1}
    connection.execute(sa.update(schema).values(values))
    connection.execute(sa.delete(twin))
    same = sa.select(schema.c.made_at, schema.c.blobs, schema.c.changes)
    connection.execute(sa.insert(twin).from_select(list(_SAID_TWICE), same))


def _rows(connection: sa.Connection, table: sa.Table) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(sa.select(table)).mappings()]


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
