"""``keypose convert``: motion files to other formats, one or many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, ReadFps, ReferencePose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keypose.batch.inputs import Inputs
    from keypose.batch.plan import Existing, Plan


def convert(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="What to convert (files, folders, patterns in quotes), and last where to: a file for one "
            "file, a folder for more.",
        ),
    ],
    to: Annotated[
        str | None, Parameter(help="The format for many files, as the suffix they get: bvh, glb, bvh.gz, ...")
    ] = None,
    fps: Annotated[float | None, Parameter(help="The frame rate to convert to. Otherwise it stays as it is.")] = None,
    range_: Annotated[
        str | None,
        Parameter(name="--range", help="Only these frames, START:END as info counts them, END not included."),
    ] = None,
    reference_pose: ReferencePose = "auto",
    write_reference_pose: Annotated[
        bool, Parameter(negative="", help="Write the T-pose that was kept apart as frame 0 again.")
    ] = False,
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    overwrite: Annotated[
        bool,
        Parameter(
            negative="--no-overwrite",
            help="Replace files that exist. Otherwise they are refused before anything is written.",
        ),
    ] = False,
    skip_existing: Annotated[
        bool,
        Parameter(negative="", help="Leave out what exists already: goes on with a conversion that was interrupted."),
    ] = False,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors.")] = False,
) -> int:
    """Convert motion files to other formats.

    One file becomes one file; its suffix says the format. Folders, patterns and
    several files go into one folder, in the format that --to says; sub-folders
    are kept. Files are written whole or not at all. What fails is listed at the
    end, and the exit code is 1.

    For example:
      keypose convert walk.bvh walk.glb
      keypose convert walk.bvh part.bvh --range 100:400 --fps 30
      keypose convert takes/ out/ --to glb
      keypose convert "takes/*.amc" out/ --to bvh --jobs 4
      keypose convert takes/ out/ --to bvh.gz --skip-existing
    """
    from keypose.batch.convert import Conversion
    from keypose.batch.inputs import expand
    from keypose.cli import convert_run
    from keypose.cli.exits import UsageError
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from

    if len(paths) < 2:
        raise UsageError("expected what to convert, and where to: keypose convert IN OUT")
    if overwrite and skip_existing:
        raise UsageError("--overwrite and --skip-existing cannot both be meant")
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = fps_from(fps, "--fps"), range_from(range_)
    *names, out = paths
    if not out:
        raise UsageError("the last name, where to, is empty; expected a file or a folder; . is the current folder")
    inputs = expand(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = _plan(inputs, names, out, to, "overwrite" if overwrite else "skip" if skip_existing else "refuse")
    work = [Conversion(t.source, t.target, reading, frames, fps, write_reference_pose) for t in plan.targets]
    return convert_run.run(work, plan.skipped, jobs_from(jobs, len(work)), json=json, quiet=quiet)


def _plan(inputs: Inputs, names: Sequence[str], out: str, to: str | None, existing: Existing) -> Plan:
    """Where each file goes: to a file, or into a folder."""
    import os
    from pathlib import Path

    from keypose.batch.plan import names_a_file, plan_file, plan_folder
    from keypose.cli.exits import UsageError

    target = Path(out)
    slash = out.endswith(("/", "\\"))
    named_outright = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if named_outright and to is None and not slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        return plan_file(inputs.files[0], target, existing)
    if os.path.isfile(out):  # noqa: PTH113
        raise UsageError(
            f"the last name, {out}, is an existing file; where should the results go? "
            f"Expected a folder there, such as: keypose convert IN... out/ --to {to or 'glb'}"
        )
    if names_a_file(target) and not slash:
        raise UsageError(
            f"{out} is the name of a file, but is to be a folder: "
            + (f"without --to it is a file, as {out}/ it is a folder" if named_outright else f"{out}/ makes it one")
        )
    if to is None:
        raise UsageError(f"{out} is to be a folder: say the format of the files in it, such as --to glb")
    return plan_folder(inputs.files, target, to, existing)
