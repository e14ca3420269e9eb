"""Exceptions as error responses.

Status and hint follow from the code of the error, in the table ``RESPONSES``. Nothing about the machine is disclosed:
no traceback, and of paths only the last component.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import PurePath
from typing import Any

from keypose.clip_edit.field_checks import MAX_INTEGER, MAX_TEXT
from keypose.errors import (
    UNSET,
    FormatError,
    KeyposeError,
    MissingExtra,
    choose_text,
    cut_middle,
    format_value,
)
from keypose.server.schema import ErrorDetails, ErrorResponse


@dataclass(frozen=True)
class ErrorKind:
    """What errors of one code have in common."""

    status: int
    hint: str | None = None  # used if the error has none of its own
    message: str | None = None  # replaces one that would disclose something about the machine


_EXPORT_AGAIN = "Export the file again from the program that made it, preferably as BVH, GLB or USD."
_DISK_HINT = "Free some space on the disk of the server."
_FEWER_KEYS = "Try fewer keys or a shorter clip."

# By code. A code that is missing here has the row of its class.
RESPONSES: Mapping[str, ErrorKind] = {
    "option": ErrorKind(400),
    "joint": ErrorKind(400),
    "unauthorized": ErrorKind(401),
    "foreign_origin": ErrorKind(403),
    "clip_in_trash": ErrorKind(404),
    "unknown_clip": ErrorKind(404, "It may have been moved to the trash or deleted."),
    "unknown_page": ErrorKind(404),
    "unknown_strip": ErrorKind(404),
    "wrong_method": ErrorKind(405),
    "request_timeout": ErrorKind(408),
    "conflict": ErrorKind(409, "It was saved in another window. Load that version, or replace it."),
    "limit": ErrorKind(413, "Split the file into shorter clips, or export it with fewer joints or a lower frame rate."),
    "request_too_large": ErrorKind(413),
    "wrong_host": ErrorKind(421),
    "format": ErrorKind(422, _EXPORT_AGAIN),
    "missing_blob": ErrorKind(
        500,
        "On the server, mount the disk of the library, or run: keypose library verify",
        "the file of this clip is not there",
    ),
    "missing_blobs": ErrorKind(
        503,
        "On the server, mount the disk of the library.",
        "the files of the library are not there: nothing can be added",
    ),
    "model": ErrorKind(422, _EXPORT_AGAIN),
    "needs_other_file": ErrorKind(
        422, "On the server, put it in one folder with the files it needs and run: keypose library add FILE"
    ),
    "request": ErrorKind(422),
    "too_many_requests": ErrorKind(429, "Wait a moment and try again."),
    "error": ErrorKind(500),
    "file": ErrorKind(
        500,
        "Check the log of the server and the disk of the library.",
        "a file of the library cannot be read or written",
    ),
    "internal": ErrorKind(500, message="an internal error of Keypose; details are in the log of the server"),
    "library_damaged": ErrorKind(500, "On the server, run: keypose library verify"),
    "needs_rebuild": ErrorKind(500, "On the server, run: keypose library rebuild"),
    "missing_extra": ErrorKind(501),
    "busy": ErrorKind(503, "Try again in a moment.", "the library is busy: others are writing to it"),
    "connection_lost": ErrorKind(
        503,
        "Try again. If this was a change, look first whether it was made.",
        "the connection to the database of the library was lost",
    ),
    "no_connection": ErrorKind(503, "Try again in a moment.", "the database of the library does not answer"),
    "out_of_memory": ErrorKind(503, _FEWER_KEYS, "the server does not have enough memory for this"),
    "timeout": ErrorKind(503, _FEWER_KEYS),
    "worker": ErrorKind(503, "Try again. If it fails again, try fewer keys or a shorter clip."),
    "disk_full": ErrorKind(507, _DISK_HINT, "the disk of the server is full"),
}


OUTAGE_CODES = ("connection_lost", "no_connection")  # of a database that does not answer
_CODES_OF_SOUND_LIBRARIES = ("needs_other_file", "needs_rebuild")


class ClipNotFound(KeyposeError):  # noqa: N818 - reads better without "Error"
    """The library has no clip of that hash."""

    code = "unknown_clip"

    def __init__(self, digest: str) -> None:
        super().__init__(f"clip {digest[:12]} is not in the library", value=digest)


class StripNotFound(KeyposeError):  # noqa: N818
    """The clip has no strip."""

    code = "unknown_strip"

    def __init__(self) -> None:
        super().__init__("there is no picture of this clip: it has too many joints to draw")


class DiskFull(KeyposeError):  # noqa: N818
    """An upload cannot be written to disk."""

    code = "disk_full"


class TooManyRequests(KeyposeError):  # noqa: N818
    """More concurrent requests than are accepted."""

    code = "too_many_requests"


class WorkerError(KeyposeError):
    """The worker died or took too long."""

    code = "worker"


class TaskError(KeyposeError):
    """An error that a worker reported; its cause has the message for the log."""

    def __init__(self, details: ErrorDetails) -> None:
        super().__init__(details.message, code=details.code)
        self.details = details


def describe_for_log(error: KeyposeError) -> str:
    """Return one line for the log of the server about an error; responses may say less."""
    cause = error.__cause__ or error
    driver_error = getattr(cause, "orig", None)  # of the database, without the statement and a link for programmers
    return " ".join(str(driver_error or cause).split())


def error_details(error: BaseException) -> ErrorDetails:
    """Return the response to an exception; unexpected exceptions disclose nothing."""
    if isinstance(error, TaskError):
        return error.details
    if isinstance(error, MemoryError):
        return build_details(code="out_of_memory")
    if not isinstance(error, KeyposeError):
        return build_details(code="internal")
    if type(error) is FormatError and _is_in_library(error.path) and error.code not in _CODES_OF_SOUND_LIBRARIES:
        error = error.with_fields(code="library_damaged", line=None, byte=None)
    elif isinstance(error, MissingExtra) and error.install_hint is not None:
        problem = f"{error.requirement} an extension that is not installed"
        error = error.with_fields(problem=problem, hint=f"On the server, run: {error.install_hint}")
    row_code = error.code if error.code in RESPONSES else type(error).code
    if RESPONSES[row_code].message is not None:
        return build_details(code=row_code)
    return _build_from_fields(error, RESPONSES[row_code])


def build_details(problem: str = "", *, code: str, option: str | None = None) -> ErrorDetails:
    """Return the response to an error that is no exception of this package."""
    kind = RESPONSES[code]
    text = kind.message or problem
    return ErrorDetails(code=code, status=kind.status, message=text, problem=text, option=option, hint=kind.hint)


def error_response(problem: str = "", *, code: str, option: str | None = None) -> ErrorResponse:
    """Return the body of the response to an error that is no exception of this package."""
    return ErrorResponse(error=build_details(problem, code=code, option=option))


def _build_from_fields(error: KeyposeError, kind: ErrorKind) -> ErrorDetails:
    # A Hint is for Python and the command line.
    hint = cut_middle(error.hint) if isinstance(error.hint, str) else kind.hint
    if hint is _EXPORT_AGAIN and error.line is not None:
        hint = f"Fix line {error.line} in a text editor, or export the file again from the program that made it."
    path = None if error.path is None else PurePath(error.path).name or error.path
    return ErrorDetails(
        code=error.code,
        status=kind.status,
        message=str(error.with_fields(path=path, hint=None)),
        problem=str(error.with_fields(path=None, line=None, byte=None, subject=None, hint=None)),
        path=path,
        line=error.line,
        subject=error.subject,
        option=error.option,
        value=_json_value(error.value),
        expected=None if error.expected is None else choose_text(error.expected, "python"),
        hint=hint,
    )


def _is_in_library(path: str) -> bool:
    """Return whether a file belongs to the library: uploads have bare names."""
    return PurePath(path).is_absolute() or "://" in path


def _json_value(value: Any) -> str | int | float | bool | None:
    """Return a value as JSON without folders of this machine; None if there is none."""
    match value:
        case None | bool():
            return value
        case int() if abs(value) <= MAX_INTEGER:
            return value
        case float() if isfinite(value):
            return float(value)  # not np.float64
        case str() if value.isprintable() and len(value) <= MAX_TEXT:
            return value
        case PurePath():
            return value.name
    return None if value is UNSET else format_value(value)
