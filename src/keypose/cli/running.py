"""One run over clips that writes files: progress, warnings as they come, Ctrl-C, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from keypose.batch import Outcome, map_clips
from keypose.batch.plan import Target
from keypose.cli import output, said
from keypose.cli.exits import INTERRUPTED
from keypose.cli.progress import Progress


class Job(Protocol):
    """What is read, and what is written."""

    @property
    def source(self) -> Path:
        """Read from there."""

    @property
    def target(self) -> Path:
        """Written there."""


Work = TypeVar("Work", bound=Job)
Made = TypeVar("Made")


@dataclass(frozen=True)
class Run(Generic[Work, Made]):
    """What became of the work."""

    work: Sequence[Work]
    skipped: Sequence[Target]
    outcomes: Sequence[Outcome[Made]]  # in the order of the work
    seconds: float
    interrupted: bool

    @property
    def written(self) -> list[tuple[Work, Made]]:
        """What was done, with its result."""
        return [(self.work[o.index], o.value) for o in self.outcomes if o.value is not None]

    @property
    def is_about_many(self) -> bool:
        """Whether there was more to do than one clip."""
        return len(self.work) > 1 or bool(self.skipped)

    def say_notes(self, notes: Callable[[Made], Sequence[str]]) -> None:
        """What readers and the work noticed, but for what was said as a warning already."""
        said.say_notes(
            (self.work[o.index].source, said.own_notes(notes(o.value), o.warnings))
            for o in self.outcomes
            if o.value is not None
        )

    def counted(self, done: str) -> list[str]:
        """How many clips were ``done`` and how many left out, as parts of a sentence."""
        parts = [f"{len(self.written)} of {len(self.work)} clips {done} in {self.seconds:.2f} s"] if self.work else []
        return parts + self.left_out

    @property
    def left_out(self) -> list[str]:
        """How many were there already, as a part of a sentence; empty: none."""
        return [f"{len(self.skipped)} that exist left out"] if self.skipped else []

    def code(self, *, json: bool) -> int:
        """Says what failed and what is left to do; the exit code."""
        failures = [(self.work[o.index].source, o.failure) for o in self.outcomes if o.failure]
        code = said.report_failures(failures, quiet=json)
        if not self.interrupted:
            return code
        if not json and len(self.work) > 1:
            left = len(self.work) - len(self.outcomes)
            output.note(f"interrupted with {left} files to go; --skip-existing goes on from here")
        return INTERRUPTED

    def document(self, done: str, of: Callable[[Work, Made], dict[str, Any]]) -> dict[str, Any]:
        """The run for JSON; ``done`` names the list of what was made, ``of`` tells each."""
        made, failed = [], []
        for o in self.outcomes:
            job = self.work[o.index]
            clip: dict[str, Any] = {"source": str(job.source), "target": str(job.target)}
            if o.failure is not None:
                failed.append(clip | said.failure_document(o.failure) | {"warnings": o.warnings})
            elif o.value is not None:
                made.append(clip | of(job, o.value) | {"seconds": o.seconds, "warnings": o.warnings})
        return {
            done: made,
            "failed": failed,
            "skipped": [{"source": str(t.source), "target": str(t.target)} for t in self.skipped],
            "left": len(self.work) - len(self.outcomes),
            "interrupted": self.interrupted,
            "seconds": self.seconds,
        }


def run_all(
    verb: str,
    function: Callable[[Work], Made],
    work: Sequence[Work],
    skipped: Sequence[Target],
    jobs: int,
    heard: Callable[[Path, Outcome[Made]], Outcome[Made]],
    *,
    json: bool,
    quiet: bool,
    in_parts: Callable[[Work, Callable[[float], None]], Made] | None = None,
) -> Run[Work, Made]:
    """Does all the work; ``heard`` turns each outcome into the words of the command line.

    ``in_parts`` does the same as ``function`` for a clip that is the only one, and tells which part of it is done.
    """
    start = time.perf_counter()
    outcomes: list[Outcome[Made]] = []
    interrupted = False
    progress = Progress(verb, [job.source for job in work], quiet=quiet)
    if in_parts is not None and len(work) == 1:
        told = in_parts

        def function(job: Work) -> Made:
            return told(job, progress.part)

    results = map_clips(function, work, jobs, on_start=progress.begin)
    try:
        with progress, closing(results):
            for outcome in results:
                progress.done(outcome)
                outcomes.append(heard(work[outcome.index].source, outcome))
                if not (quiet or json):
                    said.say_warnings(work[outcome.index].source, outcomes[-1].warnings)
    except KeyboardInterrupt:
        interrupted = True
    outcomes.sort(key=lambda outcome: outcome.index)
    return Run(work, skipped, outcomes, time.perf_counter() - start, interrupted)
