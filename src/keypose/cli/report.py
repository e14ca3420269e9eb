"""``keypose report``: write one HTML page about motions and their unbaked versions."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from keypose.batch.file_discovery import ClipFiles, discover_clips, stem
from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
from keypose.cli import clip_view, output
from keypose.cli.key_options import DEFAULT_UNBAKE, UnbakeFlags
from keypose.cli.options import (
    Flags,
    Jobs,
    Json,
    OpenPage,
    OverwritePage,
    check_fps,
    check_output_file,
    parse_range,
    resolve_jobs,
    with_flags,
)
from keypose.cli.output import UsageError, missing_argument_error
from keypose.cli.runner import Quiet, RunResult, run_write_jobs
from keypose.errors import OptionError
from keypose.formats.base import write_atomically
from keypose.options.pictures import PageOptions
from keypose.pictures.report.build import ReportJob, ReportJobResult, page_path, render_report_page, run_report_job

PAGE_GROUP = Parameter(group=Group("Page", sort_key=1))


@with_flags()
class PageFlags(Flags, PageOptions):
    """The appearance of the page."""


DEFAULT_PAGE = PageFlags()


def report(
    *paths: Annotated[
        str,
        Parameter(name="FILES", help="Input: files, folders, patterns in quotes. All go into one page."),
    ],
    output: Annotated[
        Path | None,
        Parameter(
            name=("--output", "-o"),
            help="The page, an .html file. Default: NAME.html of one file, or report.html, in the current folder.",
        ),
        PAGE_GROUP,
    ] = None,
    page: Annotated[PageFlags, PAGE_GROUP] = DEFAULT_PAGE,
    open_: Annotated[OpenPage, PAGE_GROUP] = False,
    overwrite: Annotated[OverwritePage, PAGE_GROUP] = False,
    flags: UnbakeFlags = DEFAULT_UNBAKE,
    jobs: Annotated[Jobs, PAGE_GROUP] = None,
    json: Annotated[Json, PAGE_GROUP] = False,
    quiet: Annotated[Quiet, PAGE_GROUP] = False,
) -> int:
    """Write one HTML page about motions and their unbaked versions.

    The page has the key poses, a 3D player of the original and the unbaked
    motion, the keys and their importance, errors by joint and by number of keys,
    swings, and the commands that reproduce it. It is one file that needs no
    network. Keys and curves are those of keypose unbake with the same options.

    Files that cannot be read are listed and skipped; then the exit code is 1.

    For example:
      keypose report walk.bvh
      keypose report walk.bvh --tolerance-mm 5 --open
      keypose report takes/ -o takes.html --keys 20
      keypose report walk.bvh --method farthest --keys 8 -o farthest.html
    """
    if not paths:
        raise missing_argument_error("no file named", "what to report on", "keypose report FILES...")
    key_options, curve_options = flags.key_options(), flags.curve_options(residual=False)
    method = flags.select.method
    if flags.count.tolerance_mm is not None and method != "salient":
        raise UsageError(
            "is for --method salient, which chooses keys by the error of curves",
            option="tolerance_mm",
            value=True,
            expected=f"--keys with --method {method}",
        )
    load_options = flags.load.load_options()
    fps, frames = check_fps(flags.fps, "--fps"), parse_range(flags.range_)
    inputs = discover_clips(paths)
    if inputs.problems:
        raise inputs.problems[0]
    target = check_page_path(output, inputs, overwrite=overwrite)
    workers = resolve_jobs(
        jobs, CLIPS_PER_WORKER * len(inputs.files)
    )  # starting a worker takes less time than one clip
    if workers > 1:
        curve_options.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        ReportJob(
            file.path,
            target,
            f"clip-{n}",
            load_options,
            frames,
            fps,
            method,
            flags.count.keys,
            flags.count.tolerance_mm,
            flags.count.auto,
            key_options,
            curve_options,
        )
        for n, file in enumerate(inputs.files, 1)
    ]
    return run(work, target, page.title, workers, open_page=open_, json=json, quiet=quiet)


def check_page_path(output_path: Path | None, inputs: ClipFiles, *, overwrite: bool) -> Path:
    """Return the path of the page, checked before any work is done."""
    default_name = f"{stem(inputs.files[0].path.name)}.html" if len(inputs.files) == 1 else "report.html"
    target = page_path(default_name if output_path is None else output_path)
    if any(os.path.realpath(target) == os.path.realpath(file.path) for file in inputs.files):
        raise OptionError("is an input file", path=target, expected="another name for the page")
    return check_output_file(target, "the name of a page", overwrite=overwrite)


def run(
    work: Sequence[ReportJob],
    target: Path,
    title: str | None,
    n_workers: int,
    *,
    open_page: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Write the page for all readable files and print a summary; return the exit code."""
    run_result = run_write_jobs("Reporting", run_report_job, work, (), n_workers, json=json, quiet=quiet)
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
    mean_errors = [take.score.mean_mm for take in takes if take.score is not None]
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
        "score": clip_view.score_document(take.score),
        "notes": result.notes,
    }
