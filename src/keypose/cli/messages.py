"""Print failures, warnings and notes of outcomes, and build their JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keypose.batch import Failure, Outcome
from keypose.batch.file_discovery import suggest_file
from keypose.cli import output
from keypose.cli.error_text import error_fields, render_error
from keypose.cli.output import FAILED
from keypose.errors import FormatWarning, KeyposeError, format_count
from keypose.model import note_code

if TYPE_CHECKING:
    from keypose.batch.info import ClipInfo

MAX_TEXTS = 20  # warnings or notes printed per clip

Result = TypeVar("Result")


def render_outcome(outcome: Outcome[Result]) -> Outcome[Result]:
    """Return the outcome with the message of its failure for users of the command line, and with suggestions."""
    return outcome if outcome.failure is None else replace(outcome, failure=_render_failure(outcome.failure))


def _render_failure(failure: Failure) -> Failure:
    error = failure.error
    if error is None:
        return failure
    message = render_error(error)
    if error.code == "no_such_file" and error.path is not None and error.hint is None:
        near = suggest_file(Path(error.path))
        message += f"; did you mean {near}?" if near else ""
    return replace(failure, message=message)


def info_document(path: Path, outcome: Outcome[ClipInfo]) -> dict[str, Any]:
    """Return the description of one clip, or its failure, as a JSON document."""
    if outcome.failure is not None:
        return {"path": str(path), **failure_document(outcome.failure), "warnings": render_warnings(outcome.warnings)}
    assert outcome.value is not None
    fields = asdict(outcome.value) | {"faults": [fault._asdict() for fault in outcome.value.faults]}
    optional_fields = {name: fields.pop(name) for name in ("stored", "tree")}
    return (
        fields
        | {"warnings": render_warnings(outcome.warnings)}
        | {name: value for name, value in optional_fields.items() if value}
    )


def failed_file_document(path: Path, outcome: Outcome[Any]) -> dict[str, Any]:
    """Return a file that could not be processed as a JSON document."""
    assert outcome.failure is not None
    warnings = render_warnings(outcome.warnings)
    return {"file": str(path), **failure_document(outcome.failure), "warnings": warnings}


def failure_document(failure: Failure) -> dict[str, Any]:
    """Return a failure as JSON fields."""
    fields = {} if failure.error is None else {"error_fields": error_fields(failure.error)}
    return {"error": failure.message, "error_kind": failure.kind} | fields


def error_document(error: KeyposeError) -> dict[str, Any]:
    """Return an error that concerns no single clip as JSON fields."""
    return {"error": render_error(error), "error_kind": type(error).__name__, "error_fields": error_fields(error)}


def report_failures(failures: Sequence[tuple[Path, Failure]], *, quiet: bool = False) -> int:
    """Print a line per failure and return the exit code. Bugs are reported even if ``quiet``."""
    from keypose.cli.app import report_bug

    code = 0
    for path, failure in failures:
        if failure.is_bug:
            code = report_bug(failure.kind, f"{failure.message} (at {path})", failure.traceback)
        elif not quiet:
            names_file = failure.error is not None and failure.error.path == str(path)
            output.print_error(failure.message if names_file else f"{path}: {failure.message}")
    return code or (FAILED if failures else 0)


def render_warnings(warnings: Iterable[FormatWarning]) -> list[str]:
    """Return the texts of warnings for users of the command line."""
    return [render_error(warning) for warning in warnings]


def truncate_texts(texts: Sequence[str]) -> list[str]:
    """Return at most MAX_TEXTS texts, and a line with the number of others."""
    more = len(texts) - MAX_TEXTS
    return [*texts[:MAX_TEXTS], *([_more_line(more)] if more > 0 else [])]


def _more_line(n: int) -> str:
    return f"and {n:,} more; --json has all"


def print_warnings(path: Path, warnings: Sequence[FormatWarning]) -> None:
    """Print at most MAX_TEXTS ``warning:`` lines for one clip."""
    for warning in warnings[:MAX_TEXTS]:
        output.print_warning(render_error(warning))
    if len(warnings) > MAX_TEXTS:
        output.print_warning(f"{path}: {_more_line(len(warnings) - MAX_TEXTS)}")


def print_notes(clips: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """Print ``note:`` lines; a note shared by several clips is printed once, as are notes with the same code."""
    groups: dict[str, list[tuple[Path, str]]] = {}
    for path, notes in clips:
        for note in truncate_texts(notes):
            groups.setdefault(note_code(note) or note, []).append((path, note))
    for group in groups.values():
        path, note = group[0]
        more = len(group) - 1
        if more and all(other == note for _, other in group):
            output.print_note(f"{len(group)} clips: {note}")
        else:
            output.print_note(
                f"{path}: {note}" + (f" (and the like in {format_count(more, 'more clip')})" if more else "")
            )


@dataclass
class _MessageGroup:
    """Warnings or notes with the same code, or equal notes."""

    first_text: str  # with the path
    note: str  # without the path; empty for warnings, and for different notes with the same code
    last_path: str
    n_files: int = 1


class MessageSummary:
    """Warnings and notes by code, notes without one by text, of many files; memory is bounded."""

    def __init__(self) -> None:
        self._groups: dict[str, _MessageGroup] = {}
        self._n_hidden = 0

    def add_warning(self, path: str, warning: FormatWarning) -> str:
        """Add a warning about a file; return its text."""
        text = render_error(warning)
        self._add(path, warning.code, text if warning.path is not None else f"{path}: {text}", "")
        return text

    def add_note(self, path: str, note: str) -> str:
        """Add a note about a file; return it."""
        self._add(path, note_code(note) or note, f"{path}: {note}", note)
        return note

    def _add(self, path: str, key: str, text: str, note: str) -> None:
        group = self._groups.get(key)
        if group is not None:
            group.n_files += group.last_path != path
            group.last_path = path
            group.note = group.note if group.note == note else ""
        elif len(self._groups) < MAX_TEXTS:
            self._groups[key] = _MessageGroup(text, note, path)
        else:
            self._n_hidden += 1

    def print(self, print_line: Callable[[str], None]) -> None:
        """Print a line for each group."""
        for group in self._groups.values():
            print_line(_format_group(group))
        if self._n_hidden:
            print_line(_more_line(self._n_hidden))


def _format_group(group: _MessageGroup) -> str:
    if group.n_files == 1:
        return group.first_text
    if group.note:
        return f"{format_count(group.n_files, 'file', ',')}: {group.note}"
    more = group.n_files - 1
    return f"{group.first_text} (and the like in {format_count(more, 'more file', ',')})"
