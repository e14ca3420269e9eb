"""``keypose swings``: show, play and edit the swings of joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from keypose.batch.file_discovery import SWINGS_SUFFIXES, discover_clips
from keypose.batch.plan import Target
from keypose.batch.pool import CLIPS_PER_WORKER
from keypose.batch.swing_edit import EditStep, SwingEditJob, SwingEditResult, edit_clip_swings
from keypose.batch.swings import SwingsJob, SwingsLoader, SwingsResult, find_clip_swings
from keypose.cli import output, swings_view
from keypose.cli.clip_view import common_folder
from keypose.cli.commands import option_order
from keypose.cli.options import (
    DEFAULT_LOAD,
    Flags,
    LoadFlags,
    Range,
    ResampleFps,
    check_fps,
    parse_names,
    parse_range,
    resolve_jobs,
    with_flags,
)
from keypose.cli.output import UsageError, conflict_error, format_bytes, missing_argument_error
from keypose.cli.runner import (
    DEFAULT_WRITE,
    RunResult,
    TargetFormat,
    WriteFlags,
    build_plan,
    collect_results,
    print_results,
    run_read_jobs,
    run_write_jobs,
)
from keypose.errors import FileError
from keypose.options import SwingBoundOptions, SwingEditOptions, SwingFilterOptions, SwingOptions

Edits = tuple[str, ...]
FALLBACK_OPTIONS = ("fallback", "fallback_deg")
# Each edit and its value besides joints; edits are applied in command line order.
EDITS = {
    "--scale": "FACTOR",
    "--intensify": "FACTOR",
    "--set-angle": "DEGREES",
    "--shift": "SECONDS",
    "--lengthen": "FACTOR",
    "--retime": "FACTOR",
    "--delete": None,
    "--mirror-copy": None,
}
EXAMPLES = {"FACTOR": "right_leg=1.3", "DEGREES": "head=20", "SECONDS": "left_arm=-0.1"}
# Edits of whole joints instead of single swings, with the filters that they accept.
JOINT_EDITS: dict[str, tuple[str, ...]] = {"--intensify": (), "--retime": ("from_s", "to_s")}
FIND_GROUP, ACCURACY_GROUP, FILTER_GROUP, EDIT_GROUP, READ_GROUP, WRITE_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in enumerate(
        ("Finding swings", "Accuracy", "Filters", "Edits, applied in the order given", "Reading", "Writing"), 1
    )
)


@with_flags(omit=FALLBACK_OPTIONS)
class SwingFlags(Flags, SwingOptions):
    """How swings are found."""


@with_flags(only=FALLBACK_OPTIONS)
class FallbackFlags(Flags, SwingOptions):
    """Keys where swings are inaccurate."""


@with_flags()
class SwingBoundFlags(Flags, SwingBoundOptions):
    """The errors within which the smallest swings are found."""


@with_flags()
class SwingEditFlags(Flags, SwingEditOptions):
    """How joints return to their motion beside edited swings."""


@with_flags()
class SwingFilterFlags(Flags, SwingFilterOptions):
    """Which swings are selected."""


DEFAULT_SWINGS, DEFAULT_FALLBACK, DEFAULT_BOUNDS = SwingFlags(), FallbackFlags(), SwingBoundFlags()
DEFAULT_FILTERS, DEFAULT_EDIT = SwingFilterFlags(), SwingEditFlags()


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
    find: Annotated[SwingFlags, FIND_GROUP] = DEFAULT_SWINGS,
    fallback: Annotated[FallbackFlags, ACCURACY_GROUP] = DEFAULT_FALLBACK,
    bounds: Annotated[SwingBoundFlags, ACCURACY_GROUP] = DEFAULT_BOUNDS,
    level: Annotated[
        float, Parameter(show_default=True, help="Fraction of swings to play, largest angles first."), ACCURACY_GROUP
    ] = 1.0,
    sweep: Annotated[
        bool,
        Parameter(negative="", help="Show size against error for thresholds from 0 to 2; for several files the means."),
        ACCURACY_GROUP,
    ] = False,
    actions: Annotated[
        bool,
        Parameter(
            negative="",
            help="List actions instead of joints: steps, kicks, turns and others, with the limbs that lead and follow.",
        ),
        FILTER_GROUP,
    ] = False,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Joints, body parts or groups to show. Default: all that swing."),
        FILTER_GROUP,
    ] = (),
    filter_: Annotated[SwingFilterFlags, FILTER_GROUP] = DEFAULT_FILTERS,
    scale: Annotated[
        Edits,
        Parameter(negative="", help="Scale the angles of swings, JOINTS=FACTOR, such as right_leg=1.3."),
        EDIT_GROUP,
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
        Edits, Parameter(negative="", help="Move swings in time, JOINTS=SECONDS; left_arm=-0.1 is earlier."), EDIT_GROUP
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
    edit: Annotated[SwingEditFlags, EDIT_GROUP] = DEFAULT_EDIT,
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
    fps: Annotated[ResampleFps, READ_GROUP] = None,
    load: Annotated[LoadFlags, READ_GROUP] = DEFAULT_LOAD,
    write: Annotated[WriteFlags, WRITE_GROUP] = DEFAULT_WRITE,
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
      keypose swings kick.bvh --actions
      keypose swings kick.bvh --scale right_leg=1.3 -o stronger.bvh
      keypose swings kick.bvh --from-s 1 --to-s 2 --shift arms=0.1 -o later.bvh
      keypose swings walk.bvh --retime 1.5 --intensify arms=0.6 -o calm.bvh
      keypose swings kick.bvh --retime 1.5 --from-s 0.5 --to-s 1.5 -o slow.bvh
      keypose swings walk.bvh --fallback keys -o walk.swings.json
      keypose swings takes/ --json > swings.json
    """
    if not files:
        raise missing_argument_error("no file named", "at least one file, folder or pattern")
    options = find.typed_options() | fallback.typed_options()
    filters = filter_.typed_options()
    steps = parse_steps(
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
    check_modes(
        sweep=sweep,
        bounds=bounds,
        options=options,
        others={
            "--level": level != 1,
            "--joints": joints,
            "--actions": actions,
            **{_flag(name): True for name in filters},
        },
    )
    check_edits(steps, filters, output)
    check_detail(steps, no_detail=no_detail)
    check_output_options(
        output,
        view_options={"--sweep": sweep, "--joints": joints, "--actions": actions},
        write_options={
            "--to": to,
            "--keep-feet": keep_feet is not None,
            **{_flag(name): True for name in edit.typed_options()},
            "--overwrite": write.overwrite,
            "--skip-existing": write.skip_existing,
            "--quiet": write.quiet,
        },
    )
    load_options = load.load_options()
    loader = SwingsLoader(load_options, parse_range(range_), check_fps(fps), options, bounds.max_deg, bounds.max_mm)
    share = check_level(level)
    inputs = discover_clips(files)
    if output is None:
        joint_names = parse_names("--joints", joints) if joints else ("all",)
        is_single_file = len(files) == 1 and [str(file.path) for file in inputs.files] == [str(Path(files[0]))]
        if actions and (joints or filters):
            other = "--joints" if joints else _flag(next(iter(filters)))
            raise conflict_error("--actions", other, "it lists actions of the whole body")
        with_swings = write.json or is_single_file or bool(filters)
        work = [
            SwingsJob(file.path, loader, share, joint_names, filters, actions, sweep, with_swings)
            for file in inputs.files
        ]
        # starting a worker takes less time than trying many thresholds on a clip
        is_slow = sweep or bounds.max_deg is not None or bounds.max_mm is not None
        workers = resolve_jobs(write.jobs, len(work) * (CLIPS_PER_WORKER if is_slow else 1))
        return show_swings(work, inputs.problems, workers, json=write.json, is_single_file=is_single_file)
    existing_policy = write.existing_policy()
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, files, output, to, existing_policy, "swings", SWINGS_SUFFIXES)
    play_jobs = [
        SwingEditJob(t.source, t.target, loader, share, steps, filters, keep_feet, not no_detail, edit.return_s)
        for t in plan.targets
    ]
    check_level_of_edits(play_jobs)
    workers = resolve_jobs(write.jobs, len(play_jobs))
    return write_motions(play_jobs, plan.skipped, workers, json=write.json, quiet=write.quiet)


