"""Choose the target file of each clip before anything is written, and replace target files atomically."""

from __future__ import annotations

import os
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from keypose.batch.file_discovery import SWINGS_SUFFIXES, AnimationName, ClipFile, clip_path, stem, suggest_name
from keypose.errors import FileError, FormatError, OptionError
from keypose.formats import Format, find_format, readable_suffixes, writable_suffixes
from keypose.model import POSE_NOTE_CODE, note_code

ExistingPolicy = Literal["refuse", "overwrite", "skip"]


@dataclass(frozen=True)
class Target:
    """A clip and the file to write."""

    source: Path
    target: Path
    animation: AnimationName | None = None  # of a source with several


@dataclass(frozen=True)
class Plan:
    """The files to write, and existing ones to skip."""

    targets: tuple[Target, ...]
    skipped: tuple[Target, ...] = ()


def plan_file(file: ClipFile, target: Path, existing: ExistingPolicy, extra_suffixes: tuple[str, ...] = ()) -> Plan:
    """Plan one clip to one file; its suffix must be that of a motion format or one of ``extra_suffixes``."""
    suffixes = writable_suffixes() + extra_suffixes
    if not target.suffix:
        raise OptionError(
            "no suffix",
            path=target,
            code="unwritable",
            expected=f"one of {', '.join(suffixes)}",
            hint="a folder is made where --to says the format of the files in it",
        )
    if not target.name.lower().endswith(suffixes):
        longest_first = sorted(readable_suffixes(), key=len, reverse=True)
        suffix = next((s for s in longest_first if target.name.lower().endswith(s)), target.suffix.lower())
        raise _unwritable_error(suffix, suffixes).with_fields(path=str(target))
    return _build_plan([Target(file.path, target, file.animation)], existing)


def plan_folder(
    files: Sequence[ClipFile],
    folder: Path,
    suffix: str,
    existing: ExistingPolicy,
    extra_suffixes: tuple[str, ...] = (),
    *,
    whole_names: bool = False,
) -> Plan:
    """Plan many clips into one folder with their sub-folders, in the format of ``suffix`` (".glb" or "glb").

    ``whole_names``: ``walk.bvh`` becomes ``walk.bvh.html``, so that ``walk.glb`` beside it has another target.
    """
    suffix = "." + suffix.lower().lstrip(".")
    suffixes = writable_suffixes() + extra_suffixes
    if suffix not in suffixes:
        raise _unwritable_error(suffix, suffixes).with_fields(option="to")
    if os.path.lexists(folder) and not folder.is_dir():
        raise FileError("is a file", path=folder, expected="a folder for the converted clips")
    outside = next((file for file in files if ".." in file.relative.parts), None)
    if outside is not None:
        outside_folder = folder / outside.relative.parent
        raise OptionError(f"{outside.path} would be written to {outside_folder}, outside of {folder}",
                          expected="a pattern without .. after its first wildcard")  # fmt: skip
    targets = [
        Target(
            file.path, folder / file.relative.with_name((name if whole_names else stem(name)) + suffix), file.animation
        )
        for file in files
        for name in (clip_path(file.relative, file.animation).name,)
    ]
    return _build_plan(targets, existing)


def looks_like_file(folder: Path) -> bool:
    """Return whether a folder that does not exist is named like a motion file, which is probably a mistake."""
    return folder.name.lower().endswith(readable_suffixes()) and not os.path.isdir(folder)  # noqa: PTH112 - long names


def _unwritable_error(suffix: str, suffixes: tuple[str, ...]) -> OptionError:
    if suffix in SWINGS_SUFFIXES:
        hint = f"keypose swings finds and writes them: keypose swings IN -o NAME{suffix}"
        return OptionError(f"{suffix} files hold swings", code="unwritable", hint=hint)
    expected = f"one of {', '.join(suffixes)}"
    if suffix in readable_suffixes():
        return OptionError(f"{suffix} files can be read, but not written", code="unwritable", expected=expected)
    expected += suggest_name(suffix, suffixes)
    return OptionError(f"cannot write {suffix!r}", code="unwritable", expected=expected)


