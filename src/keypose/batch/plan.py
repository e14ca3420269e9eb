"""Where each converted clip goes, settled before anything is written."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from keypose.batch.inputs import SWINGS_SUFFIXES, ClipFile, stem
from keypose.batch.nearest import did_you_mean
from keypose.errors import FileError, OptionError
from keypose.formats import readable_suffixes, writable_suffixes

Existing = Literal["refuse", "overwrite", "skip"]


@dataclass(frozen=True)
class Target:
    """One clip and the file that it becomes."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Plan:
    """What is to be made, and what is there already and is left as it is."""

    targets: tuple[Target, ...]
    skipped: tuple[Target, ...] = ()


def plan_file(file: ClipFile, target: Path, existing: Existing, more: tuple[str, ...] = ()) -> Plan:
    """One clip to one file, in the format that the target's suffix says: one for motions, or of ``more``."""
    known = writable_suffixes() + more
    if not target.suffix:
        raise OptionError(f"{target} has no suffix, expected one of {', '.join(known)}; "
                          f"a folder is made where --to says the format of the files in it")  # fmt: skip
    if not target.name.lower().endswith(known):
        longest = sorted(readable_suffixes(), key=len, reverse=True)
        suffix = next((s for s in longest if target.name.lower().endswith(s)), target.suffix.lower())
        raise OptionError(f"{target}: {_cannot_write(suffix, known)}")
    return _settled([Target(file.path, target)], existing)


def plan_folder(
    files: Sequence[ClipFile], folder: Path, suffix: str, existing: Existing, more: tuple[str, ...] = ()
) -> Plan:
    """Many clips into one folder, in the format of ``suffix`` (".glb" or "glb"), in their own sub-folders."""
    suffix = "." + suffix.lower().lstrip(".")
    known = writable_suffixes() + more
    if suffix not in known:
        raise OptionError(f"--to {suffix[1:]}: {_cannot_write(suffix, known)}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise FileError(f"{folder}: is a file, expected a folder for the converted clips")
    outside = next((file for file in files if ".." in file.relative.parts), None)
    if outside is not None:
        out = folder / outside.relative.parent
        raise OptionError(f"{outside.path} would be written to {out}, outside of {folder}: "
                          f"expected a pattern without .. after its first wildcard")  # fmt: skip
    targets = [Target(file.path, folder / file.relative.parent / (stem(file.relative.name) + suffix)) for file in files]
    return _settled(targets, existing)


def names_a_file(folder: Path) -> bool:
    """Whether a folder that is not there yet would be called like a motion file: hardly what is meant."""
    return folder.name.lower().endswith(readable_suffixes()) and not os.path.isdir(folder)  # noqa: PTH112 - long names


def _cannot_write(suffix: str, known: tuple[str, ...]) -> str:
    if suffix in SWINGS_SUFFIXES:
        return f"{suffix} files hold swings, which keypose swings finds and writes: keypose swings IN -o NAME{suffix}"
    if suffix in readable_suffixes():
        return f"{suffix} files can be read, but not written; expected one of {', '.join(known)}"
    return f"cannot write {suffix!r}, expected one of {', '.join(known)}{did_you_mean(suffix, known)}"


def _settled(targets: list[Target], existing: Existing) -> Plan:
    """The plan, or an error where clips would overwrite each other or something that must stay.

    With "skip", a clip that is its own target is what an earlier run into the same folder made: no clip for
    this run.
    """
    at_home = [t for t in targets if existing == "skip" and _same(t.source) == _same(t.target)]
    targets = _without(targets, at_home)
    sources = {_same_anywhere(t.source): t.source for t in targets}
    takers: dict[str, Target] = {}
    for t in targets:
        place = _same_anywhere(t.target)
        other = takers.setdefault(place, t)
        if other is not t:
            raise OptionError(_both_become(other, t))
        if sources.get(place, t.source) != t.source:
            raise OptionError(f"{t.source} would become {t.target}, which is to be converted too; "
                              f"--skip-existing leaves both as they are")  # fmt: skip
    at_home = [t for t in at_home if _same_anywhere(t.target) not in takers]
    there = [t for t in targets if os.path.lexists(t.target)]
    if existing == "refuse" and there:
        more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
        raise FileError(
            f"{there[0].target}: exists already{more}; --overwrite replaces it, --skip-existing leaves it out"
        )
    if existing == "skip" and (there or at_home):
        return Plan(tuple(_without(targets, there)), (*there, *at_home))
    return Plan(tuple(targets))


def _without(targets: Sequence[Target], some: Sequence[Target]) -> list[Target]:
    left_out = set(some)
    return [t for t in targets if t not in left_out]


def _both_become(one: Target, other: Target) -> str:
    if _same(one.target) == _same(other.target):
        both = f"{one.source} and {other.source} would both become {other.target}"
        if _same(one.source.parent) == _same(other.source.parent):
            return f"{both}: expected one of them, or rename one"
        return f"{both}: expected each in a run and a folder of its own, or the one folder named that holds both"
    return (f"{one.source} and {other.source} would become {one.target} and {other.target}, "
            f"which are one file on other systems: rename one, or convert them apart")  # fmt: skip


def _same(path: Path) -> str:
    """What two names of one file have in common."""
    return os.path.normcase(os.path.realpath(path))


def _same_anywhere(path: Path) -> str:
    """The same for files that some systems (macOS, Windows) take for one: by case, by how accents are composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", _same(path)).casefold())
