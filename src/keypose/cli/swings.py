"""``keypose swings``: show, play and edit the swings of joints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.output_options import Overwrite, Quiet, SkipExisting, TargetFormat

FIND_GROUP, ACCURACY_GROUP, FILTER_GROUP, EDIT_GROUP, READ_GROUP, WRITE_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in enumerate(
        ("Finding swings", "Accuracy", "Filters", "Edits, applied in the order given", "Reading", "Writing"), 1
    )
)
Edits = tuple[str, ...]


def swings(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes; .swings.json too.")],
    output: Annotated[
        str | None,
        Parameter(
            name=("--output", "-o"),
            help="Write the played motion, or the swings as NAME.swings.json: a file for one file, a folder for more.",
        ),
        WRITE_GROUP,
    ] = None,
    to: Annotated[TargetFormat, WRITE_GROUP] = None,
    threshold: Annotated[
        float | None,
        Parameter(help="Maximum mean difference of axes within a swing, in radians. Default: 0.4."),
        FIND_GROUP,
    ] = None,
    metric: Annotated[
        Literal["angle", "cosine"] | None,
        Parameter(help="Difference of axes: their angle, or 1 minus its cosine. Default: angle."),
        FIND_GROUP,
    ] = None,
    smoothing_s: Annotated[
        float | None, Parameter(help="Width of the box filter of rotations, in seconds."), FIND_GROUP
    ] = None,
    window_s: Annotated[
        float | None, Parameter(help="Window for the change of the axis, in seconds."), FIND_GROUP
    ] = None,
    min_duration_s: Annotated[
        float | None, Parameter(help="Shorter swings are dropped, in seconds."), FIND_GROUP
    ] = None,
    rest_rad_per_s: Annotated[
        float | None, Parameter(help="Slower joints are at rest, in radians per second."), FIND_GROUP
    ] = None,
    left_out: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups stored frame by frame, or none. Default: fingers, thumbs, toes.",
        ),
        FIND_GROUP,
    ] = (),
    translation_mm: Annotated[
        float | None,
        Parameter(help="Maximum error of the curves of the hips' position, on a figure of 1.7 m. Default: 1."),
        FIND_GROUP,
    ] = None,
    fallback: Annotated[
        Literal["keys"] | None,
        Parameter(help="Use keys where swings are inaccurate: slow and still joints."),
        ACCURACY_GROUP,
    ] = None,
    fallback_deg: Annotated[
        float | None,
        Parameter(help="Error above which --fallback applies, in degrees of a joint's rotation. Default: 2.8."),
        ACCURACY_GROUP,
    ] = None,
    max_deg: Annotated[
        float | None,
        Parameter(help="Find the smallest swings, with keys, whose rotations are all within this error, in degrees."),
        ACCURACY_GROUP,
    ] = None,
    max_mm: Annotated[
        float | None,
        Parameter(
            help="Find the smallest swings whose joint positions are all within this error, on a figure of 1.7 m."
        ),
        ACCURACY_GROUP,
    ] = None,
    level: Annotated[
        float, Parameter(show_default=True, help="Fraction of swings to play, largest angles first."), ACCURACY_GROUP
    ] = 1.0,
    sweep: Annotated[
        bool,
        Parameter(negative="", help="Show size against error for thresholds from 0 to 2; for several files the means."),
        ACCURACY_GROUP,
    ] = False,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Joints, body parts or groups to show. Default: all that swing."),
        FILTER_GROUP,
    ] = (),
    index: Annotated[
        int | None, Parameter(help="The n-th swing of each joint, from 0; -1 is its last."), FILTER_GROUP
    ] = None,
    at_s: Annotated[
        float | None, Parameter(help="Swings that are active at this time, in seconds."), FILTER_GROUP
    ] = None,
    from_s: Annotated[float | None, Parameter(help="Swings that end at or after this time."), FILTER_GROUP] = None,
    to_s: Annotated[float | None, Parameter(help="Swings that start at or before this time."), FILTER_GROUP] = None,
    longer_s: Annotated[float | None, Parameter(help="Swings longer than this, in seconds."), FILTER_GROUP] = None,
    shorter_s: Annotated[float | None, Parameter(help="Swings shorter than this, in seconds."), FILTER_GROUP] = None,
    wider_deg: Annotated[float | None, Parameter(help="Swings with a larger angle, in degrees."), FILTER_GROUP] = None,
    narrower_deg: Annotated[
        float | None, Parameter(help="Swings with a smaller angle, in degrees."), FILTER_GROUP
    ] = None,
    scale: Annotated[
        Edits, Parameter(negative="", help="Scale the angles of swings, JOINTS=FACTOR: right_leg=1.3."), EDIT_GROUP
    ] = (),
    intensify: Annotated[
        Edits,
        Parameter(negative="", help="Scale all movement of joints, JOINTS=FACTOR; below 1 is weaker."),
        EDIT_GROUP,
    ] = (),
    set_angle: Annotated[
        Edits, Parameter(negative="", help="Set the angle of swings, JOINTS=DEGREES."), EDIT_GROUP
    ] = (),
    shift: Annotated[
        Edits, Parameter(negative="", help="Move swings in time, JOINTS=SECONDS: left_arm=-0.1 is earlier."), EDIT_GROUP
    ] = (),
    lengthen: Annotated[
        Edits, Parameter(negative="", help="Scale the duration of swings, JOINTS=FACTOR."), EDIT_GROUP
    ] = (),
    retime: Annotated[
        Edits,
        Parameter(
            negative="",
            help="Scale the duration of everything, FACTOR, or of joints, JOINTS=FACTOR; or from --from-s to --to-s.",
        ),
        EDIT_GROUP,
    ] = (),
    delete: Annotated[Edits, Parameter(negative="", help="Delete swings, JOINTS."), EDIT_GROUP] = (),
    mirror_copy: Annotated[
        Edits, Parameter(negative="", help="Copy swings to the same joints of the other side, JOINTS."), EDIT_GROUP
    ] = (),
    keep_feet: Annotated[
        bool | None,
        Parameter(
            negative="--no-keep-feet",
            help="Keep feet that stood on the ground in place. Default if an edit affects legs or hips.",
        ),
        EDIT_GROUP,
    ] = None,
    no_detail: Annotated[
        bool,
        Parameter(
            negative="",
            help="Edit the played swings instead of the capture: detail that swings omit is lost.",
        ),
        EDIT_GROUP,
    ] = False,
    range_: Annotated[Range, READ_GROUP] = None,
    fps: Annotated[
        float | None,
        Parameter(help="Resample the capture to this frame rate first. Default: unchanged."),
        READ_GROUP,
    ] = None,
    reference_pose: Annotated[ReferencePose, READ_GROUP] = "auto",
    asf: Annotated[Asf, READ_GROUP] = None,
    gaps: Annotated[Gaps, READ_GROUP] = "fill",
    animation: Annotated[Animation, READ_GROUP] = None,
    read_fps: Annotated[ReadFps, READ_GROUP] = None,
    limit: Annotated[LimitOption, READ_GROUP] = (),
    overwrite: Annotated[Overwrite, WRITE_GROUP] = False,
    skip_existing: Annotated[SkipExisting, WRITE_GROUP] = False,
    jobs: Annotated[Jobs, WRITE_GROUP] = None,
    json: Annotated[Json, WRITE_GROUP] = False,
    quiet: Annotated[Quiet, WRITE_GROUP] = False,
) -> int:
    """Show, play and edit the swings of motion files.

    A swing is a rotation of a joint about nearly one axis. Shows the swings of
    each joint and their times, the error of the motion played from them, and the
    stored size. With -o the played motion is written; with an edit it is the
    edited capture. With -o NAME.swings.json the swings themselves are written,
    which can be edited again.

    For example:
      keypose swings kick.bvh
      keypose swings kick.bvh --joints right_leg --longer-s 0.2
      keypose swings kick.bvh --scale right_leg=1.3 -o out.bvh
      keypose swings kick.bvh --from-s 1 --to-s 2 --shift arms=0.1 -o out.bvh
      keypose swings walk.bvh --retime 1.5 --intensify arms=0.6 -o calm.bvh
      keypose swings kick.bvh --retime 1.5 --from-s 0.5 --to-s 1.5 -o slow.bvh
      keypose swings walk.bvh --fallback keys -o walk.swings.json
      keypose swings takes/ --json > swings.json
    """
    from keypose.batch.file_discovery import SWINGS_SUFFIXES, discover_clips
    from keypose.batch.pool import CLIPS_PER_WORKER
    from keypose.batch.swing_edit import SwingEditJob
    from keypose.batch.swings import SwingsJob, SwingsLoader
    from keypose.cli import swings_options, swings_run
    from keypose.cli.exit_codes import UsageError
    from keypose.cli.option_parsers import parse_names
    from keypose.cli.options import check_fps, parse_load_options, parse_range, resolve_jobs
    from keypose.cli.output_options import build_plan, parse_existing_policy

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    options = swings_options.drop_unset(
        {
            "threshold": threshold,
            "metric": metric,
            "smoothing_s": smoothing_s,
            "window_s": window_s,
            "min_duration_s": min_duration_s,
            "rest_rad_per_s": rest_rad_per_s,
            "left_out": swings_options.parse_left_out(left_out),
            "fallback": fallback,
            "fallback_deg": fallback_deg,
            "translation_mm": translation_mm,
        }
    )
    filters = swings_options.drop_unset(
        {
            "index": index,
            "at_s": at_s,
            "from_s": from_s,
            "to_s": to_s,
            "longer_s": longer_s,
            "shorter_s": shorter_s,
            "wider_deg": wider_deg,
            "narrower_deg": narrower_deg,
        }
    )
    steps = swings_options.parse_steps(
        {
            "--scale": scale,
            "--intensify": intensify,
            "--set-angle": set_angle,
            "--shift": shift,
            "--lengthen": lengthen,
            "--retime": retime,
            "--delete": delete,
            "--mirror-copy": mirror_copy,
        }
    )
    swings_options.check_modes(
        sweep=sweep,
        bounds={"--max-deg": max_deg, "--max-mm": max_mm},
        options=options,
        others={
            "--level": level != 1,
            "--joints": joints,
            **{swings_options.option_flag(name): True for name in filters},
        },
    )
    swings_options.check_edits(steps, filters, output)
    swings_options.check_detail(steps, no_detail=no_detail)
    swings_options.check_output_options(
        output,
        view_options={"--sweep": sweep, "--joints": joints},
        write_options={
            "--to": to,
            "--keep-feet": keep_feet is not None,
            "--overwrite": overwrite,
            "--skip-existing": skip_existing,
            "--quiet": quiet,
        },
    )
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    finding = SwingsLoader(load_options, parse_range(range_), check_fps(fps, "--fps"), options, max_deg, max_mm)
    share = swings_options.check_level(level)
    inputs = discover_clips(files)
    if output is None:
        joint_names = parse_names("--joints", joints) if joints else ("all",)
        is_single_file = len(files) == 1 and [str(file.path) for file in inputs.files] == [str(Path(files[0]))]
        with_swings = json or is_single_file or bool(filters)
        work = [SwingsJob(file.path, finding, share, joint_names, filters, sweep, with_swings) for file in inputs.files]
        # starting a worker takes less time than trying many thresholds on a clip
        is_slow = sweep or max_deg is not None or max_mm is not None
        workers = resolve_jobs(jobs, len(work) * (CLIPS_PER_WORKER if is_slow else 1))
        return swings_run.show_swings(work, inputs.problems, workers, json=json, is_single_file=is_single_file)
    existing_policy = parse_existing_policy(overwrite=overwrite, skip_existing=skip_existing)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, files, output, to, existing_policy, "swings", SWINGS_SUFFIXES)
    play_jobs = [
        SwingEditJob(t.source, t.target, finding, share, steps, filters, keep_feet, not no_detail) for t in plan.targets
    ]
    swings_options.check_level_of_edits(play_jobs)
    return swings_run.write_motions(play_jobs, plan.skipped, resolve_jobs(jobs, len(play_jobs)), json=json, quiet=quiet)
