"""Where results go: the options that commands which write share, and the plan that they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keypose.batch.inputs import Inputs
    from keypose.batch.plan import Existing, Plan

To = Annotated[str | None, Parameter(help="The format for many files, as the suffix they get: bvh, glb, bvh.gz, ...")]
Overwrite = Annotated[
    bool,
    Parameter(
        negative="--no-overwrite",
        help="Replace files that exist. Otherwise they are refused before anything is written.",
    ),
]
SkipExisting = Annotated[
    bool,
    Parameter(negative="", help="Leave out what exists already: goes on with a run that was interrupted."),
]
Quiet = Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors.")]


def names_and_out(paths: Sequence[str], command: str) -> tuple[list[str], str]:
    """What is meant, and where the results go: the last name."""
    if len(paths) < 2:
        raise UsageError(f"expected what to {command}, and where to: keypose {command} IN OUT")
    *names, out = paths
    if not out:
        raise UsageError("the last name, where to, is empty; expected a file or a folder; . is the current folder")
    return names, out


def existing_from(*, overwrite: bool, skip_existing: bool) -> Existing:
    """What becomes of files that are there already."""
    if overwrite and skip_existing:
        raise UsageError("--overwrite and --skip-existing cannot both be meant")
    return "overwrite" if overwrite else "skip" if skip_existing else "refuse"


def plan_from(
    inputs: Inputs,
    names: Sequence[str],
    out: str,
    to: str | None,
    existing: Existing,
    command: str,
    more: tuple[str, ...] = (),
) -> Plan:
    """Where each file goes: to a file, or into a folder. ``more`` suffixes than those of motions may be written."""
    from keypose.batch.plan import names_a_file, plan_file, plan_folder

    target = Path(out)
    slash = out.endswith(("/", "\\"))
    named_outright = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if named_outright and to is None and not slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        return plan_file(inputs.files[0], target, existing, more)
    if os.path.isfile(out):  # noqa: PTH113
        given, out_there = (f"-o {out}", "-o out/") if command == "swings" else (f"the last name, {out},", "out/")
        raise UsageError(
            f"{given} is an existing file; where should the results go? "
            f"Expected a folder there, such as: keypose {command} IN... {out_there} --to {to or 'glb'}"
        )
    if names_a_file(target) and not slash:
        raise UsageError(
            f"{out} is the name of a file, but is to be a folder: "
            + (f"without --to it is a file, as {out}/ it is a folder" if named_outright else f"{out}/ makes it one")
        )
    if to is None:
        raise UsageError(f"{out} is to be a folder: say the format of the files in it, such as --to glb")
    return plan_folder(inputs.files, target, to, existing, more)
