"""Run jobs on many clips: options for output files, progress, warnings, Ctrl-C, and a result of the whole run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar

from cyclopts import Parameter
from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from keypose.batch import Outcome, map_clips
from keypose.batch.plan import Target, looks_like_file, plan_file, plan_folder
from keypose.batch.worker import list_other_notes
from keypose.cli import messages, output
from keypose.cli.error_text import render_error
from keypose.cli.options import Jobs, Json
from keypose.cli.output import FAILED, INTERRUPTED, UsageError, conflict_error, missing_argument_error
from keypose.errors import FileError, format_count

if TYPE_CHECKING:
    from keypose.batch.file_discovery import ClipFiles
    from keypose.batch.keys import KeysResult, RefineTableResult
    from keypose.batch.plan import ExistingPolicy, Plan
    from keypose.batch.swings import SwingsResult

BAR_DELAY_S = 1.0  # before the bar of a single clip appears
MAX_NAME_COLUMNS = 24


class HasSourceAndTarget(Protocol):
    """A job that reads one file and writes one."""

    @property
    def source(self) -> Path:
        """Return the file to read."""

    @property
    def target(self) -> Path:
        """Return the file to write."""


class HasPath(Protocol):
    """A job that reads one file."""

    @property
    def path(self) -> Path:
        """Return the file to read."""


WriteJob = TypeVar("WriteJob", bound=HasSourceAndTarget)
ReadJob = TypeVar("ReadJob", bound=HasPath)
Result = TypeVar("Result")
ReadResult = TypeVar("ReadResult", "KeysResult", "RefineTableResult", "SwingsResult")
TargetFormat = Annotated[
    str | None, Parameter(help="The format of files in a folder, by suffix: bvh, glb, bvh.gz, ...")
]
InAndOut = Annotated[
    str,
    Parameter(
        name="IN OUT",
        help="Input (files, folders, patterns in quotes), and last the output: a file for one file, a folder for more.",
    ),
]
Overwrite = Annotated[
    bool,
    Parameter(
        negative="--no-overwrite",
        help="Replace existing files. Default: refuse before anything is written.",
    ),
]
SkipExisting = Annotated[
    bool,
    Parameter(negative="", help="Skip existing outputs, to continue an interrupted run."),
]
Quiet = Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors.")]


@Parameter(name="*")
@dataclass(frozen=True)
class WriteFlags:
    """What happens to existing files, and how the run is done and printed."""

    overwrite: Overwrite = False
    skip_existing: SkipExisting = False
    jobs: Jobs = None
    json: Json = False
    quiet: Quiet = False

    def existing_policy(self) -> ExistingPolicy:
        """Return what happens to existing files."""
        if self.overwrite and self.skip_existing:
            raise conflict_error("overwrite", "--skip-existing")
        return "overwrite" if self.overwrite else "skip" if self.skip_existing else "refuse"


DEFAULT_WRITE = WriteFlags()


def split_paths(paths: Sequence[str], command: str) -> tuple[list[str], str]:
    """Split the arguments into input names and the output, which is the last one."""
    if len(paths) < 2:
        raise missing_argument_error("", f"the files to {command}, and the output", f"keypose {command} IN OUT")
    *names, out = paths
    if not out:
        raise missing_argument_error(
            "the last name, where to, is empty", "a file or a folder", ". is the current folder"
        )
    return names, out


def build_plan(
    inputs: ClipFiles,
    names: Sequence[str],
    out: str,
    to: str | None,
    existing_policy: ExistingPolicy,
    command: str,
    extra_suffixes: tuple[str, ...] = (),
) -> Plan:
    """Plan the output of each input: a file, or a folder. ``extra_suffixes`` are allowed besides those of motions."""
    target = Path(out)
    has_slash = out.endswith(("/", "\\"))
    is_single_file = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if is_single_file and to is None and not has_slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        return plan_file(inputs.files[0], target, existing_policy, extra_suffixes)
    if os.path.isfile(out):  # noqa: PTH113
        target_name, example = (f"-o {out}", "-o out/") if command == "swings" else (f"the last name, {out},", "out/")
        raise UsageError(
            f"{target_name} is an existing file",
            expected=f"a folder for the results, such as: keypose {command} IN... {example} --to {to or 'glb'}",
        )
    if looks_like_file(target) and not has_slash:
        raise UsageError(
            f"{out} is the name of a file, but several results need a folder: "
            + (f"without --to it is a file, as {out}/ it is a folder" if is_single_file else f"{out}/ makes it one")
        )
    if to is None:
        raise missing_argument_error(f"{out} is a folder", "the format of the files in it, such as --to glb")
    return plan_folder(inputs.files, target, to, existing_policy, extra_suffixes)


@dataclass(frozen=True)
class RunResult(Generic[WriteJob, Result]):
    """The outcomes of a run."""

    work: Sequence[WriteJob]
    skipped: Sequence[Target]
    outcomes: Sequence[Outcome[Result]]  # in the order of ``work``
    seconds: float
    interrupted: bool

    @property
    def results(self) -> list[tuple[WriteJob, Result]]:
        """Return the jobs that succeeded with their results."""
        return [(self.work[o.index], o.value) for o in self.outcomes if o.value is not None]

    @property
    def is_batch(self) -> bool:
        """Return whether the run had more than one clip."""
        return len(self.work) > 1 or bool(self.skipped)

    def print_notes(self, notes: Callable[[Result], Sequence[str]]) -> None:
        """Print the notes of all results, except those printed as warnings already."""
        messages.print_notes(
            (self.work[o.index].source, list_other_notes(notes(o.value), o.warnings))
            for o in self.outcomes
            if o.value is not None
        )

    def print_summary(
        self,
        verb: str,
        build_block: Callable[[WriteJob, Result, float], RenderableType],
        build_table: Callable[[Sequence[tuple[WriteJob, Result]], int], RenderableType],
        summary_lines: Callable[[Sequence[tuple[WriteJob, Result]]], Sequence[str]],
    ) -> None:
        """Print the result of one clip as a block, or those of many as a table with totals."""
        results = self.results
        if len(self.work) == 1 and results:
            output.print_renderable(build_block(*results[0], self.seconds))
            return
        if results:
            output.print_renderable(build_table(results, output.stdout_console().width))
        phrases = self.count_phrases(verb)
        if phrases and self.is_batch:
            output.print_line(", ".join(phrases))
        for line in summary_lines(results) if results else ():
            output.print_line(line)

    def count_phrases(self, verb: str) -> list[str]:
        """Return the numbers of processed and skipped clips as phrases; ``verb`` is for example "converted"."""
        phrases = (
            [f"{len(self.results)} of {format_count(len(self.work), 'clip')} {verb} in {self.seconds:.2f} s"]
            if self.work
            else []
        )
        return phrases + self.skipped_phrases

    @property
    def skipped_phrases(self) -> list[str]:
        """Return the number of skipped clips as a phrase; empty if none."""
        return [f"{len(self.skipped)} existing skipped"] if self.skipped else []

    def finish(self, *, json: bool) -> int:
        """Print failures and what an interruption left; return the exit code."""
        failures = [(self.work[o.index].source, o.failure) for o in self.outcomes if o.failure]
        code = messages.report_failures(failures, quiet=json)
        if not self.interrupted:
            return code
        if not json and len(self.work) > 1:
            n_remaining = len(self.work) - len(self.outcomes)
            output.print_note(
                f"interrupted with {format_count(n_remaining, 'file')} to go; --skip-existing continues from here"
            )
        return INTERRUPTED

    def document(self, list_name: str, build_item: Callable[[WriteJob, Result], dict[str, Any]]) -> dict[str, Any]:
        """Return the run as a JSON document, with results under ``list_name``, each built by ``build_item``."""
        items, failed = [], []
        for o in self.outcomes:
            job = self.work[o.index]
            clip: dict[str, Any] = {"source": str(job.source), "target": str(job.target)}
            if o.failure is not None:
                failed.append(
                    clip | messages.failure_document(o.failure) | {"warnings": messages.render_warnings(o.warnings)}
                )
            elif o.value is not None:
                items.append(
                    clip
                    | build_item(job, o.value)
                    | {"seconds": o.seconds, "warnings": messages.render_warnings(o.warnings)}
                )
        return {
            list_name: items,
            "failed": failed,
            "skipped": [{"source": str(t.source), "target": str(t.target)} for t in self.skipped],
            "n_remaining": len(self.work) - len(self.outcomes),
            "interrupted": self.interrupted,
            "seconds": self.seconds,
        }


def run_write_jobs(
    verb: str,
    function: Callable[[WriteJob], Result],
    work: Sequence[WriteJob],
    skipped: Sequence[Target],
    n_workers: int,
    *,
    json: bool,
    quiet: bool,
    function_with_progress: Callable[[WriteJob, Callable[[float], None]], Result] | None = None,
    render: Callable[[Outcome[Result]], Outcome[Result]] = messages.render_outcome,
) -> RunResult[WriteJob, Result]:
    """Run all jobs; ``render`` replaces the messages of an outcome by those of the command line.

    ``function_with_progress`` replaces ``function`` for a single clip and reports the fraction that is done.
    """
    start = time.perf_counter()
    outcomes: list[Outcome[Result]] = []
    interrupted = False
    progress = ProgressBar(verb, [job.source for job in work], quiet=quiet)
    if function_with_progress is not None and len(work) == 1:
        reporting_function = function_with_progress

        def function(job: WriteJob) -> Result:
            return reporting_function(job, progress.update_fraction)

    results = map_clips(function, work, n_workers, on_start=progress.start_clip)
    try:
        with progress, closing(results):
            for outcome in results:
                progress.finish_clip(outcome)
                outcomes.append(render(outcome))
                if not (quiet or json):
                    messages.print_warnings(work[outcome.index].source, outcomes[-1].warnings)
    except KeyboardInterrupt:
        interrupted = True
    outcomes.sort(key=lambda outcome: outcome.index)
    return RunResult(work, skipped, outcomes, time.perf_counter() - start, interrupted)


def run_read_jobs(
    verb: str, function: Callable[[ReadJob], ReadResult], work: Sequence[ReadJob], n_workers: int, *, json: bool
) -> list[Outcome[ReadResult]]:
    """Run all jobs and return their outcomes in order, with command line options for keywords in messages."""
    outcomes: list[Outcome[ReadResult]] = []
    progress = ProgressBar(verb, [job.path for job in work], quiet=json)
    results = map_clips(function, work, n_workers, on_start=progress.start_clip)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(messages.render_outcome(outcome))
            progress.finish_clip(outcome)
    return sorted(outcomes, key=lambda outcome: outcome.index)


def collect_results(
    work: Sequence[ReadJob], outcomes: Sequence[Outcome[ReadResult]]
) -> list[tuple[ReadJob, ReadResult]]:
    """Print warnings and notes, and return the jobs that succeeded with their results."""
    for outcome in outcomes:
        messages.print_warnings(work[outcome.index].path, outcome.warnings)
    results = [(work[o.index], o, o.value) for o in outcomes if o.value is not None]
    messages.print_notes((job.path, list_other_notes(clip.notes, outcome.warnings)) for job, outcome, clip in results)
    return [(job, clip) for job, _, clip in results]


def print_results(
    work: Sequence[ReadJob],
    outcomes: Sequence[Outcome[ReadResult]],
    problems: Sequence[FileError],
    build_documents: Callable[[], list[Any]],
    print_clips: Callable[[], None],
    build_closing_documents: Callable[[], list[Any]] = list,
    *,
    json: bool,
    is_single_file: bool,
) -> int:
    """Print results as JSON or text, then failures; return the exit code.

    JSON documents of clips are followed by those of ``problems`` and of ``build_closing_documents``.
    """
    if json:
        all_documents = (
            build_documents() + [messages.error_document(problem) for problem in problems] + build_closing_documents()
        )
        output.print_json(all_documents[0] if is_single_file else all_documents)
    else:
        print_clips()
        for problem in problems:
            output.print_error(render_error(problem))
    code = messages.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems else 0)


class ProgressBar:
    """A context manager that counts clips; for a single slow clip it shows the fraction done, if that is reported.

    Without a terminal it shows nothing.
    """

    def __init__(self, verb: str, paths: Sequence[Path], *, quiet: bool = False) -> None:
        self._paths = paths
        self._start_times: dict[int, float] = {}
        self._is_visible = output.stderr_console().is_terminal and not quiet
        self._has_many = len(paths) > 1
        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            *((MofNCompleteColumn(), _Rate()) if self._has_many else (TaskProgressColumn(),)),
            TimeRemainingColumn(compact=True),
            _CurrentName(),
            console=output.stderr_console(),
            transient=True,
            disable=not self._is_visible,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(verb, total=len(paths), current="")
        self._is_started = False

    def __enter__(self) -> ProgressBar:
        if self._has_many:
            self._start_bar()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_started:
            self._bar.stop()

    def _start_bar(self) -> None:
        self._is_started = True
        self._bar.start()

    def update_fraction(self, fraction: float) -> None:
        """Set the fraction of the only clip that is done, from 0 to 1."""
        start = min(self._start_times.values(), default=None)
        if start is None or time.monotonic() - start < BAR_DELAY_S:
            return
        if not self._is_started:
            self._start_bar()
        self._bar.update(self._task, completed=fraction)

    def start_clip(self, index: int) -> None:
        """Record that work on a clip has started."""
        self._start_times[index] = time.monotonic()
        self._update(advance=0)

    def finish_clip(self, outcome: Outcome[Any]) -> None:
        """Count a finished clip."""
        self._start_times.pop(outcome.index, None)
        self._update(advance=1)

    def _update(self, advance: int) -> None:
        oldest = min(self._start_times, key=self._start_times.__getitem__, default=None)
        current = output.escape_unprintable(self._paths[oldest].name) if oldest is not None else ""
        self._bar.update(self._task, advance=advance, current=current)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "", style="dim")


class _CurrentName(ProgressColumn):
    """The clip that has been processed for the longest time; truncated at the start, where paths differ least."""

    def render(self, task: Task) -> Text:
        name = task.fields["current"]
        return Text(name if len(name) <= MAX_NAME_COLUMNS else "…" + name[1 - MAX_NAME_COLUMNS :], style="cyan")
