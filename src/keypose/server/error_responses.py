"""Exceptions as error responses: status, code, message and hint.

Nothing about the machine is disclosed: no traceback, and of paths only the last component.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from keypose.errors import FileError, FormatError, KeyposeError, MissingExtra
from keypose.server.schema import ErrorDetails, ErrorResponse

INTERNAL_ERROR_MESSAGE = "an internal error of Keypose; details are in the log of the server"

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
    "ClipNotFound": "It may have been moved to the trash or deleted.",
    "Conflict": "It was saved in another window. Load that version, or replace it.",
    "LimitError": "Split the file into shorter clips, or export it with fewer joints or a lower frame rate.",
    "FormatError": "Export the file again from the program that made it, preferably as BVH, GLB or USD.",
    "ModelError": "Export the file again from the program that made it, preferably as BVH, GLB or USD.",
    "TooManyRequests": "Wait a moment and try again.",
    "WorkerError": "Try again. If it fails again, try fewer keys or a shorter clip.",
    "MemoryError": "Try fewer keys or a shorter clip.",
    "FileError": "Check the log of the server and the disk of the library.",
    "LibraryDamaged": "On the server, run: keypose library verify",
    "DiskFull": "Free some space on the disk of the server.",
}


class ClipNotFound(KeyposeError):  # noqa: N818 - reads better without "Error"
    """The library has no clip of that hash."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"clip {digest[:12]} is not in the library")


class StripNotFound(KeyposeError):  # noqa: N818
    """The clip has no strip."""

    def __init__(self) -> None:
        super().__init__("there is no picture of this clip: it has too many joints to draw")


class DiskFull(KeyposeError):  # noqa: N818
    """An upload cannot be written to disk."""

    def __init__(self) -> None:
        super().__init__("the disk of the server is full")


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
    code, message, hint = type(error).__name__, str(error), None
    if isinstance(error, MemoryError):
        message = "the server does not have enough memory for this"
    elif not isinstance(error, KeyposeError):
        code, message = "InternalError", INTERNAL_ERROR_MESSAGE
    elif isinstance(error, FileError):  # names a path of this machine
        is_full = error.code == "disk_full"
        code = "DiskFull" if is_full else "FileError"
        message = "the disk of the library is full" if is_full else "a file of the library cannot be read or written"
    else:
        message, hint = _render_without_folder(error), _find_hint(error)
    return ErrorDetails(code=code, message=message, line=None, hint=hint or _HINTS.get(code))


def _render_without_folder(error: KeyposeError) -> str:
    """Return the message without its hint, and with the last component of its path only."""
    path = None if error.path is None else PurePath(error.path).name or error.path
    return str(error.with_fields(path=path, hint=None))


def _format_error_details(error: FormatError) -> ErrorDetails:
    """Return the details: uploads have bare names; an absolute path or a database is the library itself, damaged."""
    message, hint = _render_without_folder(error), _find_hint(error)
    is_library = PurePath(error.path).is_absolute() or "://" in error.path
    code = "LibraryDamaged" if is_library and type(error) is FormatError else type(error).__name__
    if code == "LibraryDamaged":
        return ErrorDetails(code=code, message=message, line=None, hint=hint or _HINTS[code])
    if hint is None and code == "FormatError" and error.line is not None:
        hint = f"Fix line {error.line} in a text editor, or export the file again from the program that made it."
    return ErrorDetails(code=code, message=message, line=error.line, hint=hint or _HINTS.get(code))


def _find_hint(error: KeyposeError) -> str | None:
    """Return what to do about an error, by its code or its own hint; hints about Python or the command line are not."""
    if isinstance(error, MissingExtra):
        return None if error.install_hint is None else f"On the server, run: {error.install_hint}"
    if error.code == "needs_rebuild":
        return "On the server, run: keypose library rebuild"
    if error.code == "needs_other_file":
        return "On the server, put it in one folder with the files it needs and run: keypose library add FILE"
    return error.hint if isinstance(error.hint, str) else None


def http_status(details: ErrorDetails) -> int:
    """Return the HTTP status of an error."""
    return HTTP_STATUS.get(details.code, 500)


def error_response(code: str, message: str, *, hint: str | None = None, line: int | None = None) -> ErrorResponse:
    """Return an error response from its fields."""
    return ErrorResponse(error=ErrorDetails(code=code, message=message, line=line, hint=hint))
