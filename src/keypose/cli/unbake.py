"""``keypose unbake``: dense motion in, a few editable key poses with fitted curves out."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.choosing import (
    Exclude,
    GreatestGap,
    Joints,
    LeastGap,
    Loop,
    Measure,
    Objective,
    Pin,
    Set,
    Threads,
    Weight,
)
from keypose.cli.fitting import (
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
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet, SkipExisting, To

HOW_MANY, WHICH, CURVES, READING, WRITING = (
    Parameter(group=Group(title, sort_key=place))
    for place, title in enumerate(("How many keys", "Which keys", "Curves between keys", "Reading", "Writing"), 1)
)


def unbake(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="What to unbake (files, folders, patterns in quotes), and last where to: a file for one "
            "file, a folder for more.",
        ),
    ],
    to: Annotated[To, WRITING] = None,
    keys: Annotated[Keys, HOW_MANY] = None,
    tolerance_mm: Annotated[ToleranceMm, HOW_MANY] = None,
    auto: Annotated[Auto, HOW_MANY] = False,
    interpolation: Annotated[Interpolation, CURVES] = "bezier",
    rotation: Annotated[Rotation, CURVES] = "quaternion",
    shared_tangents: Annotated[SharedTangents, CURVES] = False,
    jump_penalty: Annotated[JumpPenalty, CURVES] = None,
    polish: Annotated[Polish, CURVES] = None,
    polish_weight: Annotated[PolishWeight, CURVES] = (),
    method: Annotated[
        str,
        Parameter(
            show_default=True,
            help="Whose keys to take: salient finds those that are best for the very curves that are written; "
            "keypose methods lists others.",
        ),
        WHICH,
    ] = "salient",
    pin: Annotated[Pin, WHICH] = (),
    exclude: Annotated[Exclude, WHICH] = (),
    joints: Annotated[Joints, WHICH] = (),
    weight: Annotated[Weight, WHICH] = (),
    objective: Annotated[Objective, WHICH] = None,
    measure: Annotated[Measure, WHICH] = None,
    least_gap_frames: Annotated[LeastGap, WHICH] = None,
    greatest_gap_frames: Annotated[GreatestGap, WHICH] = None,
    loop: Annotated[Loop, WHICH] = False,
    threads: Annotated[Threads, WHICH] = None,
    set_: Annotated[Set, WHICH] = (),
    no_residual: Annotated[
        bool,
        Parameter(negative="", help="Do not keep what the curves leave out. Then rebake cannot put it back."),
        WRITING,
    ] = False,
    no_keys: Annotated[
        bool,
        Parameter(negative="", help="Do not write the lossless NAME.keys.json beside each result."),
        WRITING,
    ] = False,
    fps: Annotated[
        float | None,
        Parameter(help="Bring the capture to this frame rate first. Otherwise it stays as it is."),
        READING,
    ] = None,
    range_: Annotated[Range, READING] = None,
    reference_pose: Annotated[ReferencePose, READING] = "auto",
    asf: Annotated[Asf, READING] = None,
    gaps: Annotated[Gaps, READING] = "fill",
    animation: Annotated[Animation, READING] = None,
    read_fps: Annotated[ReadFps, READING] = None,
    overwrite: Annotated[Overwrite, WRITING] = False,
    skip_existing: Annotated[SkipExisting, WRITING] = False,
    limit: Annotated[LimitOption, READING] = (),
    jobs: Annotated[Jobs, WRITING] = None,
    json: Annotated[Json, WRITING] = False,
    quiet: Annotated[Quiet, WRITING] = False,
) -> int:
    """Unbake dense motion into a few editable key poses.

    Chooses the keys, fits curves between them, and writes an animation that
    stays close to the capture and can be edited in any animation program. Say
    how many keys with --keys, --tolerance-mm or --auto. Beside OUT it writes
    NAME.keys.json, which holds everything, also the captured detail between the
    keys: after the edit, keypose rebake puts that back on top.

    GLB files and others that keypose formats marks keep keys and curves; the
    rest get every frame of the unbaked motion.

    For example:
      keypose unbake walk.bvh walk.glb --keys 24
      keypose unbake walk.bvh walk.glb --tolerance-mm 5 --pin contacts
      keypose unbake takes/ out/ --to glb
      keypose unbake walk.bvh walk.blend --rotation euler --weight hands=3
      keypose unbake walk.bvh walk.glb --method farthest --keys 8
    """
    import sys

    from keypose.batch.inputs import expand
    from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
    from keypose.batch.unbake import Unbaking
    from keypose.batch.unbake_plan import check_keys_files, keys_file_of
    from keypose.cli import unbake_run
    from keypose.cli.fitting import choosing_from, fitting_from
    from keypose.cli.keys_options import check_budget
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from
    from keypose.cli.targets import existing_from, names_and_out, plan_from

    names, out = names_and_out(paths, "unbake")
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    check_budget(keys, tolerance_mm, auto=auto)
    choosing = choosing_from(
        method, pin=pin, exclude=exclude, joints=joints, weight=weight, objective=objective, measure=measure,
        least_gap_frames=least_gap_frames, greatest_gap_frames=greatest_gap_frames, loop=loop, settings=set_,
    )  # fmt: skip
    fitting = fitting_from(
        interpolation=interpolation, rotation=rotation, shared_tangents=shared_tangents, jump_penalty=jump_penalty,
        polish=polish, polish_weight=polish_weight, threads=threads, residual=not no_residual,
    )  # fmt: skip
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = fps_from(fps, "--fps"), range_from(range_)
    inputs = expand(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_from(inputs, names, out, to, existing, "unbake")
    if not no_keys:
        check_keys_files(plan, existing)
    workers = jobs_from(jobs, CLIPS_PER_WORKER * len(plan.targets))  # a worker starts sooner than a clip is unbaked
    if workers > 1:
        fitting.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        Unbaking(
            t.source, t.target, None if no_keys else keys_file_of(t.target), reading, frames, fps,
            method, keys, tolerance_mm, auto, choosing, fitting,
        )
        for t in plan.targets
    ]  # fmt: skip
    return unbake_run.run(work, plan.skipped, workers, json=json, quiet=quiet)
