"""``keypose report``: one page with all there is to see of motions and what unbaking makes of them."""

from __future__ import annotations

from pathlib import Path
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
from keypose.cli.exits import UsageError
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
from keypose.cli.targets import Quiet

PAGE, HOW_MANY, WHICH, CURVES, READING = (
    Parameter(group=Group(title, sort_key=place))
    for place, title in enumerate(("The page", "How many keys", "Which keys", "Curves between keys", "Reading"), 1)
)


def report(
    *paths: Annotated[
        str,
        Parameter(name="FILES", help="What to report on: files, folders, patterns in quotes. All go into one page."),
    ],
    output: Annotated[
        Path | None,
        Parameter(
            name=("--output", "-o"),
            help="The page, an .html file. Otherwise NAME.html of one file, or report.html, in the current folder.",
        ),
        PAGE,
    ] = None,
    title: Annotated[str | None, Parameter(help="The title of the page. Otherwise the motion's name."), PAGE] = None,
    open_: Annotated[
        bool, Parameter(name="--open", negative="", help="Show the page in the browser when it is written."), PAGE
    ] = False,
    overwrite: Annotated[
        bool,
        Parameter(negative="--no-overwrite", help="Replace the page if it exists. Otherwise it is refused at once."),
        PAGE,
    ] = False,
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
            help="Whose keys to take: salient finds those that are best for the very curves; keypose methods lists "
            "others.",
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
    limit: Annotated[LimitOption, READING] = (),
    jobs: Annotated[Jobs, PAGE] = None,
    json: Annotated[Json, PAGE] = False,
    quiet: Annotated[Quiet, PAGE] = False,
) -> int:
    """Show what unbaking makes of motions, in one HTML page.

    The page has the key poses, a 3D player of the original and the unbaked
    motion, the keys and what each is worth, errors by joint and by number of
    keys, swings, and the lines that make it again. It is one file that needs no
    network: mail it, print it, keep it beside the take. Keys and curves are
    those of keypose unbake with the same options.

    Files that cannot be read are listed and left out of the page; then the exit
    code is 1.

    For example:
      keypose report walk.bvh
      keypose report walk.bvh --tolerance-mm 5 --open
      keypose report takes/ -o takes.html --keys 20
      keypose report walk.bvh --method farthest --keys 8 -o farthest.html
    """
    import sys

    from keypose.batch.inputs import expand
    from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
    from keypose.cli import report_run
    from keypose.cli.fitting import choosing_from, fitting_from
    from keypose.cli.keys_options import check_budget
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from
    from keypose.pictures.report.clips import Reporting

    if not paths:
        raise UsageError("expected what to report on: keypose report FILES...")
    check_budget(keys, tolerance_mm, auto=auto)
    if tolerance_mm is not None and method != "salient":
        raise UsageError(f"--tolerance-mm is for --method salient, which chooses keys by the error of curves; "
                         f"expected --keys with --method {method}")  # fmt: skip
    choosing = choosing_from(
        method, pin=pin, exclude=exclude, joints=joints, weight=weight, objective=objective, measure=measure,
        least_gap_frames=least_gap_frames, greatest_gap_frames=greatest_gap_frames, loop=loop, settings=set_,
    )  # fmt: skip
    fitting = fitting_from(
        interpolation=interpolation, rotation=rotation, shared_tangents=shared_tangents, jump_penalty=jump_penalty,
        polish=polish, polish_weight=polish_weight, threads=threads, residual=False,
    )  # fmt: skip
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = fps_from(fps, "--fps"), range_from(range_)
    inputs = expand(paths)
    if inputs.problems:
        raise inputs.problems[0]
    target = report_run.target_from(output, inputs, overwrite=overwrite)
    workers = jobs_from(jobs, CLIPS_PER_WORKER * len(inputs.files))  # a worker starts sooner than a clip is reported on
    if workers > 1:
        fitting.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        Reporting(
            file.path, target, f"clip-{n}", reading, frames, fps, method, keys, tolerance_mm, auto, choosing, fitting
        )
        for n, file in enumerate(inputs.files, 1)
    ]
    return report_run.run(work, target, title, workers, show=open_, json=json, quiet=quiet)