def show_swings(
    work: Sequence[SwingsJob], problems: Sequence[FileError], n_workers: int, *, json: bool, is_single_file: bool
) -> int:
    """Find the swings of all clips and print them; return the exit code."""
    outcomes = run_read_jobs("Finding", find_clip_swings, work, n_workers, json=json)
    return print_results(
        work,
        outcomes,
        problems,
        lambda: [swings_view.clip_document(work[o.index], o) for o in outcomes],
        lambda: _print_clips(collect_results(work, outcomes), is_single_file=is_single_file),
        lambda: swings_view.mean_sweep_documents([o.value for o in outcomes if o.value is not None]),
        json=json,
        is_single_file=is_single_file,
    )


def _print_clips(clips: Sequence[tuple[SwingsJob, SwingsResult]], *, is_single_file: bool) -> None:
    out = output.stdout_console()
    has_lists = any(clip.matches is not None or clip.actions is not None for _, clip in clips)
    if clips and not is_single_file and not has_lists:
        build_overview = swings_view.build_sweep_tables if clips[0][1].sweep is not None else swings_view.build_table
        output.print_renderable(build_overview([clip for _, clip in clips], out.width))
        return
    for n, (job, clip) in enumerate(clips):
        if n:
            output.print_line("")
        output.print_renderable(swings_view.build_view(clip, job, out.width, plain=not out.encoding.startswith("utf")))


