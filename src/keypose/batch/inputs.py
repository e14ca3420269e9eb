"""Which clips are meant: names of files, folders and patterns, expanded to motion files."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.errors import FileError
from keypose.formats import readable_suffixes

SKELETON_SUFFIXES = (".asf", ".asf.gz")
SKELETON_USER_SUFFIXES = (".amc", ".amc.gz")
KEYS_SUFFIXES = (".keys.json", ".keys.json.gz")
SWINGS_SUFFIXES = (".swings.json", ".swings.json.gz")


@dataclass(frozen=True)
class ClipFile:
    """A file to read, and its place below the folder or pattern that it was found by."""

    path: Path
    relative: Path


@dataclass(frozen=True)
class Inputs:
    """The files that were meant, each once, and what was asked for in vain."""

    files: tuple[ClipFile, ...]
    problems: tuple[FileError, ...] = ()


def expand(names: Sequence[str]) -> Inputs:
    """Files as they are, folders by the motion files in and below them, patterns (``**`` too) by matches.

    Shells that expand patterns themselves leave none; on Windows, or in quotes, they arrive here. A file
    that is named outright is taken whatever its suffix, and whether it exists is found when it is read.
    """
    found: dict[str, ClipFile] = {}
    problems: list[FileError] = []
    for name in names:
        try:
            for file in _expand_one(name, problems):
                found.setdefault(os.path.abspath(file.path), file)  # noqa: PTH100 - links stay as they are
        except FileError as error:
            problems.append(error)
    return Inputs(tuple(found.values()), tuple(problems))


def _expand_one(name: str, problems: list[FileError]) -> Iterator[ClipFile]:
    """What a name means; folders that cannot be listed are put into ``problems``, and the others are gone through."""
    if not name:  # Path("") is the current folder
        raise FileError("an empty name, expected a file, a folder or a pattern; . is the current folder")
    path = Path(name)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for names that are too long
        yield from _in_folder(path, problems)
    elif glob.has_magic(name) and not os.path.lexists(path):
        yield from _matching(name, problems)
    else:
        yield ClipFile(path, Path(path.name))


def _matching(pattern: str, problems: list[FileError]) -> Iterator[ClipFile]:
    """The files that match, and those in folders that match; any suffix only if the pattern says one."""
    start = _fixed_part(Path(pattern))
    matches = sorted(set(_matches(Path(pattern), problems)))
    folders = [match for match in matches if os.path.isdir(match)]  # noqa: PTH112 - as above
    files = [match for match in matches if match not in folders]
    if "." not in Path(pattern).name:
        files = [Path(folder, name) for folder, names in _by_folder(files) for name in _motion_files(names)]
    found = [ClipFile(file, file.relative_to(start)) for file in files]
    for folder in folders:
        found += _walk(folder, start, problems)
    if not found:
        raise FileError(f"{pattern}: no motion file matches")
    yield from found


def _matches(pattern: Path, problems: list[FileError]) -> Iterator[Path]:
    """What matches; ``**`` is the folder and all below it, and goes into no folder by a link, which may lead back."""
    if "**" not in pattern.parts:
        yield from map(Path, glob.glob(os.fspath(pattern)))  # noqa: PTH207 - Path.glob wants a fixed root
        return
    at = pattern.parts.index("**")
    before, after = Path(*pattern.parts[:at]), pattern.parts[at + 1 :]
    for start in _matches(before, problems):
        if not os.path.isdir(start) or (glob.has_magic(os.fspath(before)) and start.is_symlink()):  # noqa: PTH112
            continue
        if not after:
            yield start  # all that is below it is found later
            continue
        for root in _folders(start, problems):
            yield from _matches(Path(glob.escape(os.fspath(root)), *after), problems)


def _folders(folder: Path, problems: list[FileError]) -> Iterator[Path]:
    """A folder and all below it."""
    for root, folders, _ in os.walk(folder, onerror=_noted(problems)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield Path(root)


def _by_folder(files: list[Path]) -> list[tuple[Path, list[str]]]:
    names: dict[Path, list[str]] = {}
    for file in files:
        names.setdefault(file.parent, []).append(file.name)
    return sorted(names.items())


def _fixed_part(pattern: Path) -> Path:
    """The folders before the first part that has a wildcard."""
    parts = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def _in_folder(folder: Path, problems: list[FileError]) -> list[ClipFile]:
    before = len(problems)
    found = list(_walk(folder, folder, problems))
    if not found and len(problems) == before:
        raise FileError(f"{folder}: no motion files in this folder, "
                        f"expected names that end in {', '.join(readable_suffixes())}")  # fmt: skip
    return found


def _walk(folder: Path, start: Path, problems: list[FileError]) -> Iterator[ClipFile]:
    """The motion files in and below a folder, sorted."""
    for root, folders, names in os.walk(folder, onerror=_noted(problems)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in _motion_files(names):
            yield ClipFile(Path(root, name), Path(root, name).relative_to(start))


def _noted(problems: list[FileError]) -> Callable[[OSError], None]:
    """Puts folders that cannot be listed into ``problems``."""
    return lambda error: problems.append(FileError(f"{error.filename}: cannot be listed ({error.strerror})"))


def _motion_files(names: Iterable[str]) -> list[str]:
    """Names with a motion suffix, sorted, without those that belong to others.

    ASF files are mere skeletons where AMC files use them. Keys that ``unbake`` wrote beside its result, and swings
    beside their clip, are no clips of their own.
    """
    motion = sorted(n for n in names if n.lower().endswith(readable_suffixes()) and not n.startswith("."))
    if any(name.lower().endswith(SKELETON_USER_SUFFIXES) for name in motion):
        motion = [name for name in motion if not name.lower().endswith(SKELETON_SUFFIXES)]
    made = {name for name in motion if name.lower().endswith(KEYS_SUFFIXES + SWINGS_SUFFIXES)}
    if not made:
        return motion
    others = [name for name in motion if name not in made]
    taken = {stem(name) for name in others} | set(others)
    return [name for name in motion if name not in made or stem(name) not in taken]


def stem(name: str) -> str:
    """A file's name without the ending that tells its format."""
    for suffix in sorted(readable_suffixes(), key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return Path(name).stem
