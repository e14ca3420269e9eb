"""Which keys each edit was made from, settled by name before anything is read or written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.inputs import KEYS_SUFFIXES, ClipFile, stem

BRINGING_DETAIL = (*KEYS_SUFFIXES, ".blend")  # files of these names may hold their own detail


@dataclass(frozen=True)
class Sources:
    """Where the detail of an edit may come from: as told, else from the edit itself, else from beside it."""

    told: Path | None = None
    beside: Path | None = None  # only where it is there
    looked: Path | None = None  # where it was looked for


def sources_of(file: ClipFile, told: Path | None) -> Sources:
    """``told`` is the one file for every edit, or a folder in which each has its keys under its own name."""
    if told is not None and not told.is_dir():
        return Sources(told)
    if told is not None:
        there = _keys_of(told / file.relative)
        return Sources(next((path for path in there if path.is_file()), there[0]), looked=there[0])
    if file.path.name.lower().endswith(KEYS_SUFFIXES):  # beside it there is only itself
        return Sources()
    there = _keys_of(file.path)
    return Sources(None, next((path for path in there if path.is_file()), None), there[0])


def _keys_of(path: Path) -> list[Path]:
    """The names that the keys of a file may have: as ``unbake`` writes them, and as ``save`` does for BVH files."""
    names = (stem(path.name), path.name.removesuffix(".gz"))
    return [path.with_name(name + suffix) for name in names for suffix in KEYS_SUFFIXES]


def may_bring_detail(path: Path) -> bool:
    """Whether a file of this name may hold its own detail."""
    return path.name.lower().endswith(BRINGING_DETAIL)


def same_name(source: Path, original: Path) -> bool:
    """Whether an edit is called as the keys are, endings apart."""
    name = stem(original.name)
    return name.lower() in (stem(source.name).lower(), source.name.lower())


def would_replace_detail(work: Sequence[tuple[Path, Path, Sources]]) -> Path | None:
    """The first result that would replace a file whose detail is needed; ``work`` has edits, results and sources."""
    needed = set()
    for source, _, sources in work:
        own = source if sources.told is None and may_bring_detail(source) else None
        needed |= {os.path.realpath(path) for path in (sources.told, sources.beside, own) if path is not None}
    return next((target for _, target, _ in work if os.path.realpath(target) in needed), None)
