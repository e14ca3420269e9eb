"""``keypose report``: write an HTML page about each motion and its unbaked version, and an index of several pages."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from keypose.batch.file_discovery import ClipFiles, discover_clips, stem
from keypose.batch.plan import ExistingPolicy, Plan, make_folder, plan_file, plan_folder
from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
from keypose.cli import clip_view, output
from keypose.cli.key_options import DEFAULT_UNBAKE, UnbakeFlags
from keypose.cli.options import Flags, OpenPage, check_fps, check_output_file, parse_range, resolve_jobs, with_flags
from keypose.cli.output import UsageError, missing_argument_error
from keypose.cli.runner import DEFAULT_WRITE, RunResult, WriteFlags, run_write_jobs
from keypose.errors import FileError, OptionError, format_count
from keypose.formats.base import write_atomically
from keypose.options.pictures import PageOptions
from keypose.pictures.report.build import (
    SUFFIXES,
    ReportJob,
    ReportJobResult,
    is_report_page,
    page_path,
    read_summary,
    render_index_page,
    run_report_job,
)

PAGE_GROUP = Parameter(group=Group("Page", sort_key=1))
DEFAULT_FOLDER = "report"
INDEX_NAME = "index.html"


@with_flags()
class PageFlags(Flags, PageOptions):
    """The appearance of the page."""


DEFAULT_PAGE = PageFlags()


def report(
    *paths: Annotated[
        str,
        Parameter(name="FILES", help="Input: files, folders, patterns in quotes."),
    ],
    output: Annotated[
        str | None,
        Parameter(
            name=("--output", "-o"),
            help="The page of one file, an .html file, or the folder for the pages of several. Default: NAME.html, or "
            "the folder report, in the current folder.",
        ),
        PAGE_GROUP,
    ] = None,
    page: Annotated[PageFlags, PAGE_GROUP] = DEFAULT_PAGE,
    open_: Annotated[OpenPage, PAGE_GROUP] = False,
    flags: UnbakeFlags = DEFAULT_UNBAKE,
    write: Annotated[WriteFlags, PAGE_GROUP] = DEFAULT_WRITE,
) -> int:
    """Write an HTML page about each motion and its unbaked version.

    The page has the key poses, a 3D player of the original and the unbaked
    motion, the keys and their importance, errors by joint and by number of keys,
    swings, and the commands that reproduce it. It is one file that needs no
    network. Keys and curves are those of keypose unbake with the same options.

    Several files get a page each, in a folder with an index.html that lists them.
    Files that cannot be read are listed and skipped; then the exit code is 1.

    For example:
      keypose report walk.bvh
      keypose report walk.bvh --tolerance-mm 5 --open
      keypose report takes/ -o pages/ --keys 20
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
    existing_policy = write.existing_policy()
    load_options = flags.load.load_options()
    fps, frames = check_fps(flags.fps), parse_range(flags.range_)
    inputs = discover_clips(paths)
    if inputs.problems:
        raise inputs.problems[0]
    plan, index = plan_pages(output, inputs, existing_policy)
    # starting a worker takes less time than one clip
    workers = resolve_jobs(write.jobs, CLIPS_PER_WORKER * len(plan.targets))
    if workers > 1:
        curve_options.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        ReportJob(
            t.source,
            t.target,
            index,
            page.title if index is None else None,
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
        for t in plan.targets
    ]
    return run(work, plan, index, page.title, workers, open_page=open_, json=write.json, quiet=write.quiet)


