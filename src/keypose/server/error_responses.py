"""Exceptions as error responses: status, code, message and hint.

Nothing about the machine is disclosed: no traceback, and of paths only the last component.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from keypose.errors import FormatError, KeyposeError
from keypose.server.schema import ErrorDetails, ErrorResponse

INTERNAL_ERROR_MESSAGE = "a fault in Keypose itself; the log of the server says where"

HTTP_STATUS: Mapping[str, int] = {
    "ClipNotFound": 404,
    "PageNotFound": 404,
    "StripNotFound": 404,
    "Conflict": 409,
    "LimitError": 413,
    "FormatError": 422,
    "ModelError": 422,
    "OptionError": 400,
    "UnknownJoint": 400,
    "RequestError": 422,
    "MissingExtra": 501,
    "TooManyRequests": 429,
    "WorkerError": 503,
    "MemoryError": 503,
    "FileError": 500,
    "LibraryDamaged": 500,
    "DiskFull": 507,
}
_HINTS: Mapping[str, str] = {
    "ClipNotFound": "It may have been removed. The library's page shows what is there.",
    "Conflict": "Another window has saved meanwhile. Load what it saved, or save over it.",
    "LimitError": "Cut the file into shorter clips, or give it fewer joints or frames in a second.",
    "FormatError": "Export the file again from the program that made it; BVH, GLB and USD are read best.",
    "ModelError": "Export the file again from the program that made it; BVH, GLB and USD are read best.",
    "TooManyRequests": "Wait a moment and try again.",
    "WorkerError": "Try again; if it happens again, ask for less: fewer frames, fewer keys.",
    "MemoryError": "Ask for less: fewer frames, fewer keys, a shorter clip.",
    "FileError": "Look at the log of the server, and at the disk of the library.",
    "LibraryDamaged": "On the machine of the server: keypose library verify",
    "DiskFull": "Make room on the disk of the server.",
}
_PIP_LINE = re.compile(r"pip install \S.*")
_STALE = "rebuild()"
_ALONE = "needs another file beside it"
_FULL = "is full)"  # in the message of a library whose disk is full


class ClipNotFound(KeyposeError):  # noqa: N818 - reads better without "Error"
    """The library has no clip of that hash."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"no clip {digest[:12]} in the library")


class StripNotFound(KeyposeError):  # noqa: N818
    """The clip has no strip."""

    def __init__(self) -> None:
        super().__init__("the clip has no strip: it has too many joints to be drawn")


class DiskFull(KeyposeError):  # noqa: N818
    """An upload cannot be written to disk."""

    def __init__(self) -> None:
        super().__init__("the server has no room for the file")


class TooManyRequests(KeyposeError):  # noqa: N818
    """More concurrent requests than are accepted."""


class WorkerError(KeyposeError):
    """The worker died or took too long."""


class TaskError(KeyposeError):
    """An error that a worker reported."""

    def __init__(self, details: ErrorDetails) -> None:
        super().__init__(details.message)
        self.details = details


def error_details(error: BaseException) -> ErrorDetails:
    """Return code, message and hint of an exception; unexpected exceptions disclose nothing."""
    if isinstance(error, TaskError):
        return error.details
    if isinstance(error, FormatError):
        return _format_error_details(error)
    code, message = type(error).__name__, str(error)
    if isinstance(error, MemoryError):
        message = "not enough memory for this"
    elif code == "FileError" and _FULL in message:
        code, message = "DiskFull", "the disk of the library is full"
    elif code == "FileError":  # names a path of this machine
        message = "a file of the library cannot be read or written"
    elif code == "MissingExtra":  # may name the Python that has it
        message = _strip_directory(message)
    elif not isinstance(error, KeyposeError):
        code, message = "InternalError", INTERNAL_ERROR_MESSAGE
    return ErrorDetails(code=code, message=message, line=None, hint=find_hint(code, message))


def _strip_directory(message: str) -> str:
    """Return a message that starts with an absolute path with its last component only."""
    where, colon, problem = message.partition(": ")
    return f"{PurePath(where).name}{colon}{problem}" if PurePath(where).is_absolute() else message


def _format_error_details(error: FormatError) -> ErrorDetails:
    """Return the details: uploads have bare names; an absolute path or a database is the library itself, damaged."""
    code = type(error).__name__
    name = PurePath(error.path).name or error.path
    if code == "FormatError" and (PurePath(error.path).is_absolute() or "://" in error.path):
        problem = f"{name}: {error.problem}"
        return ErrorDetails(
            code="LibraryDamaged", message=problem, line=None, hint=find_hint("LibraryDamaged", problem)
        )
    place = f":{error.line}" if error.line is not None else f": byte {error.byte}" if error.byte is not None else ""
    hint = find_hint(code, error.problem, line=error.line)
    return ErrorDetails(code=code, message=f"{name}{place}: {error.problem}", line=error.line, hint=hint)


def find_hint(code: str, message: str, *, line: int | None = None) -> str | None:
    """Return what to do about an error; None if the message says it all."""
    if code == "MissingExtra":
        match = _PIP_LINE.search(message)
        return f"On the machine of the server: {match[0]}" if match else None
    if _STALE in message:
        return "On the machine of the server: keypose library rebuild"
    if code == "FormatError" and _ALONE in message:
        return "Add it on the machine of the server, beside its other files: keypose library add FILE"
    if code == "FormatError" and line is not None:
        return f"Mend line {line} in a text editor, or export the file again from the program that made it."
    return _HINTS.get(code)


def http_status(details: ErrorDetails) -> int:
    """Return the HTTP status of an error."""
    return HTTP_STATUS.get(details.code, 500)


def error_response(code: str, message: str, *, hint: str | None = None, line: int | None = None) -> ErrorResponse:
    """Return an error response from its fields."""
    return ErrorResponse(error=ErrorDetails(code=code, message=message, line=line, hint=hint))
