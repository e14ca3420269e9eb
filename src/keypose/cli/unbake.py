"""``keypose unbake``: turn dense motion into a few editable key poses with fitted curves."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.curve_options import (
    Auto,
    Interpolation,
    JumpPenalty,
    Keys,
    Polish,
    PolishWeight,
    Rotation,
    SharedTangents,
    ToleranceMm,
)
from keypose.cli.key_options import (
    Exclude,
    Joints,
    Loop,
    MaxGap,
    Measure,
    MinGap,
    Objective,
    Pin,
    Set,
    Threads,
    Weight,
)
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.output_options import Overwrite, Quiet, SkipExisting, TargetFormat

COUNT_GROUP, KEYS_GROUP, CURVES_GROUP, READ_GROUP, WRITE_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in enumerate(("Number of keys", "Choice of keys", "Curves between keys", "Reading", "Writing"), 1)
)


def unbake(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Input (files, folders, patterns in quotes), and last the output: a file for one "
            "file, a folder for more.",
        ),
    ],
    to: Annotated[TargetFormat, WRITE_GROUP] = None,
    keys: Annotated[Keys, COUNT_GROUP] = None,
    tolerance_mm: Annotated[ToleranceMm, COUNT_GROUP] = None,
    auto: Annotated[Auto, COUNT_GROUP] = False,
    interpolation: Annotated[Interpolation, CURVES_GROUP] = "bezier",
    rotation: Annotated[Rotation, CURVES_GROUP] = "quaternion",
    shared_tangents: Annotated[SharedTangents, CURVES_GROUP] = False,
    jump_penalty: Annotated[JumpPenalty, CURVES_GROUP] = None,
    polish: Annotated[Polish, CURVES_GROUP] = None,
    polish_weight: Annotated[PolishWeight, CURVES_GROUP] = (),
    method: Annotated[
        str,
        Parameter(
            show_default=True,
            help="Selection method: salient finds the best keys for the fitted curves; keypose methods lists others.",
        ),
        KEYS_GROUP,
    ] = "salient",
    pin: Annotated[Pin, KEYS_GROUP] = (),
    exclude: Annotated[Exclude, KEYS_GROUP] = (),
    joints: Annotated[Joints, KEYS_GROUP] = (),
    weight: Annotated[Weight, KEYS_GROUP] = (),
    objective: Annotated[Objective, KEYS_GROUP] = None,
    measure: Annotated[Measure, KEYS_GROUP] = None,
    min_gap_frames: Annotated[MinGap, KEYS_GROUP] = None,
    max_gap_frames: Annotated[MaxGap, KEYS_GROUP] = None,
    loop: Annotated[Loop, KEYS_GROUP] = False,
    threads: Annotated[Threads, KEYS_GROUP] = None,
    set_: Annotated[Set, KEYS_GROUP] = (),
    no_residual: Annotated[
        bool,
        Parameter(negative="", help="Do not store the detail that the curves omit. Then rebake cannot restore it."),
        WRITE_GROUP,
    ] = False,
    no_keys: Annotated[
        bool,
        Parameter(negative="", help="Do not write the lossless NAME.keys.json beside each result."),
        WRITE_GROUP,
    ] = False,
    fps: Annotated[
        float | None,
        Parameter(help="Resample the capture to this frame rate first. Default: unchanged."),
        READ_GROUP,
    ] = None,
    range_: Annotated[Range, READ_GROUP] = None,
    reference_pose: Annotated[ReferencePose, READ_GROUP] = "auto",
    asf: Annotated[Asf, READ_GROUP] = None,
    gaps: Annotated[Gaps, READ_GROUP] = "fill",
    animation: Annotated[Animation, READ_GROUP] = None,
    read_fps: Annotated[ReadFps, READ_GROUP] = None,
    overwrite: Annotated[Overwrite, WRITE_GROUP] = False,
    skip_existing: Annotated[SkipExisting, WRITE_GROUP] = False,
    limit: Annotated[LimitOption, READ_GROUP] = (),
    jobs: Annotated[Jobs, WRITE_GROUP] = None,
    json: Annotated[Json, WRITE_GROUP] = False,
    quiet: Annotated[Quiet, WRITE_GROUP] = False,
) -> int:
    """Unbake dense motion into a few editable key poses.

    Chooses the keys, fits curves between them, and writes an animation that
    stays close to the capture and can be edited in any animation program. Set
    the number of keys with --keys, --tolerance-mm or --auto. Beside OUT it writes
    NAME.keys.json, which also holds the captured detail between the keys: after
    the edit, keypose rebake puts that back on top.

    GLB and other formats that keypose formats marks store keys and curves; the
    rest get every frame of the unbaked motion.

    For example:
      keypose unbake walk.bvh walk.glb --keys 24
      keypose unbake walk.bvh walk.glb --tolerance-mm 5 --pin contacts
      keypose unbake takes/ out/ --to glb
      keypose unbake walk.bvh walk.blend --rotation euler --weight hands=3
      keypose unbake walk.bvh walk.glb --method farthest --keys 8
    """
    import sys

    from keypose.batch.file_discovery import discover_clips
    from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
    from keypose.batch.unbake import UnbakeJob
    from keypose.batch.unbake_plan import check_keys_files, keys_file_for
    from keypose.cli import unbake_run
    from keypose.cli.curve_options import parse_curve_options, parse_key_options
    from keypose.cli.option_parsers import check_key_count
    from keypose.cli.options import check_fps, parse_load_options, parse_range, resolve_jobs
    from keypose.cli.output_options import build_plan, parse_existing_policy, split_paths

    names, out = split_paths(paths, "unbake")
    existing_policy = parse_existing_policy(overwrite=overwrite, skip_existing=skip_existing)
    check_key_count(keys, tolerance_mm, auto=auto)
    key_options = parse_key_options(
        method,
        pin=pin,
        exclude=exclude,
        joints=joints,
        weight=weight,
        objective=objective,
        measure=measure,
        min_gap_frames=min_gap_frames,
        max_gap_frames=max_gap_frames,
        loop=loop,
        settings=set_,
    )
    curve_options = parse_curve_options(
        interpolation=interpolation,
        rotation=rotation,
        shared_tangents=shared_tangents,
        jump_penalty=jump_penalty,
        polish=polish,
        polish_weight=polish_weight,
        threads=threads,
        residual=not no_residual,
    )
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = check_fps(fps, "--fps"), parse_range(range_)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "unbake")
    if not no_keys:
        check_keys_files(plan, existing_policy)
    workers = resolve_jobs(
        jobs, CLIPS_PER_WORKER * len(plan.targets)
    )  # starting a worker takes less time than one clip
    if workers > 1:
        curve_options.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        UnbakeJob(
            t.source,
            t.target,
            None if no_keys else keys_file_for(t.target),
            load_options,
            frames,
            fps,
            method,
            keys,
            tolerance_mm,
            auto,
            key_options,
            curve_options,
        )
        for t in plan.targets
    ]
    return unbake_run.run(work, plan.skipped, workers, json=json, quiet=quiet)
