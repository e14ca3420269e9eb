"""Options for output files, shared by commands that write, and the plan of outputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keypose.batch.file_discovery import ClipFiles
    from keypose.batch.plan import ExistingPolicy, Plan

TargetFormat = Annotated[
    str | None, Parameter(help="The format of files in a folder, by suffix: bvh, glb, bvh.gz, ...")
]
Overwrite = Annotated[
    bool,
    Parameter(
        negative="--no-overwrite",
        help="Replace existing files. Default: refuse before anything is written.",
    ),
]
SkipExisting = Annotated[
    bool,
    Parameter(negative="", help="Skip existing outputs, to continue an interrupted run."),
]
Quiet = Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors.")]


def split_paths(paths: Sequence[str], command: str) -> tuple[list[str], str]:
    """Split the arguments into input names and the output, which is the last one."""
    if len(paths) < 2:
        raise UsageError(f"expected what to {command}, and where to: keypose {command} IN OUT")
    *names, out = paths
    if not out:
        raise UsageError("the last name, where to, is empty; expected a file or a folder; . is the current folder")
    return names, out


def parse_existing_policy(*, overwrite: bool, skip_existing: bool) -> ExistingPolicy:
    """Return what happens to existing files."""
    if overwrite and skip_existing:
        raise UsageError("--overwrite and --skip-existing cannot both be meant")
    return "overwrite" if overwrite else "skip" if skip_existing else "refuse"


def build_plan(
    inputs: ClipFiles,
    names: Sequence[str],
    out: str,
    to: str | None,
    existing_policy: ExistingPolicy,
    command: str,
    extra_suffixes: tuple[str, ...] = (),
) -> Plan:
    """Plan the output of each input: a file, or a folder. ``extra_suffixes`` are allowed besides those of motions."""
    from keypose.batch.plan import looks_like_file, plan_file, plan_folder

    target = Path(out)
    has_slash = out.endswith(("/", "\\"))
    is_single_file = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if is_single_file and to is None and not has_slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        return plan_file(inputs.files[0], target, existing_policy, extra_suffixes)
    if os.path.isfile(out):  # noqa: PTH113
        target_name, example = (f"-o {out}", "-o out/") if command == "swings" else (f"the last name, {out},", "out/")
        raise UsageError(
            f"{target_name} is an existing file; where should the results go? "
            f"Expected a folder there, such as: keypose {command} IN... {example} --to {to or 'glb'}"
        )
    if looks_like_file(target) and not has_slash:
        raise UsageError(
            f"{out} is the name of a file, but is to be a folder: "
            + (f"without --to it is a file, as {out}/ it is a folder" if is_single_file else f"{out}/ makes it one")
        )
    if to is None:
        raise UsageError(f"{out} is to be a folder: say the format of the files in it, such as --to glb")
    return plan_folder(inputs.files, target, to, existing_policy, extra_suffixes)
