"""``keypose convert``: motion files to other formats, one or many."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet, SkipExisting, To


def convert(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="What to convert (files, folders, patterns in quotes), and last where to: a file for one "
            "file, a folder for more.",
        ),
    ],
    to: To = None,
    fps: Annotated[float | None, Parameter(help="The frame rate to convert to. Otherwise it stays as it is.")] = None,
    range_: Range = None,
    reference_pose: ReferencePose = "auto",
    write_reference_pose: Annotated[
        bool, Parameter(negative="", help="Write the T-pose that was kept apart as frame 0 again.")
    ] = False,
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    overwrite: Overwrite = False,
    skip_existing: SkipExisting = False,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
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
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from
    from keypose.cli.storage_targets import is_stored
    from keypose.cli.targets import existing_from, names_and_out, plan_from

    names, out = names_and_out(paths, "convert")
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = fps_from(fps, "--fps"), range_from(range_)
    inputs = expand(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_from(inputs, names, out, to, existing, "convert")
    for t in (*plan.targets, *plan.skipped):
        if is_stored(t.source) and is_stored(t.target):
            raise UsageError(f"{t.source} is compressed already: expected another format than .kps; compressed again, "
                             f"its errors add up: keypose compress IN.kps OUT.kps --tolerance-mm NUMBER")  # fmt: skip
    work = [Conversion(t.source, t.target, reading, frames, fps, write_reference_pose) for t in plan.targets]
    return convert_run.run(work, plan.skipped, jobs_from(jobs, len(work)), json=json, quiet=quiet)
