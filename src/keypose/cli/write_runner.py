"""Run jobs that write files: progress, warnings, Ctrl-C, and a result of the whole run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from keypose.batch import Outcome, map_clips
from keypose.batch.plan import Target
from keypose.cli import messages, output
from keypose.cli.exit_codes import INTERRUPTED
from keypose.cli.progress import ProgressBar


class HasSourceAndTarget(Protocol):
    """A job that reads one file and writes one."""

    @property
    def source(self) -> Path:
        """Return the file to read."""

    @property
    def target(self) -> Path:
        """Return the file to write."""


WriteJob = TypeVar("WriteJob", bound=HasSourceAndTarget)
Result = TypeVar("Result")


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
            (self.work[o.index].source, messages.drop_repeated_notes(notes(o.value), o.warnings))
            for o in self.outcomes
            if o.value is not None
        )

    def count_phrases(self, verb: str) -> list[str]:
        """Return the numbers of processed and skipped clips as phrases; ``verb`` is for example "converted"."""
        phrases = [f"{len(self.results)} of {len(self.work)} clips {verb} in {self.seconds:.2f} s"] if self.work else []
        return phrases + self.skipped_phrases

    @property
    def skipped_phrases(self) -> list[str]:
        """Return the number of skipped clips as a phrase; empty if none."""
        return [f"{len(self.skipped)} that exist left out"] if self.skipped else []

    def finish(self, *, json: bool) -> int:
        """Print failures and what an interruption left; return the exit code."""
        failures = [(self.work[o.index].source, o.failure) for o in self.outcomes if o.failure]
        code = messages.report_failures(failures, quiet=json)
        if not self.interrupted:
            return code
        if not json and len(self.work) > 1:
            n_remaining = len(self.work) - len(self.outcomes)
            output.print_note(f"interrupted with {n_remaining} files to go; --skip-existing goes on from here")
        return INTERRUPTED

    def document(self, list_name: str, build_item: Callable[[WriteJob, Result], dict[str, Any]]) -> dict[str, Any]:
        """Return the run as a JSON document, with results under ``list_name``, each built by ``build_item``."""
        items, failed = [], []
        for o in self.outcomes:
            job = self.work[o.index]
            clip: dict[str, Any] = {"source": str(job.source), "target": str(job.target)}
            if o.failure is not None:
                failed.append(clip | messages.failure_document(o.failure) | {"warnings": o.warnings})
            elif o.value is not None:
                items.append(clip | build_item(job, o.value) | {"seconds": o.seconds, "warnings": o.warnings})
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
    jobs: int,
    translate: Callable[[Path, Outcome[Result]], Outcome[Result]],
    *,
    json: bool,
    quiet: bool,
    function_with_progress: Callable[[WriteJob, Callable[[float], None]], Result] | None = None,
) -> RunResult[WriteJob, Result]:
    """Run all jobs; ``translate`` puts command line options into the messages of each outcome.

    ``function_with_progress`` replaces ``function`` for a single clip and reports the fraction that is done.
    """
    start = time.perf_counter()
    outcomes: list[Outcome[Result]] = []
    interrupted = False
    progress = ProgressBar(verb, [job.source for job in work], quiet=quiet)
    if function_with_progress is not None and len(work) == 1:
        reporting_function = function_with_progress

        def function(job: WriteJob) -> Result:
            return reporting_function(job, progress.update_part)

    results = map_clips(function, work, jobs, on_start=progress.start_clip)
    try:
        with progress, closing(results):
            for outcome in results:
                progress.finish_clip(outcome)
                outcomes.append(translate(work[outcome.index].source, outcome))
                if not (quiet or json):
                    messages.print_warnings(work[outcome.index].source, outcomes[-1].warnings)
    except KeyboardInterrupt:
        interrupted = True
    outcomes.sort(key=lambda outcome: outcome.index)
    return RunResult(work, skipped, outcomes, time.perf_counter() - start, interrupted)
