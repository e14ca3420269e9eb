"""Clips out: thrown away, which can be undone, or removed for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from keypose.errors import FormatError, OptionError
from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.rows import clips_of, find, forget_blob, now, written
from keypose.library.store import Store
from keypose.library.tables import clips, thrown_away
from keypose.options import number


def throw_away(store: Store, called: Sequence[str]) -> tuple[Clip, ...]:
    """Leaves clips out of lists and searches, all or none; one that was thrown away before stays so since then."""
    dialect = store.database.dialect
    with store.database.writing() as connection:
        found = dict(find(connection, each) for each in called)
        if found:
            rows = [{"clip": key, "at": now()} for key in found]
            connection.execute(dialect.insert_new(thrown_away, rows))
            dialect.count_change(connection)
    return tuple(found.values())


def restore(store: Store, called: Sequence[str]) -> tuple[Clip, ...]:
    """Brings clips back, all or none."""
    with store.database.writing() as connection:
        found = dict(find(connection, each, gone=True) for each in called)
        if found:
            connection.execute(sa.delete(thrown_away).where(thrown_away.c.clip.in_(list(found))))
            store.database.dialect.count_change(connection)
    return tuple(found.values())


def list_thrown_away(store: Store) -> tuple[tuple[Clip, datetime], ...]:
    """Clips that were thrown away, and when (UTC); the last one first."""
    with store.database.reading() as connection:
        since = {row.clip: row.at for row in connection.execute(sa.select(thrown_away))}
        there = clips_of(connection, sa.select(thrown_away.c.clip))
    try:
        dated = [(clip, datetime.fromisoformat(since[key])) for key, clip in there.items()]
    except (ValueError, TypeError):
        where = store.database.dialect.where
        raise FormatError(where, "when clips were thrown away is damaged, expected dates") from None
    return tuple(sorted(dated, key=lambda each: each[1], reverse=True))


def forget_thrown_away(store: Store, older_than_days: float) -> tuple[Clip, ...]:
    """Removes for good what was thrown away longer ago."""
    days = number("older_than_days", older_than_days, least=0.0)
    try:
        before = datetime.now(UTC) - timedelta(days=days)
    except OverflowError:
        raise OptionError(f"older_than_days={days:g}, expected a number of days that have been") from None
    with store.database.writing() as connection:
        found = clips_of(connection, sa.select(thrown_away.c.clip).where(thrown_away.c.at <= written(before)))
        for key, clip in found.items():
            _forget(store, connection, key, clip)
    for clip in found.values():
        store.drop_bytes(clip.blob)
    return tuple(found.values())


def remove(store: Store, called: str) -> Clip:
    """Forgets a clip and its bytes."""
    with store.database.writing() as connection:
        key, clip = find(connection, called)
        _forget(store, connection, key, clip)
    store.drop_bytes(clip.blob)
    return clip


def _forget(store: Store, connection: sa.Connection, key: int, clip: Clip) -> None:
    dialect = store.database.dialect
    dialect.forget_words(connection, key)
    connection.execute(sa.delete(clips).where(clips.c.id == key))
    forget_blob(connection, clip.blob)
    dialect.count_change(connection)
