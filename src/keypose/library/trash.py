"""Move clips to the trash, restore them, or delete them permanently."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from keypose.errors import FormatError, OptionError
from keypose.library.extra import sa
from keypose.library.records import Clip
from keypose.library.rows import delete_unused_blob_row, find_clip, format_time, load_clips, now_text
from keypose.library.store import Store
from keypose.library.tables import clips, trash
from keypose.validation import check_number


def move_to_trash(store: Store, names: Sequence[str]) -> tuple[Clip, ...]:
    """Move clips to the trash, all or none; clips that are already there keep their date."""
    dialect = store.database.dialect
    with store.database.begin_write() as connection:
        trashed = dict(find_clip(connection, name) for name in names)
        if trashed:
            rows = [{"clip_id": clip_id, "trashed_at": now_text()} for clip_id in trashed]
            connection.execute(dialect.insert_new(trash, rows))
            dialect.increment_changes(connection)
    return tuple(trashed.values())


def restore(store: Store, names: Sequence[str]) -> tuple[Clip, ...]:
    """Restore clips from the trash, all or none."""
    with store.database.begin_write() as connection:
        restored = dict(find_clip(connection, name, in_trash=True) for name in names)
        if restored:
            connection.execute(sa.delete(trash).where(trash.c.clip_id.in_(list(restored))))
            store.database.dialect.increment_changes(connection)
    return tuple(restored.values())


def list_trash(store: Store) -> tuple[tuple[Clip, datetime], ...]:
    """Return the clips in the trash and when they were moved there (UTC), the latest first."""
    with store.database.begin_read() as connection:
        trashed_at = {row.clip_id: row.trashed_at for row in connection.execute(sa.select(trash))}
        clips_by_id = load_clips(connection, sa.select(trash.c.clip_id))
    try:
        dated = [(clip, datetime.fromisoformat(trashed_at[clip_id])) for clip_id, clip in clips_by_id.items()]
    except (ValueError, TypeError):
        location = store.database.dialect.location
        raise FormatError(location, "the dates of the trash are damaged, expected dates") from None
    return tuple(sorted(dated, key=lambda name: name[1], reverse=True))


def empty_trash(store: Store, older_than_days: float) -> tuple[Clip, ...]:
    """Delete clips that have been in the trash for longer than ``older_than_days``."""
    days = check_number("older_than_days", older_than_days, min_value=0.0)
    try:
        before = datetime.now(UTC) - timedelta(days=days)
    except OverflowError:
        raise OptionError(f"older_than_days={days:g}, expected a number of days that have been") from None
    with store.database.begin_write() as connection:
        expired = load_clips(connection, sa.select(trash.c.clip_id).where(trash.c.trashed_at <= format_time(before)))
        for clip_id, clip in expired.items():
            _delete_rows(store, connection, clip_id, clip)
    for clip in expired.values():
        store.delete_unused_bytes(clip.blob)
    return tuple(expired.values())


def delete_clip(store: Store, name_or_hash: str) -> Clip:
    """Delete a clip and its bytes."""
    with store.database.begin_write() as connection:
        clip_id, clip = find_clip(connection, name_or_hash)
        _delete_rows(store, connection, clip_id, clip)
    store.delete_unused_bytes(clip.blob)
    return clip


def _delete_rows(store: Store, connection: sa.Connection, clip_id: int, clip: Clip) -> None:
    dialect = store.database.dialect
    dialect.delete_words(connection, clip_id)
    connection.execute(sa.delete(clips).where(clips.c.id == clip_id))
    delete_unused_blob_row(connection, clip.blob)
    dialect.increment_changes(connection)
