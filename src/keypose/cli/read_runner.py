"""Run jobs that only read clips: progress, failures, and results as text or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from keypose.batch import Outcome, map_clips
from keypose.cli import messages, output
from keypose.cli.exit_codes import FAILED
from keypose.cli.progress import ProgressBar
from keypose.errors import FileError

if TYPE_CHECKING:
    from keypose.batch.keys import KeysResult
    from keypose.batch.swings import SwingsResult


class HasPath(Protocol):
    """A job that reads one file."""

    @property
    def path(self) -> Path:
        """Return the file to read."""


ReadJob = TypeVar("ReadJob", bound=HasPath)
ReadResult = TypeVar("ReadResult", "KeysResult", "SwingsResult")


def run_read_jobs(
    verb: str, function: Callable[[ReadJob], ReadResult], work: Sequence[ReadJob], jobs: int, *, json: bool
) -> list[Outcome[ReadResult]]:
    """Run all jobs and return their outcomes in order, with command line options for keywords in messages."""
    outcomes: list[Outcome[ReadResult]] = []
    progress = ProgressBar(verb, [job.path for job in work], quiet=json)
    results = map_clips(function, work, jobs, on_start=progress.start_clip)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(messages.translate_outcome(work[outcome.index].path, outcome))
            progress.finish_clip(outcome)
    return sorted(outcomes, key=lambda outcome: outcome.index)


def collect_results(
    work: Sequence[ReadJob], outcomes: Sequence[Outcome[ReadResult]]
) -> list[tuple[ReadJob, ReadResult]]:
    """Print warnings and notes, and return the jobs that succeeded with their results."""
    for outcome in outcomes:
        messages.print_warnings(work[outcome.index].path, outcome.warnings)
    results = [(work[o.index], o, o.value) for o in outcomes if o.value is not None]
    messages.print_notes(
        (job.path, messages.drop_repeated_notes(clip.notes, outcome.warnings)) for job, outcome, clip in results
    )
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
            output.print_error(str(problem))
    code = messages.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems else 0)
