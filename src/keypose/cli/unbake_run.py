"""Run ``keypose unbake``: progress, failures, and results as text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch.plan import Target
from keypose.batch.unbake import UnbakeJob, UnbakeResult, unbake_clip
from keypose.cli import messages, output, unbake_view
from keypose.cli.write_runner import RunResult, run_write_jobs


def run(work: Sequence[UnbakeJob], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Unbake all files and print results; return the exit code."""
    run_result = run_write_jobs(
        "Unbaking", unbake_clip, work, skipped, jobs, messages.translate_outcome, json=json, quiet=quiet
    )
    if json:
        output.print_json(run_result.document("unbaked", _document))
    elif not quiet:
        _print_summary(run_result)
    return run_result.finish(json=json)


def _print_summary(run_result: RunResult[UnbakeJob, UnbakeResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        output.print_renderable(unbake_view.build_block(*results[0], run_result.seconds))
        return
    if results:
        output.print_renderable(unbake_view.build_table(results, output.stdout_console().width))
    phrases = run_result.count_phrases("unbaked")
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))
    if results:
        for line in unbake_view.summary_lines(results):
            output.print_line(line)


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
        "score": None if result.score is None else asdict(result.score),
        "keeps_keys": result.keeps_keys,
        "has_residual": result.has_residual,
        "bytes": result.bytes,
        "keys_file_bytes": result.keys_file_bytes,
        "notes": result.notes,
    }
