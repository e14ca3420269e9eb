"""``keypose unbake``: turn dense motion into a few editable key poses with fitted curves."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from cyclopts import Group, Parameter
from rich import console
from rich.console import RenderableType
from rich.text import Text

from keypose.batch.file_discovery import (
    KEYS_SUFFIXES,
    AnimationName,
    ClipFile,
    discover_clips,
    split_animations,
    stem,
)
from keypose.batch.plan import Target, target_format
from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
from keypose.batch.unbake import (
    DEFAULT_METHOD,
    FAR_MM,
    UnbakeJob,
    UnbakeResult,
    is_automatic,
    is_far,
    plan_keys_files,
    unbake_clip,
    write_shared_targets,
)
from keypose.cli import messages, output
from keypose.cli.clip_view import common_folder, score_document
from keypose.cli.key_options import DEFAULT_UNBAKE, KEYS_GROUP, READ_GROUP, UnbakeFlags
from keypose.cli.options import (
    DEFAULT_CHARACTER,
    CharacterFlags,
    Flags,
    Repair,
    check_fps,
    parse_range,
    resolve_jobs,
    with_flags,
)
from keypose.cli.output import Column, conflict_error, escape_unprintable, format_bytes, format_duration, labelled_rows
from keypose.cli.runner import (
    DEFAULT_WRITE,
    InAndOut,
    RunResult,
    TargetFormat,
    WriteFlags,
    build_plan,
    run_write_jobs,
    split_paths,
)
from keypose.curves.capture_faults import describe_flips
from keypose.errors import format_count
from keypose.formats import blend, find_format, keys_json
from keypose.metrics import MAX_SLIDE_RATIO, Score
from keypose.model import note_code
from keypose.options import UnbakeOptions

WRITE_GROUP = Parameter(group=Group("Writing", sort_key=6))
MAX_FRAMES, MAX_JOINTS = 24, 8  # key frames or joints listed
OPTIONAL_HEADINGS = ("written", "mean deg", "max deg", "frames", "slide")  # dropped in this order on a narrow terminal
SLIDE_LEGEND = "slide: how far standing feet slide, against the capture"
FLIP_MARK = "*"
FLIP_TEXT = ", a flip of the capture"
FLIP_NOTE = "the capture turns a joint over for a few frames"
MAX_NAMES = 3  # joints or clips listed


@with_flags(only=("per",))
class PerFlags(Flags, UnbakeOptions):
    """Whether joints share their keys."""


DEFAULT_PER = PerFlags()


@with_flags(only=("residual",))
class DetailFlags(Flags, UnbakeOptions):
    """Whether the detail that the curves omit is stored."""


DEFAULT_DETAIL = DetailFlags()


def unbake(
    *paths: InAndOut,
    to: Annotated[TargetFormat, WRITE_GROUP] = None,
    detail: Annotated[DetailFlags, WRITE_GROUP] = DEFAULT_DETAIL,
    no_keys: Annotated[
        bool,
        Parameter(negative="", help="Do not write the lossless NAME.keys.json beside each result."),
        WRITE_GROUP,
    ] = False,
    into_: Annotated[CharacterFlags, WRITE_GROUP] = DEFAULT_CHARACTER,
    all_animations: Annotated[
        bool,
        Parameter(
            negative="",
            help="Unbake every animation of files with several, each to a file of its own (NAME-ANIMATION); "
            "with --into to the same file.",
        ),
    ] = False,
    per_: Annotated[PerFlags, KEYS_GROUP] = DEFAULT_PER,
    repair: Annotated[Repair, READ_GROUP] = False,
    flags: UnbakeFlags = DEFAULT_UNBAKE,
    write: Annotated[WriteFlags, WRITE_GROUP] = DEFAULT_WRITE,
) -> int:
    """Unbake dense motion into a few editable key poses.

    Chooses the keys, fits curves between them, and writes an animation that
    stays close to the capture. Set the number of keys with --keys,
    --tolerance-mm or --auto. Beside OUT it writes NAME.keys.json, which also
    holds the captured detail between the keys: after the edit, keypose rebake
    adds it back.

    To edit the keys in Blender, write .blend, which keeps them and their
    curves. GLB keeps both too, but Blender's import drops the tangents unless
    an add-on is installed. FBX, BVH and others get every frame of the unbaked
    motion: see keypose formats.

    For example:
      keypose unbake walk.bvh walk.glb --keys 24
      keypose unbake walk.bvh walk-5mm.glb --tolerance-mm 5 --pin contacts
      keypose unbake takes/ out/ --to glb
      keypose unbake walk.bvh walk.blend --rotation euler --weight hands=3
      keypose unbake walk.bvh walk-farthest.glb --method farthest --keys 8
      keypose unbake walk.bvh walk-joints.glb --per joint --tolerance-mm 5
      keypose unbake walk.bvh walk-refine.blend --per joint --method refine
      keypose unbake hero.glb idle.glb --animation Idle --into hero.glb
      keypose unbake hero.glb all.glb --all-animations --into hero.glb
    """
    names, out = split_paths(paths, "unbake")
    existing_policy = write.existing_policy()
    key_options = flags.key_options()
    curve_options = per_.typed_options() | flags.curve_options(residual=detail.residual)
    load_options = flags.load.load_options()
    fps, frames = check_fps(flags.fps), parse_range(flags.range_)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    into = into_.character()
    if all_animations:
        if load_options.animation is not None:
            raise conflict_error("all_animations", "--animation")
        animations = {file.path: split_animations(file.path, load_options.limits) for file in inputs.files}
        if into is None:
            inputs = replace(inputs, files=tuple(_split_files(inputs.files, animations)))
    plan = build_plan(inputs, names, out, to, existing_policy, "unbake")
    shares_targets = all_animations and into is not None
    if shares_targets:
        plan = replace(plan, targets=tuple(_split_targets(plan.targets, animations)))
    keys_files = {} if no_keys else plan_keys_files(plan, existing_policy, shares_targets=shares_targets)
    # starting a worker takes less time than one clip
    workers = resolve_jobs(write.jobs, CLIPS_PER_WORKER * len(plan.targets))
    if workers > 1:
        curve_options.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        UnbakeJob(
            t.source,
            t.target,
            keys_files.get(t),
            load_options if t.animation is None else replace(load_options, animation=t.animation.index),
            frames,
            fps,
            flags.select.method,
            flags.count.keys,
            flags.count.tolerance_mm,
            flags.count.auto,
            key_options,
            curve_options,
            into,
            t.animation,
            shares_targets,
            into_.reduce_tracks,
            repair,
        )
        for t in plan.targets
    ]
    return run(work, plan.skipped, workers, json=write.json, quiet=write.quiet)


def _split_files(files: Iterable[ClipFile], animations: Mapping[Path, Sequence[AnimationName]]) -> Iterator[ClipFile]:
    """Yield a file for each animation."""
    for file in files:
        yield from (replace(file, animation=animation) for animation in animations[file.path] or (None,))


def _split_targets(targets: Iterable[Target], animations: Mapping[Path, Sequence[AnimationName]]) -> Iterator[Target]:
    """Yield a target for each animation, all with the same path."""
    for target in targets:
        yield from (replace(target, animation=animation) for animation in animations[target.source] or (None,))


def run(work: Sequence[UnbakeJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool) -> int:
    """Unbake all files and print results; return the exit code."""
    run_result = run_write_jobs("Unbaking", unbake_clip, work, skipped, n_workers, json=json, quiet=quiet)
    run_result = _write_shared_targets(run_result, quiet=json or quiet)
    if json:
        output.print_json(run_result.document("unbaked", _document))
    elif not quiet:
        run_result.print_notes(lambda result: result.notes)
        run_result.print_summary("unbaked", build_block, build_table, summary_lines)
    return run_result.finish(json=json)


def _write_shared_targets(
    run_result: RunResult[UnbakeJob, UnbakeResult], *, quiet: bool
) -> RunResult[UnbakeJob, UnbakeResult]:
    """Write targets that several animations share; none after an interruption, as some animations may be missing."""
    if run_result.interrupted:
        written = [o for o in run_result.outcomes if o.value is None or o.value.keyed is None]
        return replace(run_result, outcomes=written)
    outcomes = write_shared_targets(run_result.work, run_result.outcomes)
    for old, new in zip(run_result.outcomes, outcomes, strict=True):
        if not quiet:
            messages.print_warnings(run_result.work[new.index].target, new.warnings[len(old.warnings) :])
    return replace(run_result, outcomes=[messages.render_outcome(outcome) for outcome in outcomes])


def build_block(job: UnbakeJob, result: UnbakeResult, seconds: float) -> console.Group:
    """Return the result of one clip as text: keys, errors, files and next steps."""
    rows = [
        ("keys", _keys_text(job, result)),
        ("at" if result.joint_keys is None else "joints", _key_frames_text(job, result)),
        *score_rows(result.score),
    ]
    rows += _note_rows(job, result)
    for n, text in enumerate(_file_lines(job, result)):
        rows.append(("" if n else "written", text))
    rows.append(("time", f"{seconds:.2f} s"))
    renderables: list[RenderableType] = [labelled_rows(str(job.clip_path), rows)]
    return console.Group(*renderables, *(Text(line) for line in _next_steps(job, result)))


def build_table(results: Sequence[tuple[UnbakeJob, UnbakeResult]], width: int) -> console.Group:
    """Return a table of clips, one row each."""
    sources, targets = (
        _relative_paths([str(getattr(job, side)) for job, _ in results]) for side in ("clip_path", "target")
    )
    clips = [clip for _, clip in results]
    scores = [clip.score for clip in clips]
    is_distance_flip = [score is not None and score.is_worst_in_flip for score in scores]
    is_rotation_flip = [score is not None and score.is_worst_rotation_flip for score in scores]
    names = Column("clip", [escape_unprintable(name) for name in sources[1]])
    others = [
        Column("frames", [str(clip.n_frames) for clip in clips], right_aligned=True),
        Column("keys", [str(len(clip.keys)) for clip in clips], right_aligned=True),
        Column("removed", [f"{clip.removed_percent:.1f} %" for clip in clips], right_aligned=True),
        Column("mean mm", _score_cells(scores, "mean_mm", 2), right_aligned=True),
        Column("max mm", _mark(_score_cells(scores, "max_mm", 1), is_distance_flip), right_aligned=True),
        Column("mean deg", _score_cells(scores, "mean_deg", 2), right_aligned=True),
        Column("max deg", _mark(_score_cells(scores, "max_deg", 1), is_rotation_flip), right_aligned=True),
        Column("slide", [_slide_ratio(c) for c in scores], right_aligned=True),
        Column("written", [escape_unprintable(name) for name in targets[1]]),
    ]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_HEADINGS)
    renderables: list[RenderableType] = [output.build_table(names, visible_columns, width)]
    if any(column.heading == "slide" for column in visible_columns):
        renderables.append(Text(SLIDE_LEGEND, style="dim"))
    if any(cell.endswith(FLIP_MARK) for column in visible_columns for cell in column.cells):
        renderables.append(Text(f"{FLIP_MARK} {FLIP_NOTE}", style="dim"))
    return console.Group(*renderables)


def summary_lines(results: Sequence[tuple[UnbakeJob, UnbakeResult]]) -> list[str]:
    """Return lines with totals, errors and the output folder of many clips."""
    clips = [clip for _, clip in results]
    frames, keys = sum(clip.n_frames for clip in clips), sum(len(clip.keys) for clip in clips)
    lines = [
        f"{format_count(keys, 'key')} of {format_count(frames, 'frame')}, {100 * (1 - keys / frames):.1f} % removed"
    ]
    scores = [(clip.score, job.clip_path) for job, clip in results if clip.score is not None]
    if scores:
        worst, source = max(scores, key=lambda each: each[0].max_outside_flips_mm)
        mean = median(each.mean_mm for each, _ in scores)
        at = "" if worst.is_worst_in_flip else f", {worst.worst_joint} in frame {worst.worst_frame}"
        lines.append(
            f"off by {format_mm(mean)} mm on average in the median clip, by {format_mm(worst.max_outside_flips_mm)} mm "
            f"at most: {source}{at} (on a figure of 1.7 m)"
        )
        in_flips = [score.max_mm for score, _ in scores if score.is_worst_in_flip]
        if in_flips:
            lines.append(
                f"off by up to {format_mm(max(in_flips))} mm in flips of the capture, in "
                f"{format_count(len(in_flips), 'clip')}: {FLIP_NOTE}"
            )
    far = [(job, clip) for job, clip in results if is_far(job, clip.score)]
    if far:
        examples = [f"{job.clip_path} {_far_text(job, clip)}" for job, clip in far[:MAX_NAMES]]
        lines.append(f"{format_count(len(far), 'clip')} far off: {'; '.join(examples)}")
    sliding = [job for job, clip in results if clip.sliding_feet]
    if sliding:
        lines.append(
            f"feet slide over {MAX_SLIDE_RATIO:g} times as far as in the capture in "
            f"{format_count(len(sliding), 'clip')}: {', '.join(str(job.clip_path) for job in sliding[:MAX_NAMES])}"
        )
    folder = _relative_paths([str(job.target) for job, _ in results])[0] or "."
    target_bytes = {job.target: clip.bytes for job, clip in results}  # several animations may share one
    size = format_bytes(sum(target_bytes.values()) + sum(clip.keys_file_bytes or 0 for clip in clips))
    beside = ", with the lossless NAME.keys.json for rebake beside each" if results[0][0].keys_file is not None else ""
    lines.append(f"written to {folder}: {size}{beside}")
    return lines


def score_rows(score: Score | None) -> list[tuple[str, str]]:
    """Return the error of keys and curves against the capture as labelled rows."""
    if score is None:
        return [("error", "not known in mm: the figure has no height")]
    outside_text = f"{FLIP_TEXT}; {format_mm(score.max_outside_flips_mm)} mm at most outside of flips"
    flip_text = outside_text if score.is_worst_in_flip else ""
    rows = [
        (
            "error",
            f"{format_mm(score.mean_mm)} mm on average, 95 % within {format_mm(score.p95_mm)} mm, "
            f"{format_mm(score.max_mm)} mm at most: "
            f"{score.worst_joint} in frame {score.worst_frame}{flip_text} (on a figure of 1.7 m)",
        ),
    ]
    if score.mean_deg is not None and score.max_deg is not None:
        rotation_error = (
            f"{format_mm(score.mean_deg)} degrees off on average, {format_mm(score.max_deg)} at most: "
            f"{score.worst_rotation_joint} in frame {score.worst_rotation_frame}"
            + (FLIP_TEXT if score.is_worst_rotation_flip else "")
        )
        rows.append(("rotations", rotation_error))
    if score.foot_slide_mm is not None and score.original_foot_slide_mm is not None:
        rows.append(
            (
                "feet",
                f"slide {format_mm(score.foot_slide_mm)} mm where they stand, "
                f"in the capture {format_mm(score.original_foot_slide_mm)} mm",
            )
        )
    return rows


def _note_rows(job: UnbakeJob, result: UnbakeResult) -> list[tuple[str, str]]:
    """Return rows about what a user may not expect: far too few keys, sliding feet, flips of the capture."""
    rows = []
    for foot, slide_mm, original_mm in result.sliding_feet:
        rows.append(("", f"the {foot} slides {format_mm(slide_mm)} mm, in the capture {format_mm(original_mm)} mm"))
    if is_far(job, result.score):
        rows.append(("far off", _far_text(job, result)))
    if result.flips:
        omission = "" if job.tolerance_mm is not None else "; the curves omit it"
        detail = ", the captured detail keeps it" if omission and result.has_residual else ""
        rows.append(("flips", f"{describe_flips(result.flips)}: {FLIP_NOTE}{omission}{detail}"))
    return rows


def _far_text(job: UnbakeJob, result: UnbakeResult) -> str:
    assert result.score is not None
    far = f"{format_mm(result.score.max_outside_flips_mm)} mm with {format_count(len(result.keys), 'key')}"
    if result.keys_for_far_mm is None:
        return far
    keys = format_count(result.keys_for_far_mm, "key")
    option = f"--tolerance-mm {FAR_MM:g}" + ("" if job.method == DEFAULT_METHOD else f" --method {DEFAULT_METHOD}")
    return f"{far}; {keys} would be within {FAR_MM:g} mm ({option})"


def _mark(cells: Iterable[str], flags: Iterable[bool]) -> list[str]:
    """Return cells, with a mark on the flagged ones."""
    return [cell + FLIP_MARK if flag else cell for cell, flag in zip(cells, flags, strict=True)]


def format_mm(value: float) -> str:
    """Return millimetres or degrees with about three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _document(job: UnbakeJob, result: UnbakeResult) -> dict[str, Any]:
    """Return one clip as JSON fields."""
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    options = budget | dict(job.select_options) | dict(job.curve_options)
    return {
        "animation": None if job.animation is None else job.animation.name,
        "keys_file": None if job.keys_file is None else str(job.keys_file),
        "method": job.method,
        "options": {name: value for name, value in options.items() if value is not None},
        "n_frames": result.n_frames,
        "fps": result.fps,
        "frames": result.keys,
        "times_s": [frame / result.fps for frame in result.keys],
        "joint_keys": result.joint_keys,
        "extremes": result.extremes,
        "extreme_parts": result.extreme_parts,
        "removed_percent": result.removed_percent,
        "score": score_document(result.score),
        "auto_tolerance_mm": result.auto_tolerance_mm,
        "flips": result.flips,
        "keys_for_20_mm": result.keys_for_far_mm,
        "sliding_feet": [each._asdict() for each in result.sliding_feet],
        "keeps_keys": result.keeps_keys,
        "has_residual": result.has_residual,
        "bytes": result.bytes,
        "keys_file_bytes": result.keys_file_bytes,
        "notes": result.notes,
    }


