"""``keypose keys``: the poses that matter, as a table of keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

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
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose


def keys(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    method: Annotated[
        str, Parameter(show_default=True, help="How to choose: one that keypose methods lists.")
    ] = "salient",
    keys: Annotated[int | None, Parameter(help="So many keys.")] = None,
    tolerance_mm: Annotated[
        float | None,
        Parameter(help="Fewest keys whose straight in-betweens leave no joint farther off, on a figure of 1.7 m."),
    ] = None,
    auto: Annotated[
        bool, Parameter(negative="", help="As many keys as the error curve says: a cliff, or its knee.")
    ] = False,
    max_keys: Annotated[int | None, Parameter(help="Where the error curve ends.")] = None,
    range_: Range = None,
    pin: Pin = (),
    exclude: Exclude = (),
    joints: Joints = (),
    weight: Weight = (),
    features: Annotated[
        Literal["world", "root_matched", "unmatched", "parent_relative", "euler"] | None,
        Parameter(help="What the method sees of the poses. Otherwise what it was made for."),
    ] = None,
    smoothing_s: Annotated[
        float | None, Parameter(help="Smooth the motion before choosing: sigma of a Gaussian, in seconds.")
    ] = None,
    objective: Objective = None,
    cost: Annotated[
        Literal["chord", "integrated", "inbetween"] | None,
        Parameter(
            help="The cost of a span: the largest distance off its chord, the sum of their squares, or the error of "
            "the in-betweens that unbake makes, in mm."
        ),
    ] = None,
    interpolation: Annotated[
        Literal["bezier", "linear"] | None,
        Parameter(help="Which in-betweens --cost inbetween measures: fitted curves, or straight ones."),
    ] = None,
    measure: Measure = None,
    least_gap_frames: LeastGap = None,
    greatest_gap_frames: GreatestGap = None,
    loop: Loop = False,
    threads: Threads = None,
    threshold: Annotated[
        float | None, Parameter(help="The error that makes a key of refine. Higher gives fewer keys.")
    ] = None,
    set_: Set = (),
    no_plot: Annotated[bool, Parameter(negative="", help="Leave out the plot of the error curve.")] = False,
    reference_pose: ReferencePose = "auto",
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Choose the key poses of motion files.

    Shows each key with its frame and time, what it is worth, and the error for
    every number of keys as a plot. Say how many keys with --keys, --tolerance-mm
    or --auto; otherwise it is the method's own number, or --auto. Frames count
    from 0 as info counts them.

    For example:
      keypose keys walk.bvh --keys 12
      keypose keys walk.bvh --tolerance-mm 5 --pin 30,88 --pin contacts
      keypose keys walk.bvh --range 100:400 --joints hands,head
      keypose keys walk.bvh --method farthest --keys 8 --weight hands=3
      keypose keys walk.bvh --json > walk-keys.json
    """
    from keypose.batch.inputs import expand
    from keypose.batch.keys import KeysWanted
    from keypose.cli import keys_options as told
    from keypose.cli import keys_run
    from keypose.cli.exits import UsageError
    from keypose.cli.options import jobs_from, range_from, reading_from

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    told.check_budget(keys, tolerance_mm, auto=auto)
    options = told.options_from(
        told.method_from(method),
        {
            "pins": told.frames_from("--pin", pin, contacts=True),
            "excluded": told.frames_from("--exclude", exclude),
            "objective": objective,
            "cost": cost,
            "interpolation": interpolation,
            "measure": measure,
            "least_gap_frames": least_gap_frames,
            "greatest_gap_frames": greatest_gap_frames,
            "loop": loop,
            "threads": threads,
            "threshold": threshold,
        },
        set_,
    )
    options |= told.given(
        {
            "max_keys": max_keys,
            "joints": told.joints_from(joints),
            "weights": told.weights_from(weight),
            "features": features,
            "smoothing_s": smoothing_s,
        }
    )
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    frames = range_from(range_)
    inputs = expand(files)
    work = [KeysWanted(file.path, reading, method, keys, tolerance_mm, auto, frames, options) for file in inputs.files]
    one_file = len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]
    return keys_run.run(
        work, inputs.problems, jobs_from(jobs, len(work)), json=json, plot=not no_plot, one_file=one_file
    )