def write_motions(
    work: Sequence[SwingEditJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool
) -> int:
    """Play or edit all clips and write them; return the exit code."""
    run_result = run_write_jobs("Playing", edit_clip_swings, work, skipped, n_workers, json=json, quiet=quiet)
    if json:
        output.print_json(run_result.document("written", swings_view.written_document))
    elif not quiet:
        run_result.print_notes(lambda result: result.notes)
        _print_written(run_result)
    return run_result.finish(json=json)


def _print_written(run_result: RunResult[SwingEditJob, SwingEditResult]) -> None:
    results = run_result.results
    if len(run_result.work) == 1 and results:
        output.print_renderable(swings_view.written_block(*results[0], run_result.seconds))
        return
    if results:
        output.print_renderable(swings_view.written_table(results, output.stdout_console().width))
    phrases = run_result.count_phrases("written")
    if results:
        folder = common_folder([str(job.target) for job, _ in results]) or "."
        phrases.append(f"to {folder}: {format_bytes(sum(result.bytes for _, result in results))}")
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))


def parse_steps(texts_by_option: Mapping[str, Sequence[str]]) -> tuple[EditStep, ...]:
    """Return the edits in command line order; ``texts_by_option`` has the values of each option."""
    remaining = {option: list(texts) for option, texts in texts_by_option.items()}
    counts = {option: len(texts) for option, texts in remaining.items() if texts}
    order = option_order(EDITS)
    if {option: order.count(option) for option in order} != counts:  # not called from a command line
        order = [option for option, count in counts.items() for _ in range(count)]
    steps = []
    for option in order:
        text = remaining[option].pop(0)
        joints, amount = _parse_edit(option, text)
        steps.append(EditStep(option[2:].replace("-", "_"), joints, amount, f"{option} {text}"))
    return tuple(steps)


def _parse_edit(option: str, text: str) -> tuple[tuple[str, ...], float | None]:
    """Parse ``right_leg,head=1.3`` into joints and a number."""
    amount_name = EDITS[option]
    if amount_name is None:
        return parse_names(option, [text]), None
    names, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if option == "--retime" and not equals:
        names = "all"
    if not names or not math.isfinite(amount):
        alone = ", or FACTOR alone for all joints" if option == "--retime" else ""
        raise UsageError(
            option=option, value=text, expected=f"JOINTS={amount_name}, such as {EXAMPLES[amount_name]}{alone}"
        )
    return parse_names(option, [names]), amount


