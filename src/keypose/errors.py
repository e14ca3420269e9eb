"""The exceptions of Keypose.

    KeyposeError
    ├── Conflict                           the object was changed by somebody else in the meantime
    ├── FileError          (OSError)       a file cannot be opened, read or written
    ├── FormatError        (ValueError)    a file's content violates its format
    │   └── LimitError                     a file exceeds the limits
    ├── MissingExtra       (ImportError)   an optional dependency is not installed
    ├── ModelError         (ValueError)    an instance was built from inconsistent arrays
    ├── OptionError        (ValueError)    an argument is invalid
    └── UnknownJoint       (LookupError)   no such joint or body part

    FormatWarning          (UserWarning)   a file was repaired while reading; the message says how

Catching ``KeyposeError`` catches every error that bad input can cause.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike, fspath


class KeyposeError(Exception):
    """Base class of all errors of this package."""


class Conflict(KeyposeError):  # noqa: N818 - reads better without "Error"
    """The object was changed by somebody else in the meantime; the message describes its current state."""


class FileError(KeyposeError, OSError):
    """A file cannot be opened, read or written."""


class FormatError(KeyposeError, ValueError):
    """A file's content violates its format.

    The message starts with the file and, where known, the line (1-based) or the byte offset:
    ``walk.bvh:41: 5 channels, expected 3 or 6``.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        *,
        line: int | None = None,
        byte: int | None = None,
    ) -> None:
        self.path = fspath(path)
        self.problem = problem
        self.line = line
        self.byte = byte
        location = f":{line}" if line is not None else f": byte {byte}" if byte is not None else ""
        super().__init__(f"{self.path}{location}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_format_error, (type(self), self.path, self.problem, self.line, self.byte)


def _rebuild_format_error(
    kind: type[FormatError], path: str, problem: str, line: int | None, byte: int | None
) -> FormatError:
    return kind(path, problem, line=line, byte=byte)


class LimitError(FormatError):
    """A file needs more joints, frames or memory than the limits allow."""


class MissingExtra(KeyposeError, ImportError):  # noqa: N818
    """An optional dependency is not installed; the message contains the install command."""


class ModelError(KeyposeError, ValueError):
    """An instance was built from inconsistent arrays."""


class OptionError(KeyposeError, ValueError):
    """An argument is invalid; the message states the valid values."""


class UnknownJoint(KeyposeError, LookupError):  # noqa: N818
    """No joint or body part has that name; the message suggests the closest names."""

    def __init__(self, name: str, choices: Iterable[str]) -> None:
        self.name = name
        self.choices = tuple(choices)
        original_names = {choice.lower(): choice for choice in reversed(self.choices)}
        suggestions = [
            original_names[low] for low in difflib.get_close_matches(name.lower(), original_names, n=3, cutoff=0.6)
        ]
        suggestion_text = f"did you mean {' or '.join(map(repr, suggestions))}? " if suggestions else ""
        hint = f"{suggestion_text}known: {', '.join(self.choices[:40])}{', ...' if len(self.choices) > 40 else ''}"
        super().__init__(f"no joint or body part {name!r}; {hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.choices)


class FormatWarning(UserWarning):
    """A file was repaired while reading; the message says how."""
