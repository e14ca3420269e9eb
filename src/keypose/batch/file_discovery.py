"""Find the motion files of names, folders and patterns; suggest existing names for mistyped ones."""

from __future__ import annotations

import difflib
import glob
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from keypose.errors import FileError, KeyposeError, OptionError
from keypose.formats import acclaim, keys_json, list_animations, load, readable_suffixes, swings_json
from keypose.limits import Limits
from keypose.model import Motion
from keypose.options import LoadOptions

SKELETON_SUFFIXES = acclaim.ASF.all_suffixes
SKELETON_USER_SUFFIXES = acclaim.AMC.all_suffixes
KEYS_SUFFIXES = keys_json.FORMAT.all_suffixes
SWINGS_SUFFIXES = swings_json.FORMAT.all_suffixes

MIN_SIMILARITY = 0.7  # ratio of difflib; 1 is equal
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # in file names of some system
MAX_NAMES = 5_000  # read from a folder


@dataclass(frozen=True)
class AnimationName:
    """One of several animations in a file."""

    index: int
    name: str  # unique in the file, and valid in the name of a file


@dataclass(frozen=True)
class ClipFile:
    """A file to read, and its path relative to the folder or pattern with which it was found."""

    path: Path
    relative: Path
    animation: AnimationName | None = None  # one of several in the file


@dataclass(frozen=True)
class ClipFiles:
    """The motion files, each once, and an error for each name that could not be expanded."""

    files: tuple[ClipFile, ...]
    problems: tuple[FileError, ...] = ()


def discover_clips(names: Sequence[str]) -> ClipFiles:
    """Return the named files, the motion files in and below folders, and the matches of patterns (also ``**``).

    Only on Windows, or in quotes, patterns are not expanded by the shell. A file that is named directly is returned
    with any suffix, and without checking that it exists.
    """
    files: dict[str, ClipFile] = {}
    problems: list[FileError] = []
    for name in names:
        try:
            for file in _expand_name(name, problems):
                files.setdefault(os.path.abspath(file.path), file)  # noqa: PTH100 - links stay as they are
        except FileError as error:
            problems.append(error)
    return ClipFiles(tuple(files.values()), tuple(problems))


def split_animations(path: Path, limits: Limits) -> tuple[AnimationName, ...]:
    """Return the animations of a file with several, with different names for files; empty for one with one motion.

    It is empty for a file that cannot be read, too: the job that reads it reports the error.
    """
    try:
        names = list_animations(path, limits=limits)
    except KeyposeError:
        names = ()
    if len(names) < 2:
        return ()
    used: set[str] = set()
    animations = []
    for k, name in enumerate(names):
        unique = _UNSAFE.sub("_", name).strip(" .") or str(k)
        while unique.casefold() in used:
            unique += f"-{k}"
        used.add(unique.casefold())
        animations.append(AnimationName(k, unique))
    return tuple(animations)


def clip_path(path: Path, animation: AnimationName | None) -> Path:
    """Return the name of one of several animations as a clip of its own: ``Knight-Idle.glb`` for ``Knight.glb``."""
    return path if animation is None else path.with_name(f"{stem(path.name)}-{animation.name}{path.suffix}")


def _expand_name(name: str, problems: list[FileError]) -> Iterator[ClipFile]:
    """Yield the files of one name; folders that cannot be listed are added to ``problems`` and skipped."""
    if not name:  # Path("") is the current folder
        raise FileError("an empty name", expected="a file, a folder or a pattern", hint=". is the current folder")
    path = Path(name)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for names that are too long
        yield from _expand_folder(path, problems)
    elif glob.has_magic(name) and not os.path.lexists(path):
        yield from _expand_pattern(name, problems)
    else:
        yield ClipFile(path, Path(path.name))


def _expand_pattern(pattern: str, problems: list[FileError]) -> Iterator[ClipFile]:
    """Yield matching files, and motion files in matching folders; other suffixes match only if the pattern has one."""
    start = _fixed_prefix(Path(pattern))
    matches = sorted(set(_glob(Path(pattern), problems)))
    folders = [match for match in matches if os.path.isdir(match)]  # noqa: PTH112 - as above
    files = [match for match in matches if match not in folders]
    if "." not in Path(pattern).name:
        files = [
            Path(folder, name) for folder, names in _group_by_folder(files) for name in _filter_motion_files(names)
        ]
    clip_files = [ClipFile(file, file.relative_to(start)) for file in files]
    for folder in folders:
        clip_files += _walk(folder, start, problems)
    if not clip_files:
        raise FileError("no motion file matches", path=pattern, code="no_such_file")
    yield from clip_files


def _glob(pattern: Path, problems: list[FileError]) -> Iterator[Path]:
    """Yield matches; ``**`` is a folder and all folders below it, without following links, which may form a cycle."""
    if "**" not in pattern.parts:
        yield from map(Path, glob.glob(os.fspath(pattern)))  # noqa: PTH207 - Path.glob wants a fixed root
        return
    index = pattern.parts.index("**")
    before, after = Path(*pattern.parts[:index]), pattern.parts[index + 1 :]
    for start in _glob(before, problems):
        if not os.path.isdir(start) or (glob.has_magic(os.fspath(before)) and start.is_symlink()):  # noqa: PTH112
            continue
        if not after:
            yield start  # the caller lists the folders below it
            continue
        for root in _walk_folders(start, problems):
            yield from _glob(Path(glob.escape(os.fspath(root)), *after), problems)


