"""Run ``keypose compare``: progress, failures, output as text or JSON, and files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.api.compare import CompareOptions, Comparison, tables
from keypose.batch.compare import CompareJob, CompareResult, compare_clip
from keypose.cli import argv, compare_view, messages, output
from keypose.cli.clip_view import format_bytes
from keypose.cli.compare_options import OutputFiles
from keypose.cli.exit_codes import FAILED, INTERRUPTED
from keypose.cli.write_runner import RunResult, run_write_jobs
from keypose.errors import FileError
from keypose.formats.files import write_atomically
from keypose.pictures.comparison import comparison_page

CompareRun = RunResult[CompareJob, CompareResult]


def run(
    work: Sequence[CompareJob],
    problems: Sequence[FileError],
    settings: CompareOptions,
    outputs: OutputFiles,
    jobs: int,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Compare all clips, write and print the results; return the exit code."""
    run_result = run_write_jobs(
        "Comparing",
        compare_clip,
        work,
        (),
        jobs,
        messages.translate_outcome,
        json=json,
        quiet=quiet,
        function_with_progress=compare_clip,
    )
    rows = tuple(row for _, clip in run_result.results for row in clip.rows)
    comparison = None if not rows or run_result.interrupted else Comparison(rows, settings)
    if comparison is not None:
        _write_or_cache(run_result, comparison, outputs, _list_failures(run_result, problems))
        if not problems and len(run_result.results) == len(work):
            _prune_cache(run_result)
    if json:
        output.print_json(_document(run_result, comparison, settings, outputs, problems))
    elif not quiet:
        _print_result(run_result, comparison, outputs)
    if not json:
        for problem in problems:
            output.print_error(str(problem))
    failures = [(work[o.index].source, o.failure) for o in run_result.outcomes if o.failure]
    code = messages.report_failures(failures, quiet=json) or (FAILED if problems else 0)
    if not run_result.interrupted:
        return code
    if not json:
        n_remaining = len(work) - len(run_result.outcomes)
        next_step = "the same command goes on from here" if outputs.main_file else "nothing was written"
        output.print_note(
            f"interrupted with {n_remaining} {'clip' if n_remaining == 1 else 'clips'} to go; {next_step}"
        )
    return INTERRUPTED


def _list_failures(run_result: CompareRun, problems: Sequence[FileError]) -> list[tuple[str, str]]:
    """Return (file, reason) of everything that could not be compared."""
    failures = [(str(run_result.work[o.index].source), o.failure) for o in run_result.outcomes if o.failure]
    failures_with_reasons = [
        (file, f"{why.kind}: {why.message}" if why.is_bug else why.message) for file, why in failures
    ]
    return failures_with_reasons + [(str(problem), str(problem)) for problem in problems]


def _write_or_cache(
    run_result: CompareRun, comparison: Comparison, outputs: OutputFiles, failed: Sequence[tuple[str, str]]
) -> None:
    """Write the results; if that fails, cache all measurements, including those that another run has pruned."""
    try:
        for file in outputs.files:
            if os.path.lexists(file) and not outputs.overwrite:
                raise FileError(f"{file}: was written by another run meanwhile; --overwrite replaces it")
        _write(comparison, outputs, failed)
    except FileError as error:
        try:
            for job, clip in run_result.results:
                if job.cache is not None:
                    job.cache.save_rows(clip.cache_key, clip.rows)
        except FileError:
            raise error from None
        raise FileError(f"{error}; what was measured is kept, the same command need not measure it again") from None


def _write(comparison: Comparison, outputs: OutputFiles, failed: Sequence[tuple[str, str]]) -> None:
    """Write the tables before the page, so that they exist when the page does."""
    overwrite = outputs.overwrite
    if outputs.csv is not None:
        tables.write_csv(comparison.rows, outputs.csv, overwrite=overwrite)
    if outputs.parquet is not None:
        tables.write_parquet(comparison.rows, outputs.parquet, overwrite=overwrite)
    if outputs.report is not None:
        page = comparison_page(comparison, command=argv.command_line(), failures=failed)
        write_atomically(outputs.report, page.encode(), overwrite=overwrite)


def _prune_cache(run_result: CompareRun) -> None:
    """Remove cached clips that are not part of this run."""
    cache = run_result.work[0].cache
    if cache is not None:
        cache.prune({clip.cache_key for _, clip in run_result.results})


def _print_result(run_result: CompareRun, comparison: Comparison | None, outputs: OutputFiles) -> None:
    run_result.print_notes(lambda clip: clip.notes)
    if comparison is None:
        return
    output.print_renderable(compare_view.build_view(comparison, output.stdout_console().width))
    phrases = run_result.count_phrases("compared") if len(run_result.work) > 1 else [f"in {run_result.seconds:.2f} s"]
    n_cached_clips = sum(clip.is_cached for _, clip in run_result.results)
    phrases += [f"{n_cached_clips} of them by an earlier run"] if n_cached_clips and len(run_result.work) > 1 else []
    phrases += ["measured by an earlier run"] if n_cached_clips and len(run_result.work) == 1 else []
    output.print_line(", ".join(phrases))
    for file in outputs.files:
        output.print_line(f"{file}: {format_bytes(file.stat().st_size)}")


def _document(
    run_result: CompareRun,
    comparison: Comparison | None,
    settings: CompareOptions,
    outputs: OutputFiles,
    problems: Sequence[FileError],
) -> dict[str, Any]:
    """Return the run as a JSON document."""
    document = run_result.document("clips", lambda job, clip: {"from_cache": clip.is_cached, "notes": clip.notes})
    for clip in (*document["clips"], *document["failed"]):
        clip.pop("target")
    document.pop("skipped")
    return {
        "settings": asdict(settings),
        **document,
        "problems": [messages.error_document(problem) for problem in problems],
        "medians": [] if comparison is None else [asdict(each) for each in comparison.medians()],
        "rows": [] if comparison is None else [asdict(row) for row in comparison],
        "written": [] if comparison is None else [str(file) for file in outputs.files],
    }
