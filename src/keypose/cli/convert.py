"""``keypose convert``: convert motion files to other formats."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.output_options import Overwrite, Quiet, SkipExisting, TargetFormat


def convert(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Input (files, folders, patterns in quotes), and last the output: a file for one "
            "file, a folder for more.",
        ),
    ],
    to: TargetFormat = None,
    fps: Annotated[float | None, Parameter(help="Resample to this frame rate. Default: unchanged.")] = None,
    range_: Range = None,
    reference_pose: ReferencePose = "auto",
    write_reference_pose: Annotated[
        bool, Parameter(negative="", help="Write the separated T-pose as frame 0 again.")
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

    One file is converted to one file; the suffix determines the format. Folders,
    patterns and several files go into one folder, in the format given by --to;
    sub-folders are preserved. Files are written whole or not at all. Failures are
    listed at the end, and the exit code is 1.

    For example:
      keypose convert walk.bvh walk.glb
      keypose convert walk.bvh part.bvh --range 100:400 --fps 30
      keypose convert takes/ out/ --to glb
      keypose convert "takes/*.amc" out/ --to bvh --jobs 4
      keypose convert takes/ out/ --to bvh.gz --skip-existing
    """
    from keypose.batch.convert import ConvertJob
    from keypose.batch.file_discovery import discover_clips
    from keypose.cli import convert_run
    from keypose.cli.options import check_fps, parse_load_options, parse_range, resolve_jobs
    from keypose.cli.output_options import build_plan, parse_existing_policy, split_paths
    from keypose.cli.storage_plan import is_kps

    names, out = split_paths(paths, "convert")
    existing_policy = parse_existing_policy(overwrite=overwrite, skip_existing=skip_existing)
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = check_fps(fps, "--fps"), parse_range(range_)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "convert")
    for t in (*plan.targets, *plan.skipped):
        if is_kps(t.source) and is_kps(t.target):
            raise UsageError(
                f"{t.source} is compressed already: expected another format than .kps; compressed again, "
                f"its errors add up: keypose compress IN.kps OUT.kps --tolerance-mm NUMBER"
            )
    work = [ConvertJob(t.source, t.target, load_options, frames, fps, write_reference_pose) for t in plan.targets]
    return convert_run.run(work, plan.skipped, resolve_jobs(jobs, len(work)), json=json, quiet=quiet)
