"""What is said about the files of an ingest, and what was said in vain."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.library.nouns import Clip
from keypose.library.said import Words, name_of
from keypose.library.wording import clean_note, clean_tags

LONGEST_SHOWN = 60  # characters of a remark that stays


@dataclass(frozen=True)
class Given:
    """A file to take in, and its place below the folder or pattern that it was found by."""

    path: Path
    relative: Path


@dataclass(frozen=True)
class Saying:
    """What is said about all files of an ingest, clean."""

    tags: tuple[str, ...]
    about: Mapping[str, str]  # source, where one is given, licence, note
    tag_folders: bool = False  # the names of the folders below the one that was given are tags too
    animation: str = ""

    def words(self, file: Given) -> Words:
        """What is said about one of them: it is named after its file, and comes from there."""
        _, name = name_of(file.path)
        folders = [part for part in file.relative.parent.parts if part.strip(" .")] if self.tag_folders else []
        return Words(
            name,
            clean_tags((*self.tags, *folders)),
            {"source": source_of(file.path), **self.about},
            self.animation,
        )

    def not_taken(self, clip: Clip) -> list[str]:
        """What was said about a clip that says otherwise since before."""
        return [
            f"its {what} stays {_short(getattr(clip, what))!r}: describe(...) changes it"
            for what, text in self.about.items()
            if text and getattr(clip, what) != text
        ]


def source_of(path: Path) -> str:
    """Where a file is, wherever one stands."""
    return clean_note("source", os.fspath(path.absolute()))


def own_notes(notes: Sequence[str], warnings: Sequence[str]) -> tuple[str, ...]:
    """The notes that were not said as warnings already."""
    return tuple(note for note in notes if not any(warning.endswith(note) for warning in warnings))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