def _keys_text(job: UnbakeJob, result: UnbakeResult) -> str:
    frames = format_count(result.n_frames, "frame")
    n_keys = f"{len(result.keys)} of {frames}"
    if result.joint_keys is not None:
        n_keys = f"{result.mean_joint_keys:.1f} per joint on average, of {frames}"
    keys = f"{n_keys}, {result.removed_percent:.1f} % removed"
    if job.tolerance_mm is not None:
        count_note = f"; the fewest within {job.tolerance_mm:g} mm"
    elif job.keys is not None:
        count_note = ""
    else:
        count_note = f"; {_count_source(job, result)}"
        count_note += "" if job.auto else " (--keys or --tolerance-mm: another number)"
    return f"{keys} ({format_duration(result.n_frames / result.fps)} at {result.fps:.6g} fps){count_note}"


def _count_source(job: UnbakeJob, result: UnbakeResult) -> str:
    """Return what decided a number of keys that was not requested."""
    if not is_automatic(job):
        return f"{job.method}'s own number"
    tolerance_mm = result.auto_tolerance_mm
    if result.score is None or tolerance_mm is None:
        return "within 1 % of the figure"
    if result.score.max_outside_flips_mm <= tolerance_mm:
        return f"within {tolerance_mm:.3g} mm, 1 % of the figure"
    return f"no number of keys by {job.method} is within {tolerance_mm:.3g} mm"


