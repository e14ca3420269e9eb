"""Run ``keypose swings``: progress, failures, and swings as text or JSON."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.batch.plan import Target
from keypose.batch.swing_edit import SwingEditJob, SwingEditResult, edit_clip_swings
from keypose.batch.swings import SwingsJob, SwingsResult, find_clip_swings
from keypose.cli import messages, output, swings_document, swings_view
from keypose.cli.clip_view import common_folder, format_bytes
from keypose.cli.read_runner import collect_results, print_results, run_read_jobs
from keypose.cli.write_runner import RunResult, run_write_jobs
from keypose.errors import FileError


def show_swings(
    work: Sequence[SwingsJob], problems: Sequence[FileError], jobs: int, *, json: bool, is_single_file: bool
) -> int:
    """Find the swings of all clips and print them; return the exit code."""
    outcomes = run_read_jobs("Finding", find_clip_swings, work, jobs, json=json)
    return print_results(
        work,
        outcomes,
        problems,
        lambda: [swings_document.clip_document(work[o.index], o) for o in outcomes],
        lambda: _print_clips(collect_results(work, outcomes), is_single_file=is_single_file),
        lambda: swings_document.mean_sweep_documents([o.value for o in outcomes if o.value is not None]),
        json=json,
        is_single_file=is_single_file,
    )


def _print_clips(clips: Sequence[tuple[SwingsJob, SwingsResult]], *, is_single_file: bool) -> None:
    out = output.stdout_console()
    if clips and not is_single_file and not any(clip.matches is not None for _, clip in clips):
        build_overview = swings_view.build_sweep_tables if clips[0][1].sweep is not None else swings_view.build_table
        output.print_renderable(build_overview([clip for _, clip in clips], out.width))
        return
    for n, (job, clip) in enumerate(clips):
        if n:
            output.print_line("")
        output.print_renderable(swings_view.build_view(clip, job, out.width, plain=not out.encoding.startswith("utf")))


def write_motions(
    work: Sequence[SwingEditJob], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool
) -> int:
    """Play or edit all clips and write them; return the exit code."""
    run_result = run_write_jobs(
        "Playing", edit_clip_swings, work, skipped, jobs, messages.translate_outcome, json=json, quiet=quiet
    )
    if json:
        output.print_json(run_result.document("written", swings_document.written_document))
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
