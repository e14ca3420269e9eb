"""Everything of clips that people change: metadata (names, tags, source, licence, note), drafts, and the trash."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path

from keypose.errors import Conflict, FormatError, OptionError
from keypose.formats.base import Source
from keypose.library.analysis import PreparedClip
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.records import Clip, Draft
from keypose.library.rows import (
    clean_name,
    clean_note,
    clean_tags,
    delete_unused_blob_row,
    finalize_clip,
    find_clip,
    load_clips,
)
from keypose.library.store import Store
from keypose.library.tables import clips, drafts, format_time, now_text, other_names, tags, trash
from keypose.validation import check_int, check_items, check_number, check_text

MAX_BYTES = 4 << 20  # of a draft in UTF-8
DELETED = ""  # data of a deleted draft; its row is not deleted, so that no revision is reused


@dataclass(frozen=True)
class ClipMetadata:
    """The normalised metadata of a clip to add."""

    name: str
    tags: tuple[str, ...]
    fields: Mapping[str, str]  # source, licence, note
    animation: str = ""  # appended to the name unless it is the default one
    is_placeholder: bool = False  # name and note were set by rebuild

    def for_clip(self, prepared: PreparedClip) -> ClipMetadata:
        """Return the metadata with the name of the animation appended, if another than the default was read."""
        if not self.animation or prepared.conversion != "load_options":
            return self
        return replace(self, name=clean_name(f"{self.name}: {self.animation}"))


def default_name(path: str | PathLike[str]) -> tuple[Path, str]:
    """Return a path, and the default name of its clip."""
    try:
        checked_path = Path(path)
    except TypeError:
        raise OptionError(f"{type(path).__name__} to add", expected="a path, bytes or a Motion") from None
    try:
        return checked_path, clean_name(Source(checked_path, b"").name or "clip")
    except OptionError as error:
        raise OptionError(f"{str(checked_path)!a}: {error}") from None


def default_source(path: Path) -> str:
    """Return the absolute path of a file as source text."""
    return clean_note("source", os.fspath(path.absolute()))


def clean_fields(source: str, licence: str, note: str) -> dict[str, str]:
    """Return source, licence and note, normalised."""
    fields = {"source": source, "licence": licence, "note": note}
    return {field: clean_note(field, text) for field, text in fields.items()}


def insert_tags(connection: sa.Connection, dialect: Dialect, clip_id: int, new_tags: tuple[str, ...]) -> None:
    """Add tags to a clip."""
    if new_tags:
        connection.execute(dialect.insert_new(tags, [{"clip_id": clip_id, "tag": tag} for tag in new_tags]))


def adds_metadata(clip: Clip, metadata: ClipMetadata) -> bool:
    """Return whether ``metadata`` adds a name, a tag or a field to the clip."""
    has_name = metadata.name in (clip.name, *clip.other_names)
    return (
        clip.is_placeholder
        or not has_name
        or not set(metadata.tags).issubset(clip.tags)
        or bool(_missing_fields(clip, metadata))
    )


def _missing_fields(clip: Clip, metadata: ClipMetadata) -> dict[str, str]:
    """Return the fields of ``metadata`` that the clip lacks."""
    return {field: text for field, text in metadata.fields.items() if text and not getattr(clip, field)}


def merge_metadata(store: Store, connection: sa.Connection, clip_id: int, clip: Clip, metadata: ClipMetadata) -> Clip:
    """Add metadata to a clip, restore it from the trash, and return it; fields that are set do not change."""
    dialect = store.database.dialect
    if clip.is_placeholder:
        values = {"name": metadata.name, "note": metadata.fields.get("note", ""), "is_placeholder": 0}
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(values))
    elif metadata.name != clip.name:
        connection.execute(dialect.insert_new(other_names, [{"clip_id": clip_id, "name": metadata.name}]))
    if missing_fields := _missing_fields(clip, metadata):
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(missing_fields))
    insert_tags(connection, dialect, clip_id, metadata.tags)
    connection.execute(sa.delete(trash).where(trash.c.clip_id == clip_id))
    return finalize_clip(connection, dialect, clip_id)


def rename(store: Store, name_or_hash: str, name: str) -> Clip:
    """Rename a clip; its old name becomes a further one."""
    new_name = clean_name(name)
    dialect = store.database.dialect
    with store.database.begin_write() as connection:
        clip_id, old_clip = find_clip(connection, name_or_hash)
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(name=new_name, is_placeholder=0))
        connection.execute(dialect.insert_new(other_names, [{"clip_id": clip_id, "name": old_clip.name}]))
        connection.execute(
            sa.delete(other_names).where(other_names.c.clip_id == clip_id, other_names.c.name == new_name)
        )
        return finalize_clip(connection, dialect, clip_id)


def describe(store: Store, name_or_hash: str, fields: Mapping[str, str | None]) -> Clip:
    """Set source, licence and note of a clip, except those that are None."""
    changes: dict[str, str | int]
    changes = {field: clean_note(field, text) for field, text in fields.items() if text is not None}
    if "note" in changes:
        changes["is_placeholder"] = 0
    with store.database.begin_write() as connection:
        clip_id, current = find_clip(connection, name_or_hash)
        if not changes:
            return current
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(changes))
        return finalize_clip(connection, store.database.dialect, clip_id)


def retag(store: Store, names_or_hashes: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[Clip, ...]:
    """Add and remove tags of several clips: all or none; return each clip once, in order."""
    added_tags, removed_tags = clean_tags(add), clean_tags(remove)
    names = [check_text("clips", name) for name in check_items("clips", names_or_hashes, "names of clips or hashes")]
    dialect = store.database.dialect
    with store.database.begin_write() as connection:
        clips_by_id = dict(find_clip(connection, name) for name in dict.fromkeys(names))
        for clip_id in clips_by_id:
            insert_tags(connection, dialect, clip_id, added_tags)
        if removed_tags and clips_by_id:
            connection.execute(
                sa.delete(tags).where(tags.c.clip_id.in_(list(clips_by_id)), tags.c.tag.in_(removed_tags))
            )
        return tuple(finalize_clip(connection, dialect, clip_id) for clip_id in clips_by_id)


def load_draft(store: Store, name_or_hash: str) -> Draft | None:
    """Return the draft of a clip, or None."""
    with store.database.begin_read() as connection:
        clip_id, clip = find_clip(connection, name_or_hash)
        row = _load_row(connection, clip_id)
    return None if row is None or row.data == DELETED else _build_draft(store, clip, row)


def save_draft(store: Store, name_or_hash: str, data: str, revision: int | None) -> Draft:
    """Replace the draft of this ``revision`` (None: no draft exists) by ``data``; Conflict if it has changed."""
    expected = None if revision is None else check_int("revision", revision)
    checked_data = _check_data(data)
    with store.database.begin_write() as connection:
        clip_id, clip = find_clip(connection, name_or_hash)
        row = _load_row(connection, clip_id)
        current = None if row is None or row.data == DELETED else row.revision
        if current != expected:
            raise Conflict(
                f"the draft was changed in the meantime: {_revision_text(current)}",
                subject=clip.name,
                value=current,
                expected=_revision_text(expected),
            )
        values = {"revision": 1 if row is None else row.revision + 1, "changed_at": now_text(), "data": checked_data}
        connection.execute(
            sa.insert(drafts).values(clip_id=clip_id, **values)
            if row is None
            else sa.update(drafts).where(drafts.c.clip_id == clip_id).values(values)
        )
        return _build_draft(store, clip, _load_row(connection, clip_id))


def delete_draft(store: Store, name_or_hash: str) -> None:
    """Delete the draft of a clip; no error if there is none."""
    with store.database.begin_write() as connection:
        clip_id, _ = find_clip(connection, name_or_hash)
        connection.execute(
            sa.update(drafts).where(drafts.c.clip_id == clip_id).values(changed_at=now_text(), data=DELETED)
        )


def _load_row(connection: sa.Connection, clip_id: int) -> sa.Row[tuple[int, int, str, str]] | None:
    return connection.execute(sa.select(drafts).where(drafts.c.clip_id == clip_id)).first()


def _build_draft(store: Store, clip: Clip, row: sa.Row[tuple[int, int, str, str]] | None) -> Draft:
    try:
        assert row is not None
        return Draft(clip.hash, int(row.revision), datetime.fromisoformat(row.changed_at), row.data)
    except (ValueError, TypeError):
        location = store.database.dialect.location
        raise FormatError(
            location, f"the draft of {clip.name} is damaged", expected="a revision and a date", code="library_damaged"
        ) from None


def _revision_text(revision: int | None) -> str:
    return "no draft" if revision is None else f"revision {revision}"


def _check_data(data: str) -> str:
    if not check_text("data", data) or "\0" in data:
        raise OptionError("no character, or a null one", option="data", expected="text")
    try:
        size = len(data.encode())
    except UnicodeEncodeError:
        raise OptionError("half a character (a lone surrogate)", option="data", expected="text") from None
    if size > MAX_BYTES:
        raise OptionError(f"{size} bytes", option="data", expected=f"at most {MAX_BYTES}")
    return data


def move_to_trash(store: Store, names: Sequence[str]) -> tuple[Clip, ...]:
    """Move clips to the trash, all or none; the date of clips that are already there does not change."""
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
        raise FormatError(
            location, "the dates of the trash are damaged", expected="dates", code="library_damaged"
        ) from None
    return tuple(sorted(dated, key=lambda name: name[1], reverse=True))


def empty_trash(store: Store, older_than_days: float) -> tuple[Clip, ...]:
    """Delete clips that have been in the trash for longer than ``older_than_days``."""
    days = check_number("older_than_days", older_than_days, min_value=0.0)
    try:
        before = datetime.now(UTC) - timedelta(days=days)
    except OverflowError:
        raise OptionError(option="older_than_days", value=days, expected="a number of days that have been") from None
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
