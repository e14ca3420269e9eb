"""Metadata of clips: names, tags, source, licence, note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.library.clip_preparation import PreparedClip
from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.records import Clip
from keypose.library.rows import finalize_clip
from keypose.library.source_file import LOAD_OPTIONS_NOTE
from keypose.library.store import Store
from keypose.library.tables import clips, other_names, tags, trash
from keypose.library.text_normalization import clean_name, clean_note

FOUND_BY_REBUILD = "found by rebuild"  # note of clips without a name


@dataclass(frozen=True)
class ClipMetadata:
    """The normalized metadata of a clip to add."""

    name: str
    tags: tuple[str, ...]
    fields: Mapping[str, str]  # source, licence, note
    animation: str = ""  # appended to the name unless it is the default one

    def for_clip(self, prepared: PreparedClip) -> ClipMetadata:
        """Return the metadata with the name of the animation appended, if another than the default was read."""
        if not self.animation or prepared.conversion_note != LOAD_OPTIONS_NOTE:
            return self
        return replace(self, name=clean_name(f"{self.name}: {self.animation}"))


def default_name(path: str | PathLike[str]) -> tuple[Path, str]:
    """Return a path, and the default name of its clip."""
    try:
        checked_path = Path(path)
    except TypeError:
        raise OptionError(f"{type(path).__name__} to add, expected a path, bytes or a Motion") from None
    try:
        return checked_path, clean_name(Source(checked_path, b"").name or "clip")
    except OptionError as error:
        raise OptionError(f"{str(checked_path)!a}: {error}") from None


def clean_fields(source: str, licence: str, note: str) -> dict[str, str]:
    """Return source, licence and note, normalized."""
    fields = {"source": source, "licence": licence, "note": note}
    return {field: clean_note(field, text) for field, text in fields.items()}


def insert_tags(connection: sa.Connection, dialect: Dialect, clip_id: int, new_tags: tuple[str, ...]) -> None:
    """Add tags to a clip."""
    if new_tags:
        connection.execute(dialect.insert_new(tags, [{"clip_id": clip_id, "tag": tag} for tag in new_tags]))


def _is_unnamed(clip: Clip) -> bool:
    """Return whether the clip was found by rebuild and nobody has named it since."""
    return clip.note == FOUND_BY_REBUILD and clip.name == clip.blob[: len(clip.name)]


def adds_metadata(clip: Clip, metadata: ClipMetadata) -> bool:
    """Return whether ``metadata`` adds a name, a tag or a field to the clip."""
    has_name = metadata.name in (clip.name, *clip.other_names)
    return (
        _is_unnamed(clip)
        or not has_name
        or not set(metadata.tags).issubset(clip.tags)
        or bool(_missing_fields(clip, metadata))
    )


def _missing_fields(clip: Clip, metadata: ClipMetadata) -> dict[str, str]:
    """Return the fields of ``metadata`` that the clip lacks."""
    return {field: text for field, text in metadata.fields.items() if text and not getattr(clip, field)}


def merge_metadata(store: Store, connection: sa.Connection, clip_id: int, clip: Clip, metadata: ClipMetadata) -> Clip:
    """Add metadata to a clip, restore it from the trash, and return it; existing fields stay."""
    dialect = store.database.dialect
    if _is_unnamed(clip):
        values = {"name": metadata.name, "note": metadata.fields.get("note", "")}
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(values))
    elif metadata.name != clip.name:
        connection.execute(dialect.insert_new(other_names, [{"clip_id": clip_id, "name": metadata.name}]))
    if missing_fields := _missing_fields(clip, metadata):
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(missing_fields))
    insert_tags(connection, dialect, clip_id, metadata.tags)
    connection.execute(sa.delete(trash).where(trash.c.clip_id == clip_id))
    return finalize_clip(connection, dialect, clip_id)
