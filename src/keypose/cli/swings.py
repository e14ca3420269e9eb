"""``keypose swings``: what each joint does, as swings; to look at, to play and to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet, SkipExisting, To

FINDING, CLOSENESS, WHICH, EDITING, READING, WRITING = (
    Parameter(group=Group(title, sort_key=place))
    for place, title in enumerate(
        ("Finding swings", "How close", "Which swings", "Edits, done in the order given", "Reading", "Writing"), 1
    )
)
Edits = tuple[str, ...]


def swings(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes; .swings.json too.")],
    output: Annotated[
        str | None,
        Parameter(
            name=("--output", "-o"),
            help="Write the played motion, or as NAME.swings.json the swings: a file for one file, a folder for more.",
        ),
        WRITING,
    ] = None,
    to: Annotated[To, WRITING] = None,
    threshold: Annotated[
        float | None,
        Parameter(help="How far axes may differ within a swing, in radians on average. Otherwise 0.4."),
        FINDING,
    ] = None,
    metric: Annotated[
        Literal["angle", "cosine"] | None,
        Parameter(help="How they differ: by their angle, or by 1 minus its cosine. Otherwise angle."),
        FINDING,
    ] = None,
    smoothing_s: Annotated[float | None, Parameter(help="The box that smooths turning, in seconds."), FINDING] = None,
    window_s: Annotated[
        float | None, Parameter(help="The window that tells where an axis is steady, in seconds."), FINDING
    ] = None,
    least_s: Annotated[float | None, Parameter(help="Shorter swings are dropped, in seconds."), FINDING] = None,
    rest_rad_per_s: Annotated[
        float | None, Parameter(help="Slower joints are at rest, in radians per second."), FINDING
    ] = None,
    left_out: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups that are kept frame by frame, or none. Otherwise fingers, thumbs, toes.",
        ),
        FINDING,
    ] = (),
    translation_mm: Annotated[
        float | None,
        Parameter(help="How far the curves that keep the hips' way may be off, on a figure of 1.7 m. Otherwise 1."),
        FINDING,
    ] = None,
    fallback: Annotated[
        Literal["keys"] | None,
        Parameter(help="Keep by keys what swings describe badly: slow and still joints."),
        CLOSENESS,
    ] = None,
    fallback_deg: Annotated[
        float | None, Parameter(help="How far off is badly, in degrees of a joint's turn. Otherwise 2.8."), CLOSENESS
    ] = None,
    within_deg: Annotated[
        float | None,
        Parameter(help="The smallest swings, with keys, that leave no joint's turn farther off, in degrees."),
        CLOSENESS,
    ] = None,
    within_mm: Annotated[
        float | None,
        Parameter(help="The smallest that leave no joint farther off in the world, on a figure of 1.7 m."),
        CLOSENESS,
    ] = None,
    level: Annotated[
        float, Parameter(show_default=True, help="The share of swings to play, largest angles first."), CLOSENESS
    ] = 1.0,
    sweep: Annotated[
        bool,
        Parameter(negative="", help="Show size against error for thresholds from 0 to 2; of several files the means."),
        CLOSENESS,
    ] = False,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Joints, body parts or groups to show. Otherwise all that swing."),
        WHICH,
    ] = (),
    index: Annotated[int | None, Parameter(help="The n-th swing of each joint, from 0; -1 is its last."), WHICH] = None,
    at_s: Annotated[float | None, Parameter(help="Swings that go on at this time, in seconds."), WHICH] = None,
    from_s: Annotated[float | None, Parameter(help="Swings of which any part is at or after this."), WHICH] = None,
    to_s: Annotated[float | None, Parameter(help="Swings of which any part is at or before this."), WHICH] = None,
    longer_s: Annotated[float | None, Parameter(help="Swings that last longer, in seconds."), WHICH] = None,
    shorter_s: Annotated[float | None, Parameter(help="Swings that last less long, in seconds."), WHICH] = None,
    wider_deg: Annotated[float | None, Parameter(help="Swings by a larger angle, in degrees."), WHICH] = None,
    narrower_deg: Annotated[float | None, Parameter(help="Swings by a smaller angle, in degrees."), WHICH] = None,
    scale: Annotated[
        Edits, Parameter(negative="", help="Scale the angles of swings, JOINTS=FACTOR: right_leg=1.3."), EDITING
    ] = (),
    intensify: Annotated[
        Edits,
        Parameter(negative="", help="Make all that joints do more forceful, or gentler below 1, JOINTS=FACTOR."),
        EDITING,
    ] = (),
    set_angle: Annotated[Edits, Parameter(negative="", help="Give swings an angle, JOINTS=DEGREES."), EDITING] = (),
    shift: Annotated[
        Edits, Parameter(negative="", help="Move swings in time, JOINTS=SECONDS: left_arm=-0.1 is earlier."), EDITING
    ] = (),
    lengthen: Annotated[
        Edits, Parameter(negative="", help="Let swings last longer, or shorter below 1, JOINTS=FACTOR."), EDITING
    ] = (),
    retime: Annotated[
        Edits,
        Parameter(
            negative="",
            help="Let all take longer, FACTOR, or what some joints do, JOINTS=FACTOR; or from --from-s to --to-s.",
        ),
        EDITING,
    ] = (),
    delete: Annotated[Edits, Parameter(negative="", help="Take swings out, JOINTS."), EDITING] = (),
    mirror_copy: Annotated[
        Edits, Parameter(negative="", help="Copy swings to the same joints of the other side, JOINTS."), EDITING
    ] = (),
    keep_feet: Annotated[
        bool | None,
        Parameter(
            negative="--no-keep-feet",
            help="Feet that stood on the ground stay there. So it is by itself where an edit concerns legs or hips.",
        ),
        EDITING,
    ] = None,
    no_detail: Annotated[
        bool,
        Parameter(
            negative="",
            help="Edit what the swings play, instead of the capture: what they leave out of it is gone.",
        ),
        EDITING,
    ] = False,
    range_: Annotated[Range, READING] = None,
    fps: Annotated[
        float | None,
        Parameter(help="Bring the capture to this frame rate first. Otherwise it stays as it is."),
        READING,
    ] = None,
    reference_pose: Annotated[ReferencePose, READING] = "auto",
    asf: Annotated[Asf, READING] = None,
    gaps: Annotated[Gaps, READING] = "fill",
    animation: Annotated[Animation, READING] = None,
    read_fps: Annotated[ReadFps, READING] = None,
    limit: Annotated[LimitOption, READING] = (),
    overwrite: Annotated[Overwrite, WRITING] = False,
    skip_existing: Annotated[SkipExisting, WRITING] = False,
    jobs: Annotated[Jobs, WRITING] = None,
    json: Annotated[Json, WRITING] = False,
    quiet: Annotated[Quiet, WRITING] = False,
) -> int:
    """Show, play and edit the swings of motion files.

    A swing is a joint turning about nearly one axis. Shows for each joint its
    swings and when they are, how far a motion played from them is off, and how
    small it is stored. With -o the played motion is written; with an edit it is
    the capture, changed as the edit says. As NAME.swings.json the swings
    themselves are written, which can be edited again.

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
    from keypose.batch.inputs import SWINGS_SUFFIXES, expand
    from keypose.batch.pool import CLIPS_PER_WORKER
    from keypose.batch.swings import Finding, SwingsWanted
    from keypose.batch.swings_edit import Playing
    from keypose.cli import swings_options as told
    from keypose.cli import swings_run
    from keypose.cli.exits import UsageError
    from keypose.cli.keys_options import names_from
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from
    from keypose.cli.targets import existing_from, plan_from

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    options = told.given(
        {
            "threshold": threshold,
            "metric": metric,
            "smoothing_s": smoothing_s,
            "window_s": window_s,
            "least_s": least_s,
            "rest_rad_per_s": rest_rad_per_s,
            "left_out": told.left_out_from(left_out),
            "fallback": fallback,
            "fallback_deg": fallback_deg,
            "translation_mm": translation_mm,
        }
    )
    which = told.given(
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
    steps = told.steps_from(
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
    told.check_modes(
        sweep=sweep,
        within={"--within-deg": within_deg, "--within-mm": within_mm},
        options=options,
        others={"--level": level != 1, "--joints": joints, **{told.flag_of(name): True for name in which}},
    )
    told.check_edits(steps, which, output)
    told.check_detail(steps, no_detail=no_detail)
    told.check_writing(
        output,
        showing={"--sweep": sweep, "--joints": joints},
        writing={
            "--to": to,
            "--keep-feet": keep_feet is not None,
            "--overwrite": overwrite,
            "--skip-existing": skip_existing,
            "--quiet": quiet,
        },
    )
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    finding = Finding(reading, range_from(range_), fps_from(fps, "--fps"), options, within_deg, within_mm)
    share = told.level_from(level)
    inputs = expand(files)
    if output is None:
        only = names_from("--joints", joints) if joints else ("all",)
        one_file = len(files) == 1 and [str(file.path) for file in inputs.files] == [str(Path(files[0]))]
        whole = json or one_file or bool(which)
        work = [SwingsWanted(file.path, finding, share, only, which, sweep, whole) for file in inputs.files]
        # a worker starts sooner than a clip is tried at many thresholds
        tries = sweep or within_deg is not None or within_mm is not None
        workers = jobs_from(jobs, len(work) * (CLIPS_PER_WORKER if tries else 1))
        return swings_run.show(work, inputs.problems, workers, json=json, one_file=one_file)
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_from(inputs, files, output, to, existing, "swings", SWINGS_SUFFIXES)
    playing = [
        Playing(t.source, t.target, finding, share, steps, which, keep_feet, not no_detail) for t in plan.targets
    ]
    told.check_level(playing)
    return swings_run.write(playing, plan.skipped, jobs_from(jobs, len(playing)), json=json, quiet=quiet)
