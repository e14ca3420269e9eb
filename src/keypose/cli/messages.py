"""Print failures, warnings and notes of outcomes, and build their JSON documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keypose.batch import Failure, Outcome
from keypose.batch.file_discovery import suggest_file
from keypose.cli import output
from keypose.cli.error_text import error_fields, render_error
from keypose.cli.output import FAILED
from keypose.errors import KeyposeError

if TYPE_CHECKING:
    from keypose.batch.info import ClipInfo

MAX_TEXTS = 20  # warnings or notes printed per clip
# Notes that differ between clips only by a name, with their text for several clips.
NOTE_KINDS = ((re.compile(r"skeleton from .+"), "skeleton found beside them"),)
_NAMES_AND_NUMBERS = re.compile(r"'[^']*'|[0-9]+(?:\.[0-9]+)?")  # parts that differ from file to file
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
        return {"path": str(path), **failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert outcome.value is not None
    fields = asdict(outcome.value)
    optional_fields = {name: fields.pop(name) for name in ("stored", "tree")}
    return (
        fields
        | {"warnings": list(outcome.warnings)}
        | {name: value for name, value in optional_fields.items() if value}
    )


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


def drop_repeated_notes(notes: Iterable[str], warnings: Sequence[str]) -> list[str]:
    """Return the notes that no warning ends with, as those were printed already."""
    remaining = dict.fromkeys(notes)
    for length in {
        len(note) for note in remaining
    }:  # avoids comparing every note with every warning: a file may have many of both
        for text in warnings:
            remaining.pop(text[-length:] if length else "", None)
    return list(remaining)


def truncate_texts(texts: Sequence[str]) -> list[str]:
    """Return at most MAX_TEXTS texts, and a line with the number of others."""
    more = len(texts) - MAX_TEXTS
    return [*texts[:MAX_TEXTS], *([f"and {more} more; --json has all"] if more > 0 else [])]


def print_warnings(path: Path, warnings: Sequence[str]) -> None:
    """Print at most MAX_TEXTS ``warning:`` lines for one clip."""
    for text in warnings[:MAX_TEXTS]:
        output.print_warning(text)
    if len(warnings) > MAX_TEXTS:
        output.print_warning(f"{path}: {truncate_texts(warnings)[-1]}")


def print_notes(clips: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """Print ``note:`` lines; a note shared by several clips is printed once."""
    notes_by_kind: dict[str, list[tuple[Path, str]]] = {}
    for path, notes in clips:
        for note in truncate_texts(notes):
            kind = next((together for pattern, together in NOTE_KINDS if pattern.fullmatch(note)), note)
            notes_by_kind.setdefault(kind, []).append((path, note))
    for kind, occurrences in notes_by_kind.items():
        path, note = occurrences[0]
        text = note if len({other for _, other in occurrences}) == 1 else kind
        output.print_note(f"{path}: {note}" if len(occurrences) == 1 else f"{len(occurrences)} clips: {text}")


@dataclass
class _MessageKind:
    """Messages that differ only in names and numbers."""

    first_path: str  # first file
    text: str
    last_path: str  # file
    n_files: int = 1
    all_same: bool = True
    plural_text: str = ""  # text for several files


class MessageSummary:
    """Warnings or notes of many files, grouped by kind; memory is bounded."""

    def __init__(self) -> None:
        self._kinds: dict[str, _MessageKind] = {}
        self._n_hidden = 0

    def add(self, path: str, text: str) -> str:
        """Add one message about a file, which may start with its path; return it."""
        message = text.removeprefix(path).removeprefix(": ")
        plural_text = next((many for pattern, many in NOTE_KINDS if pattern.fullmatch(message)), "")
        key = plural_text or _NAMES_AND_NUMBERS.sub("#", message)
        kind = self._kinds.get(key)
        if kind is not None:
            kind.n_files += kind.last_path != path
            kind.last_path = path
            kind.all_same &= kind.text == message
        elif len(self._kinds) < MAX_TEXTS:
            self._kinds[key] = _MessageKind(path, message, path, plural_text=plural_text)
        else:
            self._n_hidden += 1
        return text

    def print(self, print_line: Callable[[str], None]) -> None:
        """Print a line for each kind."""
        for kind in self._kinds.values():
            print_line(_line(kind))
        if self._n_hidden:
            print_line(f"and {self._n_hidden:,} more; --json has all")


def _line(kind: _MessageKind) -> str:
    first_message = f"{kind.first_path}{kind.text}" if kind.text.startswith(":") else f"{kind.first_path}: {kind.text}"
    if kind.n_files == 1:
        return first_message
    if kind.all_same or kind.plural_text:
        return f"{kind.n_files:,} files: {kind.text if kind.all_same else kind.plural_text}"
    more = kind.n_files - 1
    return f"{first_message} (and the like in {more:,} more {'file' if more == 1 else 'files'})"
