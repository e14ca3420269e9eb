"""Which files are compressed and which restored, where they go, and what they were made from."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from keypose.batch.inputs import ClipFile, Inputs, expand, stem
from keypose.batch.plan import Existing, Plan, names_a_file, plan_file, plan_folder
from keypose.cli.exits import UsageError
from keypose.errors import FileError

SUFFIX = ".kps"


def is_stored(path: Path) -> bool:
    """Whether a file of this name was compressed."""
    return path.name.lower().endswith(SUFFIX)


def without_stored(inputs: Inputs, names: Sequence[str]) -> Inputs:
    """What is to be compressed: what is so already only where it is named outright."""
    return _only(inputs, names, lambda path: not is_stored(path), "no motion files that are not compressed already")


def only_stored(inputs: Inputs, names: Sequence[str]) -> Inputs:
    """What is to be restored: of folders the files of that suffix, and whatever is named outright."""
    return _only(inputs, names, is_stored, f"no names that end in {SUFFIX}, as keypose compress writes them")


def _only(inputs: Inputs, names: Sequence[str], wanted: Callable[[Path], bool], otherwise: str) -> Inputs:
    outright = {str(Path(name)) for name in names if name}
    files = tuple(file for file in inputs.files if wanted(file.path) or str(file.path) in outright)
    if inputs.files and not files:
        return replace(inputs, files=(), problems=(*inputs.problems, FileError(f"{names[0]}: {otherwise}")))
    return replace(inputs, files=files)


def plan_stored(inputs: Inputs, names: Sequence[str], out: str, existing: Existing) -> Plan:
    """Where each compressed file goes: to ``NAME.kps``, or into a folder."""
    target = Path(out)
    slash = out.endswith(("/", "\\"))
    named_outright = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if named_outright and not slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        if not is_stored(target):
            raise UsageError(f"{out}: expected a name that ends in {SUFFIX}, such as {stem(target.name)}{SUFFIX}; "
                             f"{out}/ is a folder")  # fmt: skip
        return plan_file(inputs.files[0], target, existing)
    if os.path.isfile(out):  # noqa: PTH113
        raise UsageError(f"the last name, {out}, is an existing file; where should the results go? "
                         f"Expected a folder there, such as: keypose compress IN... out/")  # fmt: skip
    if names_a_file(target) and not slash:
        raise UsageError(f"{out} is the name of a file, but is to be a folder: {out}/ makes it one")
    return plan_folder(inputs.files, target, SUFFIX, existing)


def originals_of(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """What each compressed file was made from: ``against``, or in that folder the file at its place.

    One that is not there is named all the same, and found missing when it is read.
    """
    if not against.is_dir():
        return [against] * len(files)
    there = _by_place(against)
    return [there.get(_place(file), against / f"{_place(file)}.bvh") for file in files]


def without_compressed(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """The originals in a folder of which there is no compressed file at their place."""
    places = {_place(file) for file in files}
    return [path for place, path in _by_place(against).items() if place not in places]


def _by_place(folder: Path) -> dict[Path, Path]:
    return {_place(file): file.path for file in expand([str(folder)]).files if not is_stored(file.path)}


def _place(file: ClipFile) -> Path:
    """Where a file is in its folder, whatever its format."""
    return file.relative.with_name(stem(file.relative.name))