def plan_pages(output_name: str | None, inputs: ClipFiles, existing: ExistingPolicy) -> tuple[Plan, Path | None]:
    """Return the page of each file and, for a folder of pages, its index; checked before any work is done."""
    is_single = len(inputs.files) == 1
    if output_name is None:
        output_name = f"{stem(inputs.files[0].path.name)}.html" if is_single else DEFAULT_FOLDER
    target = Path(output_name)
    has_slash = output_name.endswith(("/", "\\"))
    is_page = target.suffix.lower() in SUFFIXES and not has_slash
    if is_single and not has_slash and (is_page or not target.is_dir()):
        return _plan_page(page_path(output_name), inputs, existing), None
    if is_page and not target.is_dir():
        raise UsageError(
            f"{output_name} is one page, but each of {len(inputs.files)} motions gets its own",
            expected=f"a folder for them, such as -o {target.with_suffix('')}-pages/",
        )
    plan = plan_folder(inputs.files, target, SUFFIXES[0], existing, SUFFIXES, whole_names=True)
    index = target / INDEX_NAME
    if existing == "refuse" and os.path.lexists(index):
        raise FileError("exists already", code="exists", path=index, hint="--overwrite replaces it")
    for path in (*(t.target for t in plan.skipped), index) if existing == "skip" else ():
        if os.path.lexists(path) and not is_report_page(path):
            raise FileError("is no page of a report", code="exists", path=path, hint="--overwrite replaces it")
    return plan, index


def _plan_page(target: Path, inputs: ClipFiles, existing: ExistingPolicy) -> Plan:
    if os.path.realpath(target) == os.path.realpath(inputs.files[0].path):
        raise OptionError("is an input file", path=target, expected="another name for the page")
    check_output_file(target, "the name of a page", overwrite=True)
    return plan_file(inputs.files[0], target, existing, SUFFIXES)


def run(
    work: Sequence[ReportJob],
    plan: Plan,
    index: Path | None,
    title: str | None,
    n_workers: int,
    *,
    open_page: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Write the pages of all readable files and their index, and print a summary; return the exit code."""
    run_result = run_write_jobs("Reporting", run_report_job, work, plan.skipped, n_workers, json=json, quiet=quiet)
    n_bytes = sum(result.bytes for _, result in run_result.results)
    pages = [*(job.target for job, _ in run_result.results), *(t.target for t in plan.skipped)]
    if index is not None and pages:
        n_bytes += _write_index(index, pages, title)
    main_page = (index or pages[0]) if pages else None
    if json:
        output.print_json(
            {"report": None if main_page is None else str(main_page), "bytes": n_bytes}
            | run_result.document("clips", _document)
        )
    elif not quiet:
        _print_summary(run_result, main_page, n_bytes)
    if open_page and main_page is not None:
        webbrowser.open(main_page.resolve().as_uri())
    return run_result.finish(json=json)


def _write_index(index: Path, pages: Sequence[Path], title: str | None) -> int:
    """Write the index of these pages and return its size."""
    summaries = [(page, read_summary(page)) for page in pages]
    page_bytes = render_index_page(
        [(page.relative_to(index.parent), summary) for page, summary in summaries if summary is not None], title
    ).encode()
    make_folder(index.parent)
    write_atomically(index, page_bytes)
    return len(page_bytes)


def _print_summary(run_result: RunResult[ReportJob, ReportJobResult], main_page: Path | None, n_bytes: int) -> None:
    run_result.print_notes(lambda result: result.notes)
    if main_page is None:
        return
    results = [result for _, result in run_result.results]
    phrases = run_result.skipped_phrases
    if results:
        n_keys = sum(result.summary.n_keys for result in results)
        n_frames = sum(result.summary.n_frames for result in results)
        is_single = len(results) == len(run_result.work) == 1
        mean_errors = [result.summary.mean_mm for result in results if result.summary.mean_mm is not None]
        phrases = [
            "1 motion" if is_single else f"{len(results)} of {format_count(len(run_result.work), 'motion')}",
            f"{format_count(n_keys, 'key', ',')} of {format_count(n_frames, 'frame', ',')}",
            *([f"mean error {sum(mean_errors) / len(mean_errors):.2f} mm"] if mean_errors else []),
            output.format_bytes(n_bytes),
            f"in {run_result.seconds:.2f} s",
            *phrases,
        ]
    output.print_line(f"{main_page}: {', '.join(phrases)}")


def _document(job: ReportJob, result: ReportJobResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "n_frames": result.summary.n_frames,
        "fps": result.summary.fps,
        "n_keys": result.summary.n_keys,
        "score": clip_view.score_document(result.score),
        "bytes": result.bytes,
        "notes": result.notes,
    }