def check_edits(steps: Sequence[EditStep], filters: Mapping[str, Any], out: str | None) -> None:
    """Raise UsageError if an edit has no output, or filters are given without an edit that accepts them."""
    if out == "":
        raise missing_argument_error("-o is empty", "a file or a folder", ". is the current folder")
    if steps and out is None:
        raise missing_argument_error(f"{steps[0].text}: no output named", "-o OUT, such as -o edited.bvh")
    if not filters or out is None:
        return
    if not steps:
        option = _flag(next(iter(filters)))
        raise UsageError(
            "says which swings an edit means",
            option=option,
            value=True,
            expected="one, such as --scale right_leg=1.3",
            hint="without -o the swings that fit are listed",
        )
    for step in steps:
        option = step.text.split()[0]
        unused = [name for name in filters if name not in JOINT_EDITS.get(option, filters)]
        if unused:
            raise UsageError(
                f"{step.text}: changes all swings of a joint, but {_flag(unused[0])} selects some of them",
                code="conflicting_options",
                expected=f"{_alternative(option)}, such as --scale or --lengthen",
            )


def _alternative(option: str) -> str:
    times = " and ".join(_flag(name) for name in JOINT_EDITS[option])
    return f"no more than {times}, or another edit" if times else "another edit"


def check_modes(
    *, sweep: bool, bounds: SwingBoundOptions, options: Mapping[str, Any], others: Mapping[str, Any]
) -> None:
    """Raise UsageError for options that contradict each other. ``others`` are options that a sweep ignores."""
    errors = {"--max-deg": bounds.max_deg, "--max-mm": bounds.max_mm}
    given_bounds = {option: value for option, value in errors.items() if value is not None}
    for option, value in given_bounds.items():
        if not 0 < value < math.inf:
            raise UsageError(option=option, value=value, expected="a number above 0")
    modes = [*(["--sweep"] if sweep else []), *given_bounds]
    if not modes:
        return
    automatic = ["threshold"] if sweep else ["threshold", "fallback", "fallback_deg"]
    unused = [*modes[1:], *(_flag(name) for name in automatic if name in options)]
    unused += [option for option, is_set in others.items() if is_set] if sweep else []
    if unused:
        reason = "it shows all thresholds" if sweep else "it chooses these by itself"
        raise conflict_error(modes[0], unused[0], reason)


def check_output_options(out: str | None, *, view_options: Mapping[str, Any], write_options: Mapping[str, Any]) -> None:
    """Raise UsageError for write options without an output, and for view options with one."""
    for option, is_set in (view_options if out is not None else write_options).items():
        if is_set and out is None:
            raise UsageError("applies to the written file", option=option, value=True, expected="-o OUT as well")
        if is_set:
            raise UsageError(
                "applies to the printed tables, but with -o a file is written",
                option=option,
                value=True,
                expected="only one of the two",
            )


def check_level(level: float) -> float:
    """Return ``level``; raise UsageError if it is not from 0 to 1."""
    if not 0 <= level <= 1:
        raise UsageError(option="level", value=level, expected="a share from 0 to 1")
    return level


def _flag(keyword: str) -> str:
    """Return the flag of an option: ``--from-s``."""
    return f"--{keyword.replace('_', '-')}"


def check_detail(steps: Sequence[Any], *, no_detail: bool) -> None:
    """Raise UsageError if --no-detail is given without an edit."""
    if no_detail and not steps:
        raise UsageError(
            "says what is edited, but there is no edit",
            option="no_detail",
            value=True,
            expected="one, such as --scale right_leg=1.3",
        )


def check_level_of_edits(play_jobs: Iterable[SwingEditJob]) -> None:
    """Raise UsageError if --level is given for an edit on top of a whole capture."""
    for job in play_jobs:
        if job.level != 1 and job.over_capture:
            raise UsageError(
                f"plays fewer swings, but edits go on top of the whole capture {job.source}",
                option="level",
                value=True,
                hint="add --no-detail",
            )
