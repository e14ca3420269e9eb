"""``keypose keys``: choose the key poses of motion files and print them as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

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


def keys(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    method: Annotated[
        str, Parameter(show_default=True, help="Selection method; keypose methods lists them.")
    ] = "salient",
    keys: Annotated[int | None, Parameter(help="Number of keys.")] = None,
    tolerance_mm: Annotated[
        float | None,
        Parameter(
            help="Fewest keys whose straight in-betweens keep every joint within this error, on a figure of 1.7 m."
        ),
    ] = None,
    auto: Annotated[
        bool, Parameter(negative="", help="Choose the number of keys from the error curve: a cliff, or its knee.")
    ] = False,
    max_keys: Annotated[int | None, Parameter(help="Largest number of keys on the error curve.")] = None,
    range_: Range = None,
    pin: Pin = (),
    exclude: Exclude = (),
    joints: Joints = (),
    weight: Weight = (),
    features: Annotated[
        Literal["world", "root_matched", "unmatched", "parent_relative", "euler"] | None,
        Parameter(help="Features of the poses. Default: those of the method."),
    ] = None,
    smoothing_s: Annotated[
        float | None, Parameter(help="Smooth the motion before choosing keys: sigma of a Gaussian, in seconds.")
    ] = None,
    objective: Objective = None,
    cost: Annotated[
        Literal["chord", "integrated", "inbetween"] | None,
        Parameter(
            help="Cost of a span: the largest distance from its chord, the sum of squared distances, or the error of "
            "the in-betweens that unbake fits, in mm."
        ),
    ] = None,
    interpolation: Annotated[
        Literal["bezier", "linear"] | None,
        Parameter(help="In-betweens measured by --cost inbetween: fitted curves, or straight lines."),
    ] = None,
    measure: Measure = None,
    min_gap_frames: MinGap = None,
    max_gap_frames: MaxGap = None,
    loop: Loop = False,
    threads: Threads = None,
    threshold: Annotated[
        float | None, Parameter(help="Error above which refine adds a key. Higher gives fewer keys.")
    ] = None,
    set_: Set = (),
    no_plot: Annotated[bool, Parameter(negative="", help="Do not plot the error curve.")] = False,
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

    Shows each key with its frame, time and importance, and a plot of the error
    for every number of keys. Set the number of keys with --keys, --tolerance-mm
    or --auto; the default is the method's own number, or --auto. Frames count
    from 0, as in keypose info.

    For example:
      keypose keys walk.bvh --keys 12
      keypose keys walk.bvh --tolerance-mm 5 --pin 30,88 --pin contacts
      keypose keys walk.bvh --range 100:400 --joints hands,head
      keypose keys walk.bvh --method farthest --keys 8 --weight hands=3
      keypose keys walk.bvh --json > walk-keys.json
    """
    from keypose.batch.file_discovery import discover_clips
    from keypose.batch.keys import KeysJob
    from keypose.cli import keys_run, option_parsers
    from keypose.cli.exit_codes import UsageError
    from keypose.cli.options import parse_load_options, parse_range, resolve_jobs

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    option_parsers.check_key_count(keys, tolerance_mm, auto=auto)
    options = option_parsers.parse_method_options(
        option_parsers.find_method(method),
        {
            "pins": option_parsers.parse_frames("--pin", pin, contacts=True),
            "excluded": option_parsers.parse_frames("--exclude", exclude),
            "objective": objective,
            "cost": cost,
            "interpolation": interpolation,
            "measure": measure,
            "min_gap_frames": min_gap_frames,
            "max_gap_frames": max_gap_frames,
            "loop": loop,
            "threads": threads,
            "threshold": threshold,
        },
        set_,
    )
    options |= option_parsers.drop_unset(
        {
            "max_keys": max_keys,
            "joints": option_parsers.parse_joints(joints),
            "weights": option_parsers.parse_weights(weight),
            "features": features,
            "smoothing_s": smoothing_s,
        }
    )
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    frames = parse_range(range_)
    inputs = discover_clips(files)
    work = [
        KeysJob(file.path, load_options, method, keys, tolerance_mm, auto, frames, options) for file in inputs.files
    ]
    is_single_file = len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]
    return keys_run.run(
        work, inputs.problems, resolve_jobs(jobs, len(work)), json=json, plot=not no_plot, is_single_file=is_single_file
    )
