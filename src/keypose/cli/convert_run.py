"""Run ``keypose convert``: progress, failures, and a summary as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from keypose.batch import Outcome
from keypose.batch.convert import ConvertJob, ConvertResult, convert_clip
from keypose.batch.plan import Target
from keypose.cli import clip_view, messages, output
from keypose.cli.write_runner import RunResult, run_write_jobs

REFERENCE_POSE_NOTE = re.compile(
    r"(frame 0|the first frame) is a reference pose \(T-pose\), kept apart from the movement"
)
NOT_WRITTEN_NOTE = "frame 0 was a reference pose (T-pose); not written, --write-reference-pose keeps it"


def run(work: Sequence[ConvertJob], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Convert all files and print a summary; return the exit code."""
    run_result = run_write_jobs(
        "Converting", convert_clip, work, skipped, jobs, _translate_outcome, json=json, quiet=quiet
    )
    if json:
        output.print_json(run_result.document("converted", _document))
    elif not quiet:
        _print_summary(run_result)
    return run_result.finish(json=json)


def _translate_outcome(path: Path, outcome: Outcome[ConvertResult]) -> Outcome[ConvertResult]:
    """Replace the note that a reference pose was separated by one that says whether it was written."""
    outcome = messages.translate_outcome(path, outcome)
    result = outcome.value
    if result is None:
        return outcome
    replacement = () if result.reference_pose or result.keeps_reference_pose else (NOT_WRITTEN_NOTE,)
    notes = (replacement if REFERENCE_POSE_NOTE.fullmatch(note) else (note,) for note in result.notes)
    return replace(outcome, value=replace(result, notes=tuple(chain.from_iterable(notes))))


def _print_summary(run_result: RunResult[ConvertJob, ConvertResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        job, result = results[0]
        size = clip_view.format_bytes(result.bytes)
        output.print_line(
            f"{job.target}: {result.n_frames} frames at {result.fps:.6g} fps, {size}, in {run_result.seconds:.2f} s"
            f"{_tolerance_suffix([result])}"
        )
        return
    phrases = (
        [f"{len(results)} of {len(run_result.work)} files converted in {run_result.seconds:.2f} s"]
        if run_result.work
        else []
    )
    if results:
        phrases.append(clip_view.format_bytes(sum(result.bytes for _, result in results)))
    if run_result.skipped:
        phrases.append(f"{len(run_result.skipped)} that exist left out")
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
