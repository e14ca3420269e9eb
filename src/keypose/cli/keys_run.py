"""Run ``keypose keys``: progress, failures, and the keys as text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome
from keypose.batch.keys import KeysJob, KeysResult, select_clip_keys
from keypose.cli import keys_view, messages, output
from keypose.cli.read_runner import collect_results, print_results, run_read_jobs
from keypose.errors import FileError


def run(
    work: Sequence[KeysJob],
    problems: Sequence[FileError],
    jobs: int,
    *,
    json: bool,
    plot: bool,
    is_single_file: bool,
) -> int:
    """Choose the keys of all clips and print them; return the exit code."""
    outcomes = run_read_jobs("Choosing", select_clip_keys, work, jobs, json=json)
    return print_results(
        work,
        outcomes,
        problems,
        lambda: [_document(work[o.index], o) for o in outcomes],
        lambda: _print_clips(collect_results(work, outcomes), plot=plot),
        json=json,
        is_single_file=is_single_file,
    )


def _print_clips(clips: Sequence[tuple[KeysJob, KeysResult]], *, plot: bool) -> None:
    out = output.stdout_console()
    for n, (job, clip) in enumerate(clips):
        if n:
            output.print_line("")
        plain, is_last = not out.encoding.startswith("utf"), n == len(clips) - 1
        output.print_renderable(keys_view.build_view(clip, job, out.width, legend=is_last, plot=plot, plain=plain))


def _document(job: KeysJob, outcome: Outcome[KeysResult]) -> dict[str, Any]:
    """Return the keys of one clip, or its failure, as a JSON document."""
    clip = outcome.value
    if clip is None:
        assert outcome.failure is not None
        return {"file": str(job.path), **messages.failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    return {
        "file": clip.path,
        "method": clip.method,
        "options": {name: value for name, value in budget.items() if value is not None} | dict(job.options),
        "chosen_by": clip.count_source,
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "first_frame": clip.first_frame,
        "range": [clip.start, clip.stop],
        "frames": list(clip.frames),
        "times_s": [frame / clip.fps for frame in clip.frames],
        "order": None if clip.order is None else list(clip.order),
        "cost": clip.cost,
        "curve": [{"keys": keys, "cost": cost} for keys, cost in zip(clip.counts, clip.costs, strict=True)],
        "cliffs": list(clip.cliffs),
        "error": None if clip.error is None else asdict(clip.error),
        "span_cost": clip.span_costs,
        "span_mm": clip.span_mm,
        "without_mm": clip.without_mm,
        "notes": list(clip.notes),
        "warnings": list(outcome.warnings),
    }
