"""What went wrong, as an answer: a status that fits, words for people, and what to do about it.

Nothing of the machine itself is told: no traceback, and of paths only the name at their end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from keypose.errors import FormatError, KeyposeError
from keypose.server.schema.base import Failed, Problem

UNEXPECTED = "a fault in Keypose itself; the log of the server says where"

STATUS: Mapping[str, int] = {
    "NoSuchClip": 404,
    "NoSuchPage": 404,
    "NoStrip": 404,
    "Conflict": 409,
    "LimitError": 413,
    "FormatError": 422,
    "ModelError": 422,
    "OptionError": 400,
    "UnknownJoint": 400,
    "RequestError": 422,
    "MissingExtra": 501,
    "TooMuchAsked": 429,
    "WorkerError": 503,
    "MemoryError": 503,
    "FileError": 500,
    "Damaged": 500,
    "NoRoom": 507,
}
_REMEDIES: Mapping[str, str] = {
    "NoSuchClip": "It may have been removed. The library's page shows what is there.",
    "Conflict": "Another window has saved meanwhile. Load what it saved, or save over it.",
    "LimitError": "Cut the file into shorter clips, or give it fewer joints or frames in a second.",
    "FormatError": "Export the file again from the program that made it; BVH, GLB and USD are read best.",
    "ModelError": "Export the file again from the program that made it; BVH, GLB and USD are read best.",
    "TooMuchAsked": "Wait a moment and try again.",
    "WorkerError": "Try again; if it happens again, ask for less: fewer frames, fewer keys.",
    "MemoryError": "Ask for less: fewer frames, fewer keys, a shorter clip.",
    "FileError": "Look at the log of the server, and at the disk of the library.",
    "Damaged": "On the machine of the server: keypose library verify",
    "NoRoom": "Make room on the disk of the server.",
}
_PIP_LINE = re.compile(r"pip install \S.*")
_STALE = "rebuild()"
_ALONE = "needs another file beside it"
_FULL = "is full)"  # as a library says it of its disk


class NoSuchClip(KeyposeError):  # noqa: N818 - reads better without "Error"
    """No clip of that hash is in the library."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"no clip {digest[:12]} in the library")


class NoStrip(KeyposeError):  # noqa: N818
    """A clip that cannot be drawn."""

    def __init__(self) -> None:
        super().__init__("the clip has no strip: it has too many joints to be drawn")


class NoRoom(KeyposeError):  # noqa: N818
    """A file cannot be written where uploads wait."""

    def __init__(self) -> None:
        super().__init__("the server has no room for the file")


class TooMuchAsked(KeyposeError):  # noqa: N818
    """More requests at once than are taken."""


class WorkerError(KeyposeError):
    """The process that worked on it died, or took too long."""


class TaskError(KeyposeError):
    """What a worker said of an error of its own."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def problem_of(error: BaseException) -> Problem:
    """An error in words; one that no input should cause says nothing of itself."""
    if isinstance(error, TaskError):
        return error.problem
    if isinstance(error, FormatError):
        return _of_format(error)
    kind, message = type(error).__name__, str(error)
    if isinstance(error, MemoryError):
        message = "not enough memory for this"
    elif kind == "FileError" and _FULL in message:
        kind, message = "NoRoom", "the disk of the library is full"
    elif kind == "FileError":  # names a path of this machine
        message = "a file of the library cannot be read or written"
    elif kind == "MissingExtra":  # may name the Python that has it
        message = _without_folders(message)
    elif not isinstance(error, KeyposeError):
        kind, message = "Unexpected", UNEXPECTED
    return Problem(kind=kind, message=message, line=None, remedy=remedy(kind, message))


def _without_folders(message: str) -> str:
    """What is said of a file, without where it is on this machine."""
    where, colon, problem = message.partition(": ")
    return f"{PurePath(where).name}{colon}{problem}" if PurePath(where).is_absolute() else message


def _of_format(error: FormatError) -> Problem:
    """Files that came in are called by their names alone; a path, or a database, is of the library itself."""
    kind = type(error).__name__
    named = PurePath(error.path).name or error.path
    if kind == "FormatError" and (PurePath(error.path).is_absolute() or "://" in error.path):
        problem = f"{named}: {error.problem}"
        return Problem(kind="Damaged", message=problem, line=None, remedy=remedy("Damaged", problem))
    place = f":{error.line}" if error.line is not None else f": byte {error.byte}" if error.byte is not None else ""
    help_ = remedy(kind, error.problem, line=error.line)
    return Problem(kind=kind, message=f"{named}{place}: {error.problem}", line=error.line, remedy=help_)


def remedy(kind: str, message: str, *, line: int | None = None) -> str | None:
    """What to do about an error; None where its message says all."""
    if kind == "MissingExtra":
        found = _PIP_LINE.search(message)
        return f"On the machine of the server: {found[0]}" if found else None
    if _STALE in message:
        return "On the machine of the server: keypose library rebuild"
    if kind == "FormatError" and _ALONE in message:
        return "Add it on the machine of the server, beside its other files: keypose library add FILE"
    if kind == "FormatError" and line is not None:
        return f"Mend line {line} in a text editor, or export the file again from the program that made it."
    return _REMEDIES.get(kind)


def status_of(problem: Problem) -> int:
    """The HTTP status of a problem."""
    return STATUS.get(problem.kind, 500)


def failed(kind: str, message: str, *, remedy: str | None = None, line: int | None = None) -> Failed:
    """A problem, told directly."""
    return Failed(error=Problem(kind=kind, message=message, line=line, remedy=remedy))
