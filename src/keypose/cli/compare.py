"""``keypose compare``: compare every method on the same clips."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.api.compare import CompareOptions, Comparison, MedianRow, tables
from keypose.api.compare.comparison import find_best
from keypose.api.compare.settings import (
    COMPARED_METHODS,
    INBETWEENS,
    REFERENCES,
    build_compare_options,
    suggest_method,
)
from keypose.api.compare.tables import check_parquet, format_number, has_parquet
from keypose.batch.compare import SUFFIX, CompareCache, CompareJob, CompareResult, compare_clip, default_compare_jobs
from keypose.batch.file_discovery import ClipFiles, discover_clips
from keypose.cli import messages, output
from keypose.cli.commands import command_line
from keypose.cli.error_text import render_error
from keypose.cli.options import (
    DEFAULT_LOAD,
    Files,
    Flags,
    Jobs,
    Json,
    LoadFlags,
    Range,
    check_fps,
    check_output_file,
    parse_range,
    resolve_jobs,
    with_flags,
)
from keypose.cli.output import FAILED, INTERRUPTED, UsageError, escape_unprintable, format_bytes, missing_argument_error
from keypose.cli.runner import Overwrite, Quiet, RunResult, run_write_jobs
from keypose.errors import FileError, OptionError, format_count
from keypose.formats.base import write_atomically
from keypose.options.compare import ComparisonOptions
from keypose.pictures.comparison import comparison_page

MAX_NOTES = 6
DETAILED_PERCENT = 90.0  # percentage removed whose details are printed, else the first one
BEST = "<"
LEGEND = (
    f"mean/max mm on a figure of 1.7 m; {BEST} lowest of those with exactly as many keys; * fewer keys on some clips; "
    "references have no keys, but as many stored values as fitted keys"
)
DEFAULTS = ComparisonOptions()
Figure = Callable[[MedianRow], float | None]
DETAILS: Sequence[tuple[str, Figure]] = (
    ("95 % mm", lambda each: each.p95_mm),
    ("mean °", lambda each: each.mean_deg),
    ("max °", lambda each: each.max_deg),
    ("slide mm", lambda each: each.foot_slide_mm),
    ("values", lambda each: each.stored_values),
    ("choosing ms", lambda each: each.selection_ms),
    ("fitting ms", lambda each: each.fitting_ms),
)
CompareRun = RunResult[CompareJob, CompareResult]


def parse_methods(flag: str, texts: Sequence[str]) -> tuple[str, ...] | None:
    """Parse ``salient,uniform`` into names of methods and references; None: all."""
    names = _split_words(texts)
    for name in names:
        if name not in COMPARED_METHODS and name not in REFERENCES:
            raise UsageError("is no method", option=flag, value=name, hint=suggest_method(name))
    return names or None


def parse_percents(flag: str, texts: Sequence[str]) -> tuple[float, ...]:
    """Parse ``80,90`` into percentages."""
    return tuple(_parse_percent(flag, text) for text in _split_words(texts)) or DEFAULTS.removed_percent


def parse_inbetweens(flag: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Parse ``linear,fitted`` into kinds of in-betweens."""
    names = _split_words(texts)
    for name in names:
        if name not in INBETWEENS:
            raise UsageError(option=flag, value=name, expected=f"one of {', '.join(INBETWEENS)}")
    return names or DEFAULTS.inbetweens


