"""``keypose unbake``: turn dense motion into a few editable key poses with fitted curves."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from cyclopts import Group, Parameter
from rich import console
from rich.console import RenderableType
from rich.text import Text

from keypose.batch.file_discovery import KEYS_SUFFIXES, discover_clips
from keypose.batch.plan import Target, target_format
from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
from keypose.batch.unbake import UnbakeJob, UnbakeResult, check_keys_files, keys_file_for, unbake_clip
from keypose.cli import output
from keypose.cli.clip_view import common_folder, format_bytes, format_duration, labelled_rows, score_document
from keypose.cli.key_options import DEFAULT_UNBAKE, UnbakeFlags
from keypose.cli.options import Flags, check_fps, parse_range, resolve_jobs, with_flags
from keypose.cli.output import Column, escape_unprintable
from keypose.cli.runner import (
    DEFAULT_WRITE,
    InAndOut,
    TargetFormat,
    WriteFlags,
    build_plan,
    run_write_jobs,
    split_paths,
)
from keypose.formats import blend, keys_json
from keypose.metrics import Score
from keypose.options import UnbakeOptions

WRITE_GROUP = Parameter(group=Group("Writing", sort_key=6))
MAX_FRAMES = 24  # key frames listed
OPTIONAL_HEADINGS = ("written", "mean deg", "max deg", "frames", "slide")  # dropped in this order on a narrow terminal
SLIDE_LEGEND = "slide: how far standing feet slide, against the capture"
POP_DEG = 90.0  # with enough keys, no fitted curve has such an error
POP_NOTE = (
    "mostly a jump in the capture, such as a thumb that flips for a few frames: the curves omit it, the detail has it"
)


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
    flags: UnbakeFlags = DEFAULT_UNBAKE,
    write: Annotated[WriteFlags, WRITE_GROUP] = DEFAULT_WRITE,
) -> int:
    """Unbake dense motion into a few editable key poses.

    Chooses the keys, fits curves between them, and writes an animation that
    stays close to the capture and can be edited in any animation program. Set
    the number of keys with --keys, --tolerance-mm or --auto. Beside OUT it writes
    NAME.keys.json, which also holds the captured detail between the keys: after
    the edit, keypose rebake adds it back.

    GLB, .blend and others store keys and curves, see keypose formats; the
    rest get every frame of the unbaked motion.

    For example:
      keypose unbake walk.bvh walk.glb --keys 24
      keypose unbake walk.bvh walk.glb --tolerance-mm 5 --pin contacts
      keypose unbake takes/ out/ --to glb
      keypose unbake walk.bvh walk.blend --rotation euler --weight hands=3
      keypose unbake walk.bvh walk.glb --method farthest --keys 8
    """
    names, out = split_paths(paths, "unbake")
    existing_policy = write.existing_policy()
    key_options, curve_options = flags.key_options(), flags.curve_options(residual=detail.residual)
    load_options = flags.load.load_options()
    fps, frames = check_fps(flags.fps, "--fps"), parse_range(flags.range_)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "unbake")
    if not no_keys:
        check_keys_files(plan, existing_policy)
    # starting a worker takes less time than one clip
    workers = resolve_jobs(write.jobs, CLIPS_PER_WORKER * len(plan.targets))
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
            flags.select.method,
            flags.count.keys,
            flags.count.tolerance_mm,
            flags.count.auto,
            key_options,
            curve_options,
        )
        for t in plan.targets
    ]
    return run(work, plan.skipped, workers, json=write.json, quiet=write.quiet)


def run(work: Sequence[UnbakeJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool) -> int:
    """Unbake all files and print results; return the exit code."""
    run_result = run_write_jobs("Unbaking", unbake_clip, work, skipped, n_workers, json=json, quiet=quiet)
    if json:
        output.print_json(run_result.document("unbaked", _document))
    elif not quiet:
        run_result.print_notes(lambda result: result.notes)
        run_result.print_summary("unbaked", build_block, build_table, summary_lines)
    return run_result.finish(json=json)


def build_block(job: UnbakeJob, result: UnbakeResult, seconds: float) -> console.Group:
    """Return the result of one clip as text: keys, errors, files and next steps."""
    rows = [("keys", _keys_text(job, result)), ("at", _key_frames_text(job, result)), *score_rows(result.score)]
    for n, text in enumerate(_file_lines(job, result)):
        rows.append(("" if n else "written", text))
    rows.append(("time", f"{seconds:.2f} s"))
    renderables: list[RenderableType] = [labelled_rows(str(job.source), rows)]
    return console.Group(*renderables, *(Text(line) for line in _next_steps(job, result)))


def build_table(results: Sequence[tuple[UnbakeJob, UnbakeResult]], width: int) -> console.Group:
    """Return a table of clips, one row each."""
    sources, targets = (
        _relative_paths([str(getattr(job, side)) for job, _ in results]) for side in ("source", "target")
    )
    clips = [clip for _, clip in results]
    scores = [clip.score for clip in clips]
    names = Column("clip", [escape_unprintable(name) for name in sources[1]])
    others = [
        Column("frames", [str(clip.n_frames) for clip in clips], right_aligned=True),
        Column("keys", [str(len(clip.keys)) for clip in clips], right_aligned=True),
        Column("removed", [f"{_removed_percent(clip):.1f} %" for clip in clips], right_aligned=True),
        Column("mean mm", _score_cells(scores, "mean_mm", 2), right_aligned=True),
        Column("max mm", _score_cells(scores, "max_mm", 1), right_aligned=True),
        Column("mean deg", _score_cells(scores, "mean_deg", 2), right_aligned=True),
        Column("max deg", _score_cells(scores, "max_deg", 1), right_aligned=True),
        Column("slide", [_slide_ratio(c) for c in scores], right_aligned=True),
        Column("written", [escape_unprintable(name) for name in targets[1]]),
    ]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_HEADINGS)
    renderables: list[RenderableType] = [output.build_table(names, visible_columns, width)]
    if any(column.heading == "slide" for column in visible_columns):
        renderables.append(Text(SLIDE_LEGEND, style="dim"))
    if any(column.heading == "max deg" for column in visible_columns) and any(_pops(c) for c in scores if c):
        renderables.append(Text(f"max deg above {POP_DEG:.0f}: {POP_NOTE}", style="dim"))
    return console.Group(*renderables)


def summary_lines(results: Sequence[tuple[UnbakeJob, UnbakeResult]]) -> list[str]:
    """Return lines with totals, errors and the output folder of many clips."""
    clips = [clip for _, clip in results]
    frames, keys = sum(clip.n_frames for clip in clips), sum(len(clip.keys) for clip in clips)
    lines = [f"{keys} keys of {frames} frames, {100 * (1 - keys / frames):.1f} % removed"]
    scores = [(clip.score, job.source) for job, clip in results if clip.score is not None]
    if scores:
        worst, source = max(scores, key=lambda each: each[0].max_mm)
        mean = median(each.mean_mm for each, _ in scores)
        lines.append(
            f"off by {format_mm(mean)} mm on average in the median clip, by {format_mm(worst.max_mm)} mm at most: "
            f"{source}, "
            f"{worst.worst_joint} in frame {worst.worst_frame} (on a figure of 1.7 m)"
        )
    folder = _relative_paths([str(job.target) for job, _ in results])[0] or "."
    size = format_bytes(sum(clip.bytes + (clip.keys_file_bytes or 0) for clip in clips))
    beside = ", with the lossless NAME.keys.json for rebake beside each" if results[0][0].keys_file is not None else ""
    lines.append(f"written to {folder}: {size}{beside}")
    return lines


def score_rows(score: Score | None) -> list[tuple[str, str]]:
    """Return the error of keys and curves against the capture as labelled rows."""
    if score is None:
        return [("error", "not known in mm: the figure has no height")]
    rows = [
        (
            "error",
            f"{format_mm(score.mean_mm)} mm on average, 95 % within {format_mm(score.p95_mm)} mm, "
            f"{format_mm(score.max_mm)} mm at most: "
            f"{score.worst_joint} in frame {score.worst_frame} (on a figure of 1.7 m)",
        ),
    ]
    if score.mean_deg is not None and score.max_deg is not None:
        rotation_error = (
            f"{format_mm(score.mean_deg)} degrees off on average, {format_mm(score.max_deg)} at most: "
            f"{score.worst_rotation_joint} in frame {score.worst_rotation_frame}"
        )
        rows.append(("rotations", rotation_error))
    if _pops(score):
        rows.append(("", POP_NOTE))
    if score.foot_slide_mm is not None and score.original_foot_slide_mm is not None:
        rows.append(
            (
                "feet",
                f"slide {format_mm(score.foot_slide_mm)} mm where they stand, "
                f"in the capture {format_mm(score.original_foot_slide_mm)} mm",
            )
        )
    return rows


def format_mm(value: float) -> str:
    """Return millimetres or degrees with about three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _document(job: UnbakeJob, result: UnbakeResult) -> dict[str, Any]:
    """Return one clip as JSON fields."""
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    options = budget | dict(job.select_options) | dict(job.curve_options)
    return {
        "keys_file": None if job.keys_file is None else str(job.keys_file),
        "method": job.method,
        "options": {name: value for name, value in options.items() if value is not None},
        "n_frames": result.n_frames,
        "fps": result.fps,
        "frames": result.keys,
        "times_s": [frame / result.fps for frame in result.keys],
        "extremes": result.extremes,
        "removed_percent": 100 * (1 - len(result.keys) / result.n_frames),
        "score": score_document(result.score),
        "keeps_keys": result.keeps_keys,
        "has_residual": result.has_residual,
        "bytes": result.bytes,
        "keys_file_bytes": result.keys_file_bytes,
        "notes": result.notes,
    }


