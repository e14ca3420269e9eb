"""Run ``keypose compress`` and ``keypose restore``: progress, failures, and results as text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome
from keypose.batch.compress import CompressJob, CompressResult, compress_clip
from keypose.batch.plan import Target
from keypose.batch.restore import RestoreJob, RestoreResult, restore_clip
from keypose.cli import messages, output, storage_view
from keypose.cli.clip_view import common_folder, format_bytes, format_duration
from keypose.cli.storage_outputs import difference_messages, read_existing
from keypose.cli.storage_rows import format_accuracy
from keypose.cli.write_runner import RunResult, run_write_jobs


def compress(
    work: Sequence[CompressJob],
    skipped: Sequence[Target],
    tolerance_mm: float | None,
    jobs: int,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Compress all files and print results; return the exit code.

    ``tolerance_mm`` is the requested tolerance, None: lossless; ``skipped`` files may have another one.
    """
    existing_files = [read_existing(t, tolerance_mm) for t in skipped]
    run_result = run_write_jobs(
        "Compressing",
        compress_clip,
        work,
        skipped,
        jobs,
        messages.translate_outcome,
        json=json,
        quiet=quiet,
        function_with_progress=compress_clip,
    )
    if json:
        document = run_result.document("compressed", _compressed_document)
        document["skipped"] = [
            each | existing_file.document()
            for each, existing_file in zip(document["skipped"], existing_files, strict=True)
        ]
        output.print_json(document | {"total": _total_document(run_result)})
    elif not quiet:
        _print_compressed(run_result)
        for text in difference_messages(existing_files):
            output.print_warning(text)
    return _finish(run_result, json=json)


def _print_compressed(run_result: RunResult[CompressJob, CompressResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        output.print_renderable(storage_view.build_block(*results[0], run_result.seconds))
        for part in run_result.skipped_phrases:
            output.print_line(part)
        return
    if results:
        output.print_renderable(storage_view.build_table(results, output.stdout_console().width))
    phrases = run_result.count_phrases("compressed") + _warning_phrases(run_result.outcomes)
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))
    if results:
        for line in storage_view.summary_lines(results, run_result.seconds):
            output.print_line(line)


def _finish(run_result: RunResult[Any, Any], *, json: bool) -> int:
    """Print failures and what an interruption left; return the exit code."""
    if run_result.interrupted and len(run_result.work) == 1 and not run_result.outcomes and not json:
        output.print_note(f"interrupted; {run_result.work[0].target} was not written")
    return run_result.finish(json=json)


def _warning_phrases(outcomes: Sequence[Outcome[Any]]) -> list[str]:
    """Return the number of clips with warnings as a phrase; empty if none."""
    n_clips = sum(bool(outcome.warnings) for outcome in outcomes)
    return [f"{n_clips} {'clip' if n_clips == 1 else 'clips'} with warnings"] if n_clips else []


def _compressed_document(job: CompressJob, result: CompressResult) -> dict[str, Any]:
    """Return one clip as JSON fields."""
    return {
        "tolerance_mm": None if result.lossless or not result.has_frames else job.tolerance_mm,
        "lossless": result.lossless,
        "source_tolerance_mm": result.source_tolerance_mm,
        "n_frames": result.n_frames,
        "fps": result.fps,
        "duration_s": result.duration_s,
        "n_joints": result.n_joints,
        "n_groups": result.n_groups,
        "source_bytes": result.source_bytes,
        "raw_bytes": result.raw_bytes,
        "bytes": result.bytes,
        "ratio": result.source_bytes / result.bytes,
        "raw_ratio": result.raw_bytes / result.bytes,
        "verified": result.verified,
        "largest_error": None if result.error is None else asdict(result.error),
        "keys": result.keys,
        "swings": result.swings,
        "companion_bytes": result.companion_bytes,
        "notes": result.notes,
    }


def _total_document(run_result: RunResult[CompressJob, CompressResult]) -> dict[str, Any] | None:
    """Return the totals as a JSON document; None without any clip."""
    results = run_result.results
    if not results:
        return None
    total = storage_view.compute_total(results)
    worst = total.worst
    return {
        "clips": len(results),
        "duration_s": total.duration_s,
        "source_bytes": total.source_bytes,
        "raw_bytes": total.raw_bytes,
        "bytes": total.bytes,
        "ratio": total.source_bytes / total.bytes,
        "raw_ratio": total.raw_bytes / total.bytes,
        "verified": total.verified,
        "largest_error": None if worst is None else {"source": str(worst[0]), **asdict(worst[1])},
        "motion_s_per_s": total.duration_s / run_result.seconds,
    }


def restore(work: Sequence[RestoreJob], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Restore all files and print results; return the exit code."""
    run_result = run_write_jobs(
        "Restoring", restore_clip, work, skipped, jobs, messages.translate_outcome, json=json, quiet=quiet
    )
    if json:
        output.print_json(run_result.document("restored", _restored_document))
    elif not quiet:
        _print_restored(run_result)
    return _finish(run_result, json=json)


def _print_restored(run_result: RunResult[RestoreJob, RestoreResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        job, result = results[0]
        start = "" if job.is_whole_clip else f" from {result.start_s:.2f} s on"
        output.print_line(
            f"{job.target}: {result.n_frames} frames{start} at {result.fps:.6g} fps, {format_bytes(result.bytes)}, "
            f"{format_accuracy(result)}, in {run_result.seconds:.2f} s"
        )
        for kind, path in (("keys", result.keys_file), ("swings", result.swings_file)):
            if path is not None:
                output.print_line(f"{path}: its {kind}")
        for part in run_result.skipped_phrases:
            output.print_line(part)
        return
    phrases = run_result.count_phrases("restored") + _warning_phrases(run_result.outcomes)
    if n_with_notes := sum(bool(result.notes) for _, result in results):
        phrases.append(f"{n_with_notes} with notes")
    if results:
        seconds = sum(result.n_frames / result.fps for _, result in results)
        folder = common_folder([str(job.target) for job, _ in results]) or "."
        phrases.append(
            f"{format_duration(seconds)} of motion, to {folder}: "
            f"{format_bytes(sum(result.bytes for _, result in results))}"
        )
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))


def _restored_document(job: RestoreJob, result: RestoreResult) -> dict[str, Any]:
    """Return one file as JSON fields."""
    return asdict(result)
