"""Run ``keypose report``: check the output path, draw the page, and print a summary."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keypose.batch.file_discovery import ClipFiles, stem
from keypose.cli import clip_view, messages, output
from keypose.cli.write_runner import RunResult, run_write_jobs
from keypose.errors import FileError, OptionError
from keypose.formats.files import write_atomically
from keypose.pictures.report.build import page_path, render_report_page
from keypose.pictures.report.job import ReportJob, ReportJobResult, run_report_job


def check_page_path(output_path: Path | None, inputs: ClipFiles, *, overwrite: bool) -> Path:
    """Return the path of the page, checked before any work is done."""
    default_name = f"{stem(inputs.files[0].path.name)}.html" if len(inputs.files) == 1 else "report.html"
    target = page_path(default_name if output_path is None else output_path)
    if any(os.path.realpath(target) == os.path.realpath(file.path) for file in inputs.files):
        raise OptionError(f"{target}: is to be read, expected another name for the page")
    if target.is_dir():
        raise FileError(f"{target}: is a folder, expected the name of a page")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such folder")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return target


def run(
    work: Sequence[ReportJob], target: Path, title: str | None, jobs: int, *, open_page: bool, json: bool, quiet: bool
) -> int:
    """Write the page for all readable files and print a summary; return the exit code."""
    run_result = run_write_jobs(
        "Reporting", run_report_job, work, (), jobs, messages.translate_outcome, json=json, quiet=quiet
    )
    size = None
    if run_result.results and not run_result.interrupted:
        page = render_report_page([result.clip_report for _, result in run_result.results], title).encode()
        write_atomically(target, page)
        size = len(page)
    if json:
        output.print_json(
            {"report": None if size is None else str(target), "bytes": size} | run_result.document("clips", _document)
        )
    elif not quiet:
        _print_summary(run_result, target, size)
    if open_page and size is not None:
        webbrowser.open(target.resolve().as_uri())
    return run_result.finish(json=json)


def _print_summary(run_result: RunResult[ReportJob, ReportJobResult], target: Path, size: int | None) -> None:
    run_result.print_notes(lambda result: result.notes)
    if size is None:
        return
    takes = [clip.clip_report for _, clip in run_result.results]
    keys, frames = sum(take.n_keys for take in takes), sum(take.n_frames for take in takes)
    motion_count = "1 motion" if len(takes) == 1 else f"{len(takes)} of {len(run_result.work)} motions"
    mean_errors = [take.mean_mm for take in takes if take.mean_mm is not None]
    error = f", mean error {sum(mean_errors) / len(mean_errors):.2f} mm" if mean_errors else ""
    output.print_line(
        f"{target}: {motion_count}, {keys:,} keys of {frames:,} frames{error}, {clip_view.format_bytes(size)}, "
        f"in {run_result.seconds:.2f} s"
    )


def _document(job: ReportJob, result: ReportJobResult) -> dict[str, Any]:
    take = result.clip_report
    return {
        "id": job.id,
        "name": take.section.title,
        "n_frames": take.n_frames,
        "fps": take.fps,
        "n_keys": take.n_keys,
        "mean_mm": take.mean_mm,
        "max_mm": take.max_mm,
        "worst_joint": take.worst_joint,
        "notes": result.notes,
    }