def _keys_text(job: UnbakeJob, result: UnbakeResult) -> str:
    keys = f"{len(result.keys)} of {result.n_frames} frames, {_removed_percent(result):.1f} % removed"
    if job.tolerance_mm is not None:
        count_note = f"; the fewest within {job.tolerance_mm:g} mm"
    elif job.keys is not None:
        count_note = ""
    elif job.auto:
        count_note = "; number from the error curve"
    else:
        count_note = "; as many as it takes (--keys or --tolerance-mm: another number)"
    return f"{keys} ({format_duration(result.n_frames / result.fps)} at {result.fps:.6g} fps){count_note}"


def _key_frames_text(job: UnbakeJob, result: UnbakeResult) -> str:
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
        return f"all {result.n_frames} frames, as this format gets no curves"
    if format_.stores_residual and result.has_residual:
        return "keys and curves; the armature's property residual shows the captured detail"
    return "keys and curves"


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
    lines = [
        "next: edit the keys, export them, and add the captured detail back:",
        f"  keypose rebake EDITED.glb FINAL.glb --from {_quote_path(keys_source)}",
    ]
    if format_.blender_needs_addon:
        blend_file = _quote_path(keys_source.with_name(keys_source.name.split(".keys.json")[0] + ".blend"))
        lines.append(f"for Blender, whose glTF import discards tangents, write {blend_file} instead")
    return lines


def _quote_path(path: Path) -> str:
    return shlex.quote(escape_unprintable(str(path)))


def _removed_percent(result: UnbakeResult) -> float:
    return 100 * (1 - len(result.keys) / result.n_frames)


def _score_cells(scores: Sequence[Score | None], figure: str, decimals: int) -> list[str]:
    return ["-" if c is None else f"{getattr(c, figure):.{decimals}f}" for c in scores]


def _pops(score: Score) -> bool:
    return score.max_deg is not None and score.max_deg > POP_DEG


def _slide_ratio(score: Score | None) -> str:
    if score is None or score.foot_slide_mm is None or not score.original_foot_slide_mm:
        return "-"
    return f"x {score.foot_slide_mm / score.original_foot_slide_mm:.2f}"


def _relative_paths(paths: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common folder, empty if none, and the paths relative to it."""
    folder = common_folder(paths)
    return folder, [os.path.relpath(path, folder) if folder else path for path in paths]
