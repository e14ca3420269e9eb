"""``keypose convert``: convert motion files to other formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Parameter

from keypose.batch import Outcome
from keypose.batch.convert import ConvertJob, ConvertResult, convert_clip
from keypose.batch.file_discovery import discover_clips
from keypose.batch.plan import Target
from keypose.cli import messages, output
from keypose.cli.options import DEFAULT_LOAD, Flags, LoadFlags, Range, check_fps, parse_range, resolve_jobs, with_flags
from keypose.cli.output import UsageError
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
from keypose.cli.storage_run import is_kps
from keypose.errors import format_count
from keypose.options import OutputOptions

NOT_WRITTEN_NOTE = "the reference pose (T-pose) is not written; --write-reference-pose writes it as frame 0"


@with_flags(only=("reference_pose",))
class OutputFlags(Flags, OutputOptions):
    """How files are written."""


DEFAULT_OUTPUT = OutputFlags()


def convert(
    *paths: InAndOut,
    to: TargetFormat = None,
    fps: Annotated[float | None, Parameter(help="Resample to this frame rate. Default: unchanged.")] = None,
    range_: Range = None,
    output_: OutputFlags = DEFAULT_OUTPUT,
    load: LoadFlags = DEFAULT_LOAD,
    write: WriteFlags = DEFAULT_WRITE,
) -> int:
    """Convert motion files to other formats.

    One file is converted to one file; the suffix determines the format. Folders,
    patterns and several files go into one folder, in the format given by --to;
    sub-folders are preserved. Files are written whole or not at all. Failures are
    listed at the end, and the exit code is 1.

    For example:
      keypose convert walk.bvh walk.glb
      keypose convert walk.bvh part.bvh --range 100:400 --fps 30
      keypose convert takes/ out/ --to glb
      keypose convert "takes/*.amc" out/ --to bvh --jobs 4
      keypose convert takes/ out/ --to bvh.gz --skip-existing
    """
    names, out = split_paths(paths, "convert")
    existing_policy = write.existing_policy()
    load_options = load.load_options()
    fps, frames = check_fps(fps), parse_range(range_)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "convert")
    for t in (*plan.targets, *plan.skipped):
        if is_kps(t.source) and is_kps(t.target):
            raise UsageError(
                f"{t.source} is compressed already",
                expected="another format than .kps",
                hint="compressed again, its errors add up: keypose compress IN.kps OUT.kps --tolerance-mm NUMBER",
            )
    work = [ConvertJob(t.source, t.target, load_options, frames, fps, output_.reference_pose) for t in plan.targets]
    return run(work, plan.skipped, resolve_jobs(write.jobs, len(work)), json=write.json, quiet=write.quiet)


def run(work: Sequence[ConvertJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool) -> int:
    """Convert all files and print a summary; return the exit code."""
    run_result = run_write_jobs(
        "Converting", convert_clip, work, skipped, n_workers, json=json, quiet=quiet, render=_render_outcome
    )
    if json:
        output.print_json(run_result.document("converted", _document))
    elif not quiet:
        _print_summary(run_result)
    return run_result.finish(json=json)


def _render_outcome(outcome: Outcome[ConvertResult]) -> Outcome[ConvertResult]:
    """Add the note that the reference pose was not written."""
    outcome = messages.render_outcome(outcome)
    result = outcome.value
    if result is None or not result.is_reference_pose_lost:
        return outcome
    return replace(outcome, value=replace(result, notes=(NOT_WRITTEN_NOTE, *result.notes)))


def _print_summary(run_result: RunResult[ConvertJob, ConvertResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        job, result = results[0]
        size = output.format_bytes(result.bytes)
        output.print_line(
            f"{job.target}: {format_count(result.n_frames, 'frame')} at {result.fps:.6g} "
            f"fps, {size}, in {run_result.seconds:.2f} s"
            f"{_tolerance_suffix([result])}"
        )
        return
    phrases = (
        [f"{len(results)} of {format_count(len(run_result.work), 'file')} converted in {run_result.seconds:.2f} s"]
        if run_result.work
        else []
    )
    if results:
        phrases.append(output.format_bytes(sum(result.bytes for _, result in results)))
    if run_result.skipped:
        phrases.append(f"{len(run_result.skipped)} existing skipped")
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases) + _tolerance_suffix([result for _, result in results]))


def _tolerance_suffix(results: Sequence[ConvertResult]) -> str:
    """Return the largest tolerance of lossy results as the end of a sentence; empty if all are exact."""
    max_tolerance_mm = max((clip.tolerance_mm for clip in results if clip.tolerance_mm is not None), default=None)
    return (
        ""
        if max_tolerance_mm is None
        else f"; within {max_tolerance_mm:g} mm (keypose compress takes another tolerance)"
    )


def _document(job: ConvertJob, result: ConvertResult) -> dict[str, Any]:
    return {
        "n_frames": result.n_frames,
        "fps": result.fps,
        "bytes": result.bytes,
        "reference_pose": result.reference_pose,
        "tolerance_mm": result.tolerance_mm,
        "notes": result.notes,
    }