def _split_words(texts: Sequence[str]) -> tuple[str, ...]:
    """Split texts at commas."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def _parse_percent(flag: str, text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 100:
        raise UsageError(option=flag, value=text, expected="numbers from 0 to below 100, such as 80,90")
    return value


@with_flags(list_parsers={"methods": parse_methods, "removed_percent": parse_percents, "inbetweens": parse_inbetweens})
class CompareFlags(Flags, ComparisonOptions):
    """What is compared."""


DEFAULT_COMPARE = CompareFlags()


def compare(
    *files: Files,
    flags: CompareFlags = DEFAULT_COMPARE,
    range_: Range = None,
    report: Annotated[
        Path | None,
        Parameter(help="Write a page (.html), and the measurements beside it as .csv and, with pyarrow, .parquet."),
    ] = None,
    csv: Annotated[Path | None, Parameter(help="Write one line for each measurement.")] = None,
    parquet: Annotated[Path | None, Parameter(help="Write one row for each measurement. Needs pyarrow.")] = None,
    fresh: Annotated[
        bool, Parameter(negative="", help="Ignore the cache of an earlier run and measure every clip again.")
    ] = False,
    overwrite: Overwrite = False,
    load: LoadFlags = DEFAULT_LOAD,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare every method of choosing keys on the same clips.

    Shows the mean and the largest error of every method and baseline at the same
    numbers of keys, and of two references with the same number of stored values.
    Errors are medians over the clips, in millimetres on a figure of 1.7 m. If
    results are written to files, finished clips are cached in a hidden folder
    beside them: after an interruption the same command continues.

    For example:
      keypose compare walk.bvh
      keypose compare takes/ --report report.html --fps 60
      keypose compare takes/ --methods salient --removed-percent 90 --csv out.csv
    """
    if not files:
        raise missing_argument_error("no file named", "at least one file, folder or pattern")
    check_fps(flags.fps, ComparisonOptions)
    settings = build_compare_options(**flags.options(), frames=parse_range(range_))
    load_options = load.load_options()
    inputs = discover_clips(files)
    outputs = parse_outputs(report, csv, parquet, inputs, overwrite=overwrite)
    cache = None if outputs.main_file is None else open_cache(outputs.main_file, fresh=fresh)
    work = [CompareJob(file.path, settings, load_options, cache, outputs.main_file or Path()) for file in inputs.files]
    workers = resolve_jobs(jobs, len(work)) if jobs is not None else default_compare_jobs(len(work))
    return run(work, inputs.problems, settings, outputs, workers, json=json, quiet=quiet)


@dataclass(frozen=True)
class OutputFiles:
    """The files that a run writes; None if not requested."""

    report: Path | None
    csv: Path | None
    parquet: Path | None
    overwrite: bool = False

    @property
    def main_file(self) -> Path | None:
        """Return the first requested file; the cache is stored beside it."""
        return self.report or self.csv or self.parquet

    @property
    def files(self) -> list[Path]:
        """Return all requested files."""
        return [file for file in (self.report, self.csv, self.parquet) if file is not None]


def parse_outputs(
    report: Path | None, csv: Path | None, parquet: Path | None, inputs: ClipFiles, *, overwrite: bool
) -> OutputFiles:
    """Return the output files, checked; with a page, tables are written beside it."""
    for option, path, suffix in (
        ("--report", report, ".html"),
        ("--csv", csv, ".csv"),
        ("--parquet", parquet, ".parquet"),
    ):
        if path is not None and path.suffix.lower() != suffix:
            raise OptionError(option=option.removeprefix("--"), value=path, expected=f"a name that ends in {suffix}")
    if parquet is not None:
        check_parquet()
    if report is not None:
        csv = csv or report.with_suffix(".csv")
        parquet = parquet or (report.with_suffix(".parquet") if has_parquet() else None)
    targets = OutputFiles(report, csv, parquet, overwrite)
    _check_outputs(targets.files, inputs, overwrite=overwrite)
    return targets


def _check_outputs(files: Sequence[Path], inputs: ClipFiles, *, overwrite: bool) -> None:
    input_paths = {os.path.realpath(file.path) for file in inputs.files}
    for file in files:
        if os.path.realpath(file) in input_paths:
            raise OptionError("is an input file", path=file, expected="another name for results")
        check_output_file(file, "the name of a file", overwrite=overwrite)


def open_cache(main: Path, *, fresh: bool) -> CompareCache:
    """Return the cache of finished clips, a hidden folder beside the results; empty it if ``fresh``."""
    cache = CompareCache(main.with_name(f".{main.stem}.compare"))
    if os.path.lexists(cache.folder) and not cache.folder.is_dir():
        raise FileError("is a file", path=cache.folder, expected=f"a folder for finished clips (*{SUFFIX})")
    if fresh:
        cache.prune(())
    return cache


