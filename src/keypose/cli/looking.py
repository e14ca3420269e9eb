"""One run over clips that only looks at them: progress, failures, and what was found for people or programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from keypose.batch import Outcome, map_clips
from keypose.cli import output, said
from keypose.cli.exits import FAILED
from keypose.cli.progress import Progress
from keypose.errors import FileError

if TYPE_CHECKING:
    from keypose.batch.keys import ClipKeys
    from keypose.batch.swings import ClipSwings


class Job(Protocol):
    """What is looked at."""

    @property
    def path(self) -> Path:
        """The file."""


Work = TypeVar("Work", bound=Job)
Found = TypeVar("Found", "ClipKeys", "ClipSwings")


def look(
    verb: str, function: Callable[[Work], Found], work: Sequence[Work], jobs: int, *, json: bool
) -> list[Outcome[Found]]:
    """What became of each clip, in the order of the work, in the words of the command line."""
    outcomes: list[Outcome[Found]] = []
    progress = Progress(verb, [job.path for job in work], quiet=json)
    results = map_clips(function, work, jobs, on_start=progress.begin)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(said.heard(work[outcome.index].path, outcome))
            progress.done(outcome)
    return sorted(outcomes, key=lambda outcome: outcome.index)


def found(work: Sequence[Work], outcomes: Sequence[Outcome[Found]]) -> list[tuple[Work, Found]]:
    """What was found, with its warnings and notes said."""
    for outcome in outcomes:
        said.say_warnings(work[outcome.index].path, outcome.warnings)
    some = [(work[o.index], o, o.value) for o in outcomes if o.value is not None]
    said.say_notes((job.path, said.own_notes(clip.notes, outcome.warnings)) for job, outcome, clip in some)
    return [(job, clip) for job, _, clip in some]


def finish(
    work: Sequence[Work],
    outcomes: Sequence[Outcome[Found]],
    problems: Sequence[FileError],
    documents: Callable[[], list[Any]],
    show: Callable[[], None],
    closing_documents: Callable[[], list[Any]] = list,
    *,
    json: bool,
    one_file: bool,
) -> int:
    """Everything for programs or for people, then what failed; the exit code.

    ``documents`` are those of the clips; after them come files that are none, and ``closing_documents``.
    """
    if json:
        told = documents() + [said.problem_document(problem) for problem in problems] + closing_documents()
        output.show_json(told[0] if one_file else told)
    else:
        show()
        for problem in problems:
            output.error(str(problem))
    code = said.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems else 0)
