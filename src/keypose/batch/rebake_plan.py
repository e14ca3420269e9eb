"""Find by name the keys that each edit was made from, before anything is read or written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.file_discovery import KEYS_SUFFIXES, ClipFile, stem

DETAIL_SUFFIXES = (*KEYS_SUFFIXES, ".blend")  # formats that may contain the detail


@dataclass(frozen=True)
class DetailSources:
    """Where the detail of an edit may come from: a named file, else the edit itself, else the keys beside it."""

    explicit: Path | None = None
    companion: Path | None = None  # None if it does not exist
    expected: Path | None = None  # the path searched first


def find_detail_sources(file: ClipFile, from_path: Path | None) -> DetailSources:
    """Return the detail sources of an edit; ``from_path`` is one file for all edits, or a folder with one per edit."""
    if from_path is not None and not from_path.is_dir():
        return DetailSources(from_path)
    if from_path is not None:
        candidates = _candidate_keys_files(from_path / file.relative)
        return DetailSources(
            next((path for path in candidates if path.is_file()), candidates[0]), expected=candidates[0]
        )
    if file.path.name.lower().endswith(KEYS_SUFFIXES):  # it would be its own companion
        return DetailSources()
    candidates = _candidate_keys_files(file.path)
    return DetailSources(None, next((path for path in candidates if path.is_file()), None), candidates[0])


def _candidate_keys_files(path: Path) -> list[Path]:
    """Return the paths that the keys of a file may have: those of ``unbake``, and those of ``save`` for BVH files."""
    names = (stem(path.name), path.name.removesuffix(".gz"))
    return [path.with_name(name + suffix) for name in names for suffix in KEYS_SUFFIXES]


def may_have_detail(path: Path) -> bool:
    """Return whether a file of this name may contain its own detail."""
    return path.name.lower().endswith(DETAIL_SUFFIXES)


def is_same_clip_name(source: Path, original: Path) -> bool:
    """Return whether an edit and its keys have the same name, ignoring suffixes."""
    name = stem(original.name)
    return name.lower() in (stem(source.name).lower(), source.name.lower())


def find_detail_conflict(rebakes: Sequence[tuple[Path, Path, DetailSources]]) -> Path | None:
    """Return the first target that would replace a file whose detail is needed, of (edit, target, sources) triples."""
    protected = set()
    for source, _, sources in rebakes:
        own_file = source if sources.explicit is None and may_have_detail(source) else None
        protected |= {
            os.path.realpath(path) for path in (sources.explicit, sources.companion, own_file) if path is not None
        }
    return next((target for _, target, _ in rebakes if os.path.realpath(target) in protected), None)
