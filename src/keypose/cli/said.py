"""What is said of outcomes: failures, notes, and both as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from keypose.batch import Failure, Outcome
from keypose.batch.describe import ClipInfo
from keypose.cli import output
from keypose.cli.exits import FAILED


def document(path: Path, outcome: Outcome[ClipInfo]) -> dict[str, Any]:
    """One clip, or why there is none, for JSON."""
    if outcome.failure is not None:
        return {"path": str(path), **failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert outcome.value is not None
    found = asdict(outcome.value)
    tree = found.pop("tree")
    return found | {"warnings": list(outcome.warnings)} | ({"tree": tree} if tree else {})


def failure_document(failure: Failure) -> dict[str, str]:
    """A failure, for JSON."""
    return {"error": failure.message, "error_kind": failure.kind}


def report_failures(failures: Sequence[tuple[Path, Failure]], *, quiet: bool = False) -> int:
    """Says what failed, a line each; the exit code for it. Faults of the program are said even when quiet."""
    from keypose.cli.app import report_bug

    code = 0
    for path, failure in failures:
        if failure.is_bug:
            code = report_bug(failure.kind, f"{failure.message} (at {path})", failure.traceback)
        elif not quiet:
            named = failure.message.startswith(str(path))
            output.error(failure.message if named else f"{path}: {failure.message}")
    if not quiet and any(failure.kind == "LimitError" for _, failure in failures):
        output.hint("on the command line a limit is raised with --limit NAME=NUMBER")
    return code or (FAILED if failures else 0)


def own_notes(notes: Iterable[str], warnings: Sequence[str]) -> list[str]:
    """The notes that were not said as warnings already."""
    return [note for note in dict.fromkeys(notes) if not any(text.endswith(note) for text in warnings)]


def say_notes(clips: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """``note:`` lines; what is true of many clips is said once."""
    paths_by_note: dict[str, list[Path]] = {}
    for path, notes in clips:
        for note in notes:
            paths_by_note.setdefault(note, []).append(path)
    for note, paths in paths_by_note.items():
        output.note(f"{paths[0]}: {note}" if len(paths) == 1 else f"{len(paths)} clips: {note}")