def _walk_folders(folder: Path, problems: list[FileError]) -> Iterator[Path]:
    """Yield a folder and all folders below it, without hidden ones."""
    for root, folders, _ in os.walk(folder, onerror=_record_problem(problems)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield Path(root)


def _group_by_folder(files: list[Path]) -> list[tuple[Path, list[str]]]:
    names: dict[Path, list[str]] = {}
    for file in files:
        names.setdefault(file.parent, []).append(file.name)
    return sorted(names.items())


def _fixed_prefix(pattern: Path) -> Path:
    """Return the leading folders without a wildcard."""
    parts = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def _expand_folder(folder: Path, problems: list[FileError]) -> list[ClipFile]:
    n_problems = len(problems)
    files = list(_walk(folder, folder, problems))
    if not files and len(problems) == n_problems:
        raise FileError(
            "no motion files in this folder",
            path=folder,
            expected=f"names that end in {', '.join(readable_suffixes())}",
            code="no_such_file",
        )
    return files


def _walk(folder: Path, start: Path, problems: list[FileError]) -> Iterator[ClipFile]:
    """Yield the motion files in and below a folder, sorted."""
    for root, folders, names in os.walk(folder, onerror=_record_problem(problems)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in _filter_motion_files(names):
            yield ClipFile(Path(root, name), Path(root, name).relative_to(start))


def _record_problem(problems: list[FileError]) -> Callable[[OSError], None]:
    """Return a callback that adds a folder that cannot be listed to ``problems``."""
    return lambda error: problems.append(FileError(f"cannot be listed ({error.strerror})", path=error.filename))


def _filter_motion_files(names: Iterable[str]) -> list[str]:
    """Return the names with a motion suffix, sorted, without files that belong to another clip.

    ASF files beside AMC files are only their skeletons. Keys that ``unbake`` wrote beside its result, and swings beside
    their clip, are no separate clips.
    """
    motion_names = sorted(n for n in names if n.lower().endswith(readable_suffixes()) and not n.startswith("."))
    if any(name.lower().endswith(SKELETON_USER_SUFFIXES) for name in motion_names):
        motion_names = [name for name in motion_names if not name.lower().endswith(SKELETON_SUFFIXES)]
    companions = {name for name in motion_names if name.lower().endswith(KEYS_SUFFIXES + SWINGS_SUFFIXES)}
    if not companions:
        return motion_names
    others = [name for name in motion_names if name not in companions]
    clip_names = {stem(name) for name in others} | set(others)
    return [name for name in motion_names if name not in companions or stem(name) not in clip_names]


def stem(name: str) -> str:
    """Return a file's name without the suffix of its format."""
    for suffix in sorted(readable_suffixes(), key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return Path(name).stem


def suggest_name(typed_name: str, choices: Iterable[str]) -> str:
    """Return ``; did you mean .glb?``, or an empty text if no choice is similar."""
    by_lower = {name.lower(): name for name in choices}
    matches = difflib.get_close_matches(typed_name.lower(), by_lower, n=1, cutoff=MIN_SIMILARITY)
    return f"; did you mean {by_lower[matches[0]]}?" if matches else ""


def suggest_file(path: Path) -> Path | None:
    """Return the motion file or folder beside ``path`` with the most similar name; None if there is none.

    Names that differ in digits are other takes, not typing errors. Only files of keys are suggested for a file of keys.
    """
    try:
        with os.scandir(path.parent) as entries:
            names = [e.name for e in itertools.islice(entries, MAX_NAMES) if _is_candidate(e)]
            if path.name.lower().endswith(KEYS_SUFFIXES):
                names = [name for name in names if name.lower().endswith(KEYS_SUFFIXES)]
    except (OSError, ValueError):
        return None
    by_suffix = sorted(
        names, key=lambda name: (name.lower().endswith(path.suffix.lower()), name)
    )  # a name with the same suffix is preferred
    same_digits = {_comparable_stem(name): name for name in by_suffix if _stem_digits(name) == _stem_digits(path.name)}
    matches = difflib.get_close_matches(_comparable_stem(path.name), same_digits, n=1, cutoff=MIN_SIMILARITY)
    return path.with_name(same_digits[matches[0]]) if matches and same_digits[matches[0]] != path.name else None


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith("."):
        return False
    return entry.is_dir() or (entry.name.lower().endswith(readable_suffixes()) and Path(entry.path).exists())


def _comparable_stem(name: str) -> str:
    """Return the text to compare, without the suffix: equal suffixes would make any two short names similar."""
    return name.lower().split(".")[0]


def _stem_digits(name: str) -> str:
    return "".join(re.findall("[0-9]", name.split(".")[0]))


def load_clip(path: Path, options: LoadOptions) -> Motion:
    """Load the motion in ``path``."""
    return load(path, **{each.name: getattr(options, each.name) for each in fields(LoadOptions)})


def resolve_frame_range(frame_range: tuple[int | None, int | None] | None, n_frames: int) -> tuple[int, int]:
    """Return start and stop of a range given as in a slice; None: the whole clip. An empty range is an OptionError."""
    ends = (None, None) if frame_range is None else frame_range
    start, stop, _ = slice(*ends).indices(n_frames)
    if start >= stop:
        text = ":".join("" if end is None else str(end) for end in ends)
        problem = f"holds no frame: the clip has {n_frames} (0 to {n_frames - 1})"
        raise OptionError(problem, option="frames", value=text)
    return start, stop
