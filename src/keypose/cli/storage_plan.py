"""Select files to compress or restore, plan their outputs, and find their originals."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from keypose.batch.file_discovery import ClipFile, ClipFiles, discover_clips, stem
from keypose.batch.plan import ExistingPolicy, Plan, looks_like_file, plan_file, plan_folder
from keypose.cli.exit_codes import UsageError
from keypose.errors import FileError

SUFFIX = ".kps"


def is_kps(path: Path) -> bool:
    """Return whether the name is that of a compressed file."""
    return path.name.lower().endswith(SUFFIX)


def select_uncompressed(inputs: ClipFiles, names: Sequence[str]) -> ClipFiles:
    """Return the inputs to compress; compressed ones only if named explicitly."""
    return _filter_inputs(
        inputs, names, lambda path: not is_kps(path), "no motion files that are not compressed already"
    )


def select_compressed(inputs: ClipFiles, names: Sequence[str]) -> ClipFiles:
    """Return the inputs to restore: .kps files of folders, and all files named explicitly."""
    return _filter_inputs(inputs, names, is_kps, f"no names that end in {SUFFIX}, as keypose compress writes them")


def _filter_inputs(
    inputs: ClipFiles, names: Sequence[str], predicate: Callable[[Path], bool], problem: str
) -> ClipFiles:
    named_paths = {str(Path(name)) for name in names if name}
    files = tuple(file for file in inputs.files if predicate(file.path) or str(file.path) in named_paths)
    if inputs.files and not files:
        return replace(inputs, files=(), problems=(*inputs.problems, FileError(f"{names[0]}: {problem}")))
    return replace(inputs, files=files)


def plan_compressed(inputs: ClipFiles, names: Sequence[str], out: str, existing_policy: ExistingPolicy) -> Plan:
    """Plan the output of each file: ``NAME.kps``, or a folder."""
    target = Path(out)
    has_slash = out.endswith(("/", "\\"))
    is_single_file = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if is_single_file and not has_slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        if not is_kps(target):
            raise UsageError(
                f"{out}: expected a name that ends in {SUFFIX}, such as {stem(target.name)}{SUFFIX}; {out}/ is a folder"
            )
        return plan_file(inputs.files[0], target, existing_policy)
    if os.path.isfile(out):  # noqa: PTH113
        raise UsageError(
            f"the last name, {out}, is an existing file; where should the results go? "
            f"Expected a folder there, such as: keypose compress IN... out/"
        )
    if looks_like_file(target) and not has_slash:
        raise UsageError(f"{out} is the name of a file, but is to be a folder: {out}/ makes it one")
    return plan_folder(inputs.files, target, SUFFIX, existing_policy)


def find_originals(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """Return the original of each compressed file: ``against``, or the file of the same stem in that folder.

    A missing original gets a path that does not exist, and fails when it is read.
    """
    if not against.is_dir():
        return [against] * len(files)
    paths = _paths_by_stem(against)
    return [paths.get(_relative_stem(file), against / f"{_relative_stem(file)}.bvh") for file in files]


def find_uncompressed(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """Return the originals in a folder that have no compressed file of the same stem."""
    stems = {_relative_stem(file) for file in files}
    return [path for place, path in _paths_by_stem(against).items() if place not in stems]


def _paths_by_stem(folder: Path) -> dict[Path, Path]:
    return {_relative_stem(file): file.path for file in discover_clips([str(folder)]).files if not is_kps(file.path)}


def _relative_stem(file: ClipFile) -> Path:
    """Return the path of a file relative to its folder, without suffix."""
    return file.relative.with_name(stem(file.relative.name))