def run(
    work: Sequence[CompareJob],
    problems: Sequence[FileError],
    settings: CompareOptions,
    outputs: OutputFiles,
    n_workers: int,
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
        n_workers,
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
            output.print_error(render_error(problem))
    failures = [(work[o.index].source, o.failure) for o in run_result.outcomes if o.failure]
    code = messages.report_failures(failures, quiet=json) or (FAILED if problems else 0)
    if not run_result.interrupted:
        return code
    if not json:
        n_remaining = len(work) - len(run_result.outcomes)
        next_step = "the same command continues from here" if outputs.main_file else "nothing was written"
        output.print_note(f"interrupted with {format_count(n_remaining, 'clip')} to go; {next_step}")
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
                raise FileError("was written by another run meanwhile", path=file, hint="--overwrite replaces it")
        _write(comparison, outputs, failed)
    except FileError as error:
        try:
            for job, clip in run_result.results:
                if job.cache is not None:
                    job.cache.save_rows(clip.cache_key, clip.rows)
        except FileError:
            raise error from None
        raise FileError(str(error), hint="the measurements are cached: the same command does not repeat them") from None


def _write(comparison: Comparison, outputs: OutputFiles, failed: Sequence[tuple[str, str]]) -> None:
    """Write the tables before the page, so that they exist when the page does."""
    overwrite = outputs.overwrite
    if outputs.csv is not None:
        tables.write_csv(comparison.rows, outputs.csv, overwrite=overwrite)
    if outputs.parquet is not None:
        tables.write_parquet(comparison.rows, outputs.parquet, overwrite=overwrite)
    if outputs.report is not None:
        page = comparison_page(comparison, command=command_line(), failures=failed)
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
    output.print_renderable(build_view(comparison, output.stdout_console().width))
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


def build_view(comparison: Comparison, width: int) -> Group:
    """Return errors at every percentage removed, then details at one of them."""
    renderables: list[RenderableType] = []
    if comparison.removed_percent:
        renderables += [_title(comparison), _errors(comparison), Text(LEGEND, style="dim"), Text("")]
        percents = comparison.removed_percent
        percent = DETAILED_PERCENT if DETAILED_PERCENT in percents else percents[0]
        renderables += [Text(f"other measures, at {percent:g} % removed", style="bold"), _details(comparison, percent)]
    notes = comparison.notes
    for note in notes[:MAX_NOTES]:
        renderables.append(Text(escape_unprintable(note), style="dim"))
    if len(notes) > MAX_NOTES:
        renderables.append(Text(f"and {len(notes) - MAX_NOTES} more notes; --json has all", style="dim"))
    return Group(*renderables)


def _title(comparison: Comparison) -> Text:
    clips = comparison.clips
    if len(clips) > 1:
        return Text(f"{format_count(len(clips), 'clip')}: medians, by percent of the frames removed", style="bold")
    first = comparison.rows[0]
    title = (
        f"{first.clip}: {format_count(first.frames, 'frame')} at {first.fps:.6g} fps, by percent of the frames removed"
    )
    return Text(escape_unprintable(title), style="bold")


def _errors(comparison: Comparison) -> Table:
    middles = comparison.medians()
    by = {(each.method, each.inbetweens, each.removed_percent): each for each in middles}
    grid = _grid()
    percents = comparison.removed_percent
    best = {}
    for percent in percents:
        some = [each for each in middles if each.removed_percent == percent]
        best[percent] = find_best(some, lambda each: each.mean_mm), find_best(some, lambda each: each.max_mm)
        grid.add_column(f"{percent:g} %", justify="right", no_wrap=True)
    for row_key in comparison.method_pairs:
        cells = [_mean_and_max(by.get((*row_key, percent)), *best[percent]) for percent in percents]
        grid.add_row(*row_key, *cells)
    return grid


def _mean_and_max(middle: MedianRow | None, best_mean: MedianRow | None, best_max: MedianRow | None) -> Text:
    if middle is None or middle.mean_mm is None:
        return Text("-")
    mean, largest = (
        (f"{BEST if middle is best else ''}{format_number(value)}", "bold green" if middle is best else "")
        for value, best in ((middle.mean_mm, best_mean), (middle.max_mm, best_max))
    )
    return Text.assemble(mean, "/", largest, "*" if middle.n_exact < middle.n_clips else "")


def _details(comparison: Comparison, percent: float) -> Table:
    grid = _grid()
    for name, _ in DETAILS:
        grid.add_column(name, justify="right", no_wrap=True)
    for each in comparison.medians():
        if each.removed_percent == percent:
            grid.add_row(each.method, each.inbetweens, *(format_number(of(each)) for _, of in DETAILS))
    return grid


def _grid() -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("method", no_wrap=True, style="cyan")
    grid.add_column("between", no_wrap=True)
    return grid