def _key_frames_text(job: UnbakeJob, result: UnbakeResult) -> str:
    if result.joint_keys is not None:
        counts = [f"{escape_unprintable(name)} {len(frames)}" for name, frames in result.joint_keys.items()]
        n_more = len(counts) - MAX_JOINTS
        others = f" and {n_more} more; --json has the frames of all" if n_more > 0 else ""
        return f"{', '.join(counts[:MAX_JOINTS])}{others}"
    more, format_ = len(result.keys) - MAX_FRAMES, target_format(job.target)
    return (
        "frames "
        + " ".join(map(str, result.keys[:MAX_FRAMES]))
        + (f" and {more} more; --json has all" if more > 0 else "")
        + (
            f"; {format_.name} counts from {format_.first_frame}: frame 0 is its frame {format_.first_frame}"
            if format_.first_frame
            else ""
        )
    )


def _file_lines(job: UnbakeJob, result: UnbakeResult) -> list[str]:
    files = [f"{job.target} ({format_bytes(result.bytes)}): {_target_contents(job, result)}"]
    if job.keys_file is not None and result.keys_file_bytes is not None:
        files.append(f"{job.keys_file} ({format_bytes(result.keys_file_bytes)}): {_keys_file_contents(result)}")
    return files


def _target_contents(job: UnbakeJob, result: UnbakeResult) -> str:
    format_ = target_format(job.target)
    if format_ is keys_json.FORMAT:
        return _keys_file_contents(result)
    if not result.keeps_keys:
        return f"all {format_count(result.n_frames, 'frame')}, without keys and curves"
    if format_.stores_residual and result.has_residual:
        return "keys and curves; the armature's property residual shows the captured detail"
    return "keys and curves" if job.into is None else f"keys and curves, in a copy of {job.into}"


