"""What is said of outcomes: failures, notes, and both as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keypose.batch import Failure, Outcome
from keypose.batch.nearest import did_you_mean, nearest_file
from keypose.cli import output, wording
from keypose.cli.exits import FAILED
from keypose.errors import KeyposeError

if TYPE_CHECKING:  # each command loads its own alone
    from keypose.batch.compare import ComparedClip
    from keypose.batch.convert import Converted
    from keypose.batch.describe import ClipInfo
    from keypose.batch.keys import ClipKeys
    from keypose.batch.rebake import Rebaked
    from keypose.batch.storage_compress import Compressed
    from keypose.batch.storage_restore import Restored
    from keypose.batch.storage_verify import Verified
    from keypose.batch.swings import ClipSwings
    from keypose.batch.swings_edit import Played
    from keypose.batch.unbake import Unbaked
    from keypose.cli.picturing import Drawn
    from keypose.pictures.report.clips import ReportedClip

TEXTS_SHOWN = 20  # warnings of one clip, and notes
NO_SUCH_FILE = ": no such file"
# Notes that differ from clip to clip only by a name, and what many of them say together.
KINDS_OF_NOTES = ((re.compile(r"skeleton from .+"), "skeleton found beside them"),)

Clip = TypeVar(
    "Clip",
    "ClipInfo",
    "ComparedClip",
    "Converted",
    "ClipKeys",
    "Unbaked",
    "Rebaked",
    "ClipSwings",
    "Played",
    "Compressed",
    "Restored",
    "Verified",
    "ReportedClip",
    "Drawn",
)


def heard(path: Path, outcome: Outcome[Clip]) -> Outcome[Clip]:
    """An outcome whose messages speak of options, and of what was probably meant."""
    name = str(path)
    return replace(
        outcome,
        value=outcome.value and replace(outcome.value, notes=_translated(outcome.value.notes)),
        failure=outcome.failure and _helped(outcome.failure, name),
        warnings=_translated(outcome.warnings, name),
    )


def _translated(texts: Sequence[str], path: str = "") -> tuple[str, ...]:
    return tuple(wording.for_command_line(text, path) for text in texts)


def _helped(failure: Failure, path: str) -> Failure:
    if failure.is_bug:
        return failure
    message = wording.for_command_line(failure.message, path)
    if failure.kind == "FileError" and message.endswith(NO_SUCH_FILE):
        near = nearest_file(Path(message.removesuffix(NO_SUCH_FILE)))
        message += f"; did you mean {near}?" if near else ""
    animations = wording.animations_in(message) if failure.kind == "OptionError" else None
    return replace(failure, message=message + (did_you_mean(*animations) if animations else ""))


def document(path: Path, outcome: Outcome[ClipInfo]) -> dict[str, Any]:
    """One clip, or why there is none, for JSON."""
    if outcome.failure is not None:
        return {"path": str(path), **failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert outcome.value is not None
    found = asdict(outcome.value)
    more = {name: found.pop(name) for name in ("stored", "tree")}
    return found | {"warnings": list(outcome.warnings)} | {name: value for name, value in more.items() if value}


def failure_document(failure: Failure) -> dict[str, str]:
    """A failure, for JSON."""
    return {"error": failure.message, "error_kind": failure.kind}


def problem_document(error: KeyposeError) -> dict[str, str]:
    """An error that concerns no single clip, for JSON."""
    return {"error": str(error), "error_kind": type(error).__name__}


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
    return code or (FAILED if failures else 0)


def own_notes(notes: Iterable[str], warnings: Sequence[str]) -> list[str]:
    """The notes that were not said as warnings already: no warning ends with them."""
    own = dict.fromkeys(notes)
    for length in {len(note) for note in own}:  # not every note with every warning: a file may have many of both
        for text in warnings:
            own.pop(text[-length:] if length else "", None)
    return list(own)


def in_part(texts: Sequence[str]) -> list[str]:
    """As many as a person may read, and how many more there are."""
    more = len(texts) - TEXTS_SHOWN
    return [*texts[:TEXTS_SHOWN], *([f"and {more} more; --json has all"] if more > 0 else [])]


def say_warnings(path: Path, warnings: Sequence[str]) -> None:
    """``warning:`` lines, of which one clip has no more than a person may read."""
    for text in warnings[:TEXTS_SHOWN]:
        output.warning(text)
    if len(warnings) > TEXTS_SHOWN:
        output.warning(f"{path}: {in_part(warnings)[-1]}")


def say_notes(clips: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """``note:`` lines; what is true of many clips is said once."""
    said: dict[str, list[tuple[Path, str]]] = {}
    for path, notes in clips:
        for note in in_part(notes):
            kind = next((together for pattern, together in KINDS_OF_NOTES if pattern.fullmatch(note)), note)
            said.setdefault(kind, []).append((path, note))
    for kind, places in said.items():
        path, note = places[0]
        text = note if len({other for _, other in places}) == 1 else kind
        output.note(f"{path}: {note}" if len(places) == 1 else f"{len(places)} clips: {text}")
