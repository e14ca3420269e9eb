"""The metadata of the files of an ingest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.library.metadata import ClipMetadata, default_name
from keypose.library.records import Clip
from keypose.library.text_normalization import clean_note, clean_tags

MAX_TEXT_CHARS = 60  # of a field in a note


@dataclass(frozen=True)
class InputFile:
    """A file to ingest, and its path relative to the folder or pattern that matched it."""

    path: Path
    relative: Path


@dataclass(frozen=True)
class IngestMetadata:
    """The metadata common to all files of an ingest, normalized."""

    tags: tuple[str, ...]
    fields: Mapping[str, str]  # source, if given, licence, note
    tag_folders: bool = False  # names of the folders below the given one become tags
    animation: str = ""

    def build_metadata(self, file: InputFile) -> ClipMetadata:
        """Return the metadata of one file: its name and source come from the path."""
        _, name = default_name(file.path)
        folders = [part for part in file.relative.parent.parts if part.strip(" .")] if self.tag_folders else []
        return ClipMetadata(
            name,
            clean_tags((*self.tags, *folders)),
            {"source": default_source(file.path), **self.fields},
            self.animation,
        )

    def unchanged_field_notes(self, clip: Clip) -> list[str]:
        """Return a note for each field of an existing clip that keeps its other value."""
        return [
            f"its {field} stays {_shorten(getattr(clip, field))!r}: describe(...) changes it"
            for field, text in self.fields.items()
            if text and getattr(clip, field) != text
        ]


def default_source(path: Path) -> str:
    """Return the absolute path of a file as source text."""
    return clean_note("source", os.fspath(path.absolute()))


def drop_repeated_notes(notes: Sequence[str], warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the notes that are not also warnings."""
    return tuple(note for note in notes if not any(warning.endswith(note) for warning in warnings))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}..."