def _keys_file_contents(result: UnbakeResult) -> str:
    return "keys, curves, and the captured detail for rebake" if result.has_residual else "keys and curves, no detail"


def _next_steps(job: UnbakeJob, result: UnbakeResult) -> list[str]:
    """Return the commands that add the captured detail back after an edit."""
    keys_source = job.keys_file or job.target
    format_ = target_format(job.target)
    if result.has_residual and format_ is blend.FORMAT:  # contains its own detail
        return [
            "next: open it in Blender, edit and save it, and add the captured detail back:",
            f"  keypose rebake {_quote_path(job.target)} FINAL.glb",
        ]
    if not result.has_residual or not str(keys_source).lower().endswith(KEYS_SUFFIXES):
        return []
    into = "" if job.into is None else f" --into {_quote_path(job.into)}"
    edit = "edit the keys, export them" if result.keeps_keys else "edit the frames, save them"
    suffix = ".glb" if result.keeps_keys else format_.suffixes[0]
    lines = [
        f"next: {edit}, and add the captured detail back:",
        f"  keypose rebake EDITED{suffix} FINAL{suffix} --from {_quote_path(keys_source)}{into}",
    ]
    if job.into is not None:
        lines.append("Blender's glTF import discards tangents, unless the add-on blender/gltf_tangents.py is installed")
    elif format_.blender_needs_addon:
        blend_file = _quote_path(job.target.with_name(stem(job.target.name) + ".blend"))
        lines.append(f"for Blender, whose glTF import discards tangents, write {blend_file} instead")
    if job.into is None and _leaves_out_parts(job, result):
        lines.append(f"to keep what else {job.source} contains, put the keys into it: --into {_quote_path(job.source)}")
    return lines


def _leaves_out_parts(job: UnbakeJob, result: UnbakeResult) -> bool:
    """Return whether the source has meshes or other animations that a copy of it with the new keys would keep."""
    source_format = find_format(job.source)
    is_character = source_format is not None and source_format is target_format(job.target) and source_format.write_into
    return bool(is_character) and any(note_code(note) in ("not_read", "other_animations") for note in result.notes)


def _quote_path(path: Path) -> str:
    return shlex.quote(escape_unprintable(str(path)))


def _score_cells(scores: Sequence[Score | None], figure: str, decimals: int) -> list[str]:
    return ["-" if c is None else f"{getattr(c, figure):.{decimals}f}" for c in scores]


def _slide_ratio(score: Score | None) -> str:
    if score is None or score.foot_slide_mm is None or not score.original_foot_slide_mm:
        return "-"
    return f"x {score.foot_slide_mm / score.original_foot_slide_mm:.2f}"


def _relative_paths(paths: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common folder, empty if none, and the paths relative to it."""
    folder = common_folder(paths)
    return folder, [os.path.relpath(path, folder) if folder else path for path in paths]