def _build_plan(targets: list[Target], existing: ExistingPolicy) -> Plan:
    """Return the plan; raise an error if clips would overwrite each other or existing files that must not be replaced.

    With "skip", a clip that is its own target was written by an earlier run into the same folder and is skipped.
    """
    in_place = [t for t in targets if existing == "skip" and _canonical_path(t.source) == _canonical_path(t.target)]
    targets = _remove(targets, in_place)
    sources = {_portable_path(t.source): t.source for t in targets}
    target_by_path: dict[str, Target] = {}
    for t in targets:
        path = _portable_path(t.target)
        other = target_by_path.setdefault(path, t)
        if other is not t:
            raise OptionError(_collision_message(other, t), path=t.target, code="same_target")
        if sources.get(path, t.source) != t.source:
            raise OptionError(
                f"{t.source} would become this file, which is to be converted too",
                path=t.target,
                code="same_target",
                hint="--skip-existing leaves both as they are",
            )
    in_place = [t for t in in_place if _portable_path(t.target) not in target_by_path]
    existing_targets = [t for t in targets if os.path.lexists(t.target)]
    if existing == "refuse" and existing_targets:
        more = f" (and {len(existing_targets) - 1} more)" if len(existing_targets) > 1 else ""
        raise FileError(
            f"exists already{more}",
            path=existing_targets[0].target,
            hint="--overwrite replaces it, --skip-existing leaves it out",
            code="exists",
        )
    if existing == "skip" and (existing_targets or in_place):
        return Plan(tuple(_remove(targets, existing_targets)), (*existing_targets, *in_place))
    return Plan(tuple(targets))


def _remove(targets: Sequence[Target], removed: Sequence[Target]) -> list[Target]:
    removed_set = set(removed)
    return [t for t in targets if t not in removed_set]


def _collision_message(first: Target, second: Target) -> str:
    if _canonical_path(first.target) == _canonical_path(second.target):
        both = f"{first.source} and {second.source} would both become {second.target}"
        if _canonical_path(first.source.parent) == _canonical_path(second.source.parent):
            return f"{both}: expected one of them, or rename one"
        return f"{both}: expected each in a run and a folder of its own, or the one folder named that holds both"
    return (f"{first.source} and {second.source} would become {first.target} and {second.target}, "
            f"which are one file on other systems: rename one, or convert them apart")  # fmt: skip


def _canonical_path(path: Path) -> str:
    """Return the same text for every path of one file."""
    return os.path.normcase(os.path.realpath(path))


def _portable_path(path: Path) -> str:
    """Return the same text also for paths that macOS or Windows treat as one: by case and Unicode composition."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", _canonical_path(path)).casefold())


def drop_pose_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes without those about a separate reference pose, which is a field of results."""
    return tuple(note for note in notes if note_code(note) != POSE_NOTE_CODE)


@contextmanager
def atomic_target(target: Path) -> Iterator[Path]:
    """Yield a hidden temporary file beside ``target`` that replaces it at the end, unless an exception is raised.

    A symbolic link remains a link; the permissions of an existing file do not change. An existing target that is not a
    regular file (a pipe, a device, a folder, a link to itself) is never replaced. Errors name the target.
    """
    real_target = Path(os.path.realpath(target))
    _check_replaceable(target, real_target)
    suffix = real_target.name[len(stem(real_target.name)) :]  # it determines the format
    temp_file = real_target.with_name(f".{secrets.token_hex(6)}{suffix}")
    try:
        yield temp_file
        if real_target.exists():
            temp_file.chmod(stat.S_IMODE(real_target.stat().st_mode))
        temp_file.replace(real_target)
    except FormatError as error:
        if error.path != str(temp_file):
            raise
        raise error.with_fields(path=str(target)) from None
    except FileError as error:
        if error.path != str(temp_file):
            raise
        raise error.with_fields(path=str(target)) from None
    except OSError as error:
        raise FileError(f"cannot be written ({error.strerror})", code="write_failed", path=target) from None
    finally:
        with suppress(OSError):
            temp_file.unlink(missing_ok=True)


def _check_replaceable(target: Path, real_target: Path) -> None:
    try:
        mode = real_target.lstat().st_mode
    except (OSError, ValueError):  # no such file, or writing it will raise the error
        return
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a link to itself" if stat.S_ISLNK(mode) else "not a regular file"
        raise FileError(f"is {kind}, and is not replaced", path=target, code="exists")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder cannot be made ({error.strerror})", path=folder) from None


def target_format(path: Path) -> Format:
    """Return the format in which a file of this name is written; the plan has checked the suffix."""
    format_ = find_format(path)
    assert format_ is not None, path
    return format_
