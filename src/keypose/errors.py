"""Everything that can go wrong, as one tree.

    KeyposeError
    ├── Conflict                           somebody else has changed meanwhile what is to be changed
    ├── FileError          (OSError)       a file cannot be opened, read or written
    ├── FormatError        (ValueError)    a file's content is not what its format asks for
    │   └── LimitError                     a file asks for more than the limits allow
    ├── MissingExtra       (ImportError)   an optional dependency is not installed
    ├── ModelError         (ValueError)    a noun was built from arrays that do not fit together
    ├── OptionError        (ValueError)    an argument is outside what is possible
    └── UnknownJoint       (LookupError)   no such joint or body part

    FormatWarning          (UserWarning)   a file was repaired while reading; the message says how

Whoever catches ``KeyposeError`` catches every error that bad input can cause.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike, fspath


class KeyposeError(Exception):
    """The root of all errors of this package."""


class Conflict(KeyposeError):  # noqa: N818 - reads better without "Error"
    """Somebody else has changed meanwhile what is to be changed; the message says what is there now."""


class FileError(KeyposeError, OSError):
    """A file cannot be opened, read or written."""


class FormatError(KeyposeError, ValueError):
    """A file's content is not what its format asks for.

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
        place = f":{line}" if line is not None else f": byte {byte}" if byte is not None else ""
        super().__init__(f"{self.path}{place}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_format_error, (type(self), self.path, self.problem, self.line, self.byte)


def _rebuild_format_error(
    kind: type[FormatError], path: str, problem: str, line: int | None, byte: int | None
) -> FormatError:
    return kind(path, problem, line=line, byte=byte)


class LimitError(FormatError):
    """A file asks for more joints, frames or memory than the limits allow."""


class MissingExtra(KeyposeError, ImportError):  # noqa: N818
    """An optional dependency is not installed; the message holds the line to type."""


class ModelError(KeyposeError, ValueError):
    """A noun was built from arrays that do not fit together."""


class OptionError(KeyposeError, ValueError):
    """An argument is outside what is possible; the message says what is."""


class UnknownJoint(KeyposeError, LookupError):  # noqa: N818
    """No joint or body part of that name; the message offers the nearest ones."""

    def __init__(self, wanted: str, known: Iterable[str]) -> None:
        self.wanted = wanted
        self.known = tuple(known)
        spelled = {name.lower(): name for name in reversed(self.known)}
        near = [spelled[low] for low in difflib.get_close_matches(wanted.lower(), spelled, n=3, cutoff=0.6)]
        meant = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        hint = f"{meant}known: {', '.join(self.known[:40])}{', ...' if len(self.known) > 40 else ''}"
        super().__init__(f"no joint or body part {wanted!r}; {hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.wanted, self.known)


class FormatWarning(UserWarning):
    """A file was not quite right and was repaired while reading; the message says how."""
