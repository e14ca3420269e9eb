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

    FormatWarning          (UserWarning)   a file was repaired while reading, or its frames have faults

Catching ``KeyposeError`` catches every error that bad input can cause. Errors carry fields (``MessageFields``); their
text is composed from these, here for Python users and in ``cli`` and ``server`` for others. No code reads the text.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, ClassVar, Literal, Self

MAX_VALUE_CHARACTERS = 60  # of a value in a message
MAX_MESSAGE_CHARACTERS = 3000  # of a message; names and values from files may be of any length
MAX_CHOICES = 40  # names listed in a message
OMISSION = " ... "  # in place of what was cut from a text
Audience = Literal["python", "command"]


class _Unset:
    """The type of ``UNSET``."""

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        return "UNSET"


UNSET = _Unset()  # no value was given; None is a value

# What each code means. An error has the code of its class unless a finer one says more; programs may rely on them.
CODES: Mapping[str, str] = {
    "error": "any other error",
    # Conflict
    "conflict": "the object was changed by somebody else in the meantime",
    # FileError
    "file": "a file cannot be opened, read or written",
    "no_such_file": "there is no such file or folder",
    "busy": "another process has been using the library for too long",
    "exists": "the file exists already, or something else stands in its place",
    "connection_lost": "the connection to a database was lost",
    "no_connection": "there is no connection to a database",
    "permission": "the user may not do that",
    "library_moved": "the file of a library was removed, moved or replaced while it was open",
    "missing_blob": "the bytes of a clip are not there",
    "missing_blobs": "the bytes of all clips of the library are not there",
    "read_only": "the library may only be read",
    "unknown_library": "there is no such library",
    "disk_full": "the disk is full",
    "no_pages": "the pages of the web app are not built",
    "not_a_file": "a folder, device or pipe where a file is expected",
    "read_failed": "the system cannot read the file",
    "write_failed": "the system cannot write the file",
    # FormatError
    "format": "the content of a file violates its format in another way",
    "unknown_format": "the content is of no known format",
    "syntax": "a word, token or structure that the format does not have at this place",
    "bad_number": "a number that cannot be read, is not finite, or lies outside of its range",
    "truncated": "the file ends too early",
    "damaged": "a checksum or stored length does not fit the bytes",
    "missing_data": "something that the format requires is not there",
    "inconsistent": "counts, lengths or references contradict each other",
    "unsupported": "valid, but of a version or with a feature that is not supported",
    "not_a_library": "a file or database is something else than a library",
    "other_library": "the bytes are those of another library",
    "wrong_copy": "what was written reads back differently from the original",
    "no_animation": "the file has no animation",
    "unknown_animation": "the file has no animation of that name or index",
    "needs_other_file": "the file refers to another file that is not there",
    "missing_buffer": "a glTF file refers to a buffer that is not there",
    "needs_rebuild": "a library has to be rebuilt first",
    "unneeded_file": "a file was sent together with others that it does not need",
    # LimitError
    "limit": "a file exceeds a limit",
    # MissingExtra
    "missing_extra": "an optional dependency is not installed",
    # ModelError
    "model": "arrays or names of an instance contradict each other",
    # OptionError
    "option": "an argument is invalid",
    "ambiguous_animation": "several animations of the file have that name",
    "ambiguous_clip": "several clips of the library have that name",
    "same_target": "two clips would become the same file",
    "too_long": "the motion is longer than what can be compared",
    "unwritable": "the file name has no suffix, or one that cannot be written",
    "clip_in_trash": "the clip is in the trash",
    "different_motions": "two motions differ in joints, frames, rest pose or up axis",
    "needed_key": "a key that cannot be deleted",
    "no_body": "the motion has no recognised body, or none with the parts that are needed",
    "no_height": "the figure has no height, so nothing can be stated in mm",
    "no_residual": "the keys have no residual",
    "no_room": "an edited swing does not fit into the clip or between others",
    "no_selection": "no choice of keys satisfies all options",
    "no_step": "there is no change to undo or redo",
    "too_much_memory": "the computation would need too much memory",
    "too_slow": "the computation would take too long",
    "unknown_clip": "the library has no such clip",
    # UnknownJoint
    "joint": "no such joint or body part",
    # FormatWarning
    "repaired": "a file was repaired while reading, in another way",
    "channels_added": "a joint moves outside of its channels; others are written",
    "curves_differ": "the format cannot store the curves exactly",
    "damaged_parameters": "some parameters of a C3D file are not read",
    "extra_bytes": "bytes after the end of the content are ignored",
    "frame_count": "the file has more or fewer frames than it states",
    "gaps_filled": "missing positions of markers were filled",
    "header_mismatch": "the header of a C3D file and its parameters contradict each other",
    "incomplete_frame": "the last frame or line is incomplete and is left out",
    "keys_outside_range": "keys outside of the range of the scene are left out",
    "missing_space": "numbers without a space between them were separated",
    "more_warnings": "the file has further problems that are not listed",
    "never_visible": "markers that are never visible are left out",
    "no_frame_rate": "the file has no frame rate; a usual one is assumed",
    "not_cached": "a result could not be saved for another run",
    "other_layers": "only the first animation layer is read",
    "other_movement": "something else than their keys moves joints",
    "other_original": "the original of an edit seems to be that of another clip",
    "repeated_channel": "a property is animated twice; the first is read",
    "repeated_name": "joints with the same name were numbered",
    "separate_keys": "channels with keys of their own were resampled at common keys",
    "sheared": "the shear of a transform is left out",
    "spike": "a key is at or beside a frame in which a joint jumps away, and back in the next frame",
    "transform_count": "transforms that do not fit the joints are left out",
    "uneven_scale": "the non-uniform scale of joints is left out",
    "unknown_word": "an unknown keyword or member is left out",
    "unread_reference": "a file that the file refers to is not loaded",
    "unused_data": "data of Keypose in the file do not fit it and are not used",
    # Notes
    "not_read": "parts of the file that a motion has no place for",
    "other_animations": "the file has several animations, of which one is read",
    "reference_pose": "the first frame is a reference pose and is kept apart from the movement",
    "wrapped_lines": "the frames of a BVH file take several lines each",
    # Other errors
    "unreachable": "a cluster does not answer",
    # Command line
    "usage": "the command line is invalid in another way",
    "conflicting_options": "two options contradict each other",
    "missing_argument": "a file, a name or an option is missing on the command line",
    "unknown_option": "the method has no such option",
    # Server
    "foreign_origin": "the request comes from a page of another site, or a browser does not state its origin",
    "internal": "an error of Keypose itself",
    "library_damaged": "the library is damaged",
    "out_of_memory": "the work needs more memory than there is",
    "request": "the request is invalid",
    "request_timeout": "the request arrives too slowly",
    "request_too_large": "the request is larger than the limit",
    "timeout": "the work took too long and was stopped",
    "too_many_requests": "too many requests at once",
    "unauthorized": "the token or cookie is missing",
    "unknown_page": "there is no page at this address",
    "unknown_strip": "the clip has no strip picture",
    "worker": "a worker process has ended or cannot be started",
    "wrong_host": "the host name of the request is not that of the server",
    "wrong_method": "the address does not support this method",
}


@dataclass(frozen=True)
class Hint:
    """A hint for which users of Python and of the command line do different things."""

    python: str
    command: str


@dataclass(frozen=True)
class _FormattedValue:
    """The text of a value that was not sent to another process."""

    text: str

    def __repr__(self) -> str:
        return self.text


def format_value(value: Any) -> str:
    """Return ``value`` as text for a message: its repr, or the name of its type where that is long or has lines.

    The beginning of a long text is returned, which is more helpful than ``str``.
    """
    if isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS:
        return f"{value[:MAX_VALUE_CHARACTERS]!r}..."
    try:
        text = repr(float(value) if isinstance(value, float) else value)  # not np.float64(0.5)
    except Exception:  # of an int of thousands of digits, deeply nested lists, any class of the user
        text = ""
    return text if 0 < len(text) < MAX_VALUE_CHARACTERS and "\n" not in text else type(value).__name__


def cut_middle(text: str, max_length: int = MAX_MESSAGE_CHARACTERS) -> str:
    """Return ``text`` with at most ``max_length`` characters, without its middle if it is longer."""
    half = (max_length - len(OMISSION)) // 2
    return text if len(text) <= max_length else f"{text[:half]}{OMISSION}{text[-half:]}"


def format_count(number: int, noun: str, separator: Literal["", ","] = "") -> str:
    """Return a number with its noun, for a message: ``1 key``, ``12 meshes``; ``separator`` is that of thousands."""
    ending = "" if number == 1 else "es" if noun.endswith("sh") else "s"
    return f"{number:{separator}} {noun}{ending}"


def format_count_range(first: int, last: int, noun: str, separator: Literal["", ","] = "") -> str:
    """Return a range of numbers with their noun, for a message: ``2 to 12 keys``, ``1 key``."""
    return f"{f'{first:{separator}} to ' if first != last else ''}{format_count(last, noun, separator)}"


def format_keyword(option: str, value: Any) -> str:
    """Return an option as a Python user writes it, ``max_keys=0``; without a value ``max_keys``."""
    return option if value is UNSET else f"{option}={format_value(value)}"


class MessageFields(Exception):  # noqa: N818 - the base of errors and of warnings
    """The fields of an error or warning; all are None (``value``: UNSET) where they do not apply."""

    code: str = "error"  # a stable word for programs: a key of ``CODES``
    problem: str  # without path, option and hint; empty if ``expected`` is enough
    path: str | None  # the file
    line: int | None  # in the file, 1-based
    byte: int | None  # offset in the file
    subject: str | None  # what the error is about if that is no file: a motion's name, a step of an edit
    option: str | None  # the keyword of the Python function
    option_class: type[Any] | None  # that declares ``option``, as several classes have options of the same name
    value: Any  # the value as given
    expected: str | Hint | None
    hint: str | Hint | None  # what to do

    FIELDS: ClassVar = (
        "code", "problem", "path", "line", "byte", "subject", "option", "option_class", "value", "expected", "hint",
    )  # fmt: skip

    def __init__(
        self,
        problem: str = "",
        *,
        code: str | None = None,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        byte: int | None = None,
        subject: str | None = None,
        option: str | None = None,
        option_class: type[Any] | None = None,
        value: Any = UNSET,
        expected: str | Hint | None = None,
        hint: str | Hint | None = None,
    ) -> None:
        super().__init__(problem)  # before the fields: ImportError sets ``path`` too
        self.code = type(self).code if code is None else code
        self.problem = problem
        self.path = None if path is None else fspath(path)
        self.line = line
        self.byte = byte
        self.subject = subject
        self.option = option
        self.option_class = option_class
        self.value = value
        self.expected = expected
        self.hint = hint
        self.args = (compose_message(self),)

    def __str__(self) -> str:
        return compose_message(self)

    @property
    def summary(self) -> str:
        """What was found and what was expected, without file and hint."""
        return compose_message(self.with_fields(path=None, hint=None))

    def __reduce__(self) -> tuple[object, ...]:
        state = {**vars(self), **{name: getattr(self, name) for name in self.FIELDS}}
        if not isinstance(self.value, str | int | float | None | _Unset | _FormattedValue):
            state["value"] = _FormattedValue(format_value(self.value))
        return _rebuild, (type(self), str(self), state)

    @classmethod
    def from_error(cls, error: MessageFields, *, subject: str | None = None) -> Self:
        """Return an error of this class with the fields of another one; ``subject`` is put before its subject."""
        fields = {name: getattr(error, name) for name in cls.FIELDS}
        subjects = [text for text in (subject, error.subject) if text is not None]
        return cls(**fields | {"subject": ": ".join(subjects) or None})

    def with_fields(self, **fields: Any) -> Self:
        """Return a copy with some fields changed: ``error.with_fields(path=name)``."""
        copy: Self = _rebuild(type(self), "", {name: getattr(self, name) for name in self.FIELDS} | vars(self) | fields)
        copy.args = (str(copy),)
        return copy


def _rebuild(kind: type[Any], message: str, state: dict[str, Any]) -> Any:
    error: Any = kind.__new__(kind, message)
    error.args = (message,)
    for name, value in state.items():
        setattr(error, name, value)
    return error


def compose_message(
    fields: MessageFields,
    audience: Audience = "python",
    format_option: Callable[[str, Any], str] = format_keyword,
) -> str:
    """Return the message of an error or warning: where, what was found, what was expected, what to do.

    ``walk.bvh:41: 5 channels, expected 3 or 6``; ``max_keys=0, expected at least 1``. ``format_option`` formats an
    option and its value (or UNSET).
    """
    location = ""
    if fields.path is not None:
        line_or_byte = fields.line if fields.line is not None else fields.byte
        separator = ":" if fields.line is not None else ": byte "
        location = f"{fields.path}{'' if line_or_byte is None else f'{separator}{line_or_byte}'}: "
    if fields.subject is not None:
        location += f"{fields.subject}: "
    text = fields.problem
    if fields.option is not None:
        option = format_option(fields.option, fields.value)
        text = option if not text else f"{option}: {text}" if fields.value is UNSET else f"{option} {text}"
    if fields.expected is not None:
        text += f"{', ' if text else ''}expected {choose_text(fields.expected, audience)}"
    if fields.hint is not None:
        text += f"; {choose_text(fields.hint, audience)}"
    return cut_middle(location + text)


def choose_text(text: str | Hint, audience: Audience) -> str:
    """Return the form of a hint for these users."""
    return cut_middle(text if isinstance(text, str) else text.python if audience == "python" else text.command)


class KeyposeError(MessageFields):
    """Base class of all errors of this package."""


class Conflict(KeyposeError):  # noqa: N818 - reads better without "Error"
    """The object was changed by somebody else in the meantime; the message describes its current state."""

    code = "conflict"


class FileError(KeyposeError, OSError):
    """A file cannot be opened, read or written."""

    code = "file"


class FormatError(KeyposeError, ValueError):
    """A file's content violates its format.

    The message starts with the file and, where known, the line (1-based) or the byte offset:
    ``walk.bvh:41: 5 channels, expected 3 or 6``.
    """

    code = "format"
    path: str

    def __init__(self, path: str | PathLike[str], problem: str = "", **fields: Any) -> None:
        super().__init__(problem, path=path, **fields)


class LimitError(FormatError):
    """A file needs more joints, frames or memory than the limits allow."""

    code = "limit"


class MissingExtra(KeyposeError, ImportError):  # noqa: N818
    """An optional dependency is not installed: ``requirement``, such as "reading USD needs", and ``install_hint``."""

    code = "missing_extra"

    def __init__(self, problem: str, install_hint: str | None = None, **fields: Any) -> None:
        self.requirement = problem
        self.install_hint = install_hint
        super().__init__(problem if install_hint is None else f"{problem}: {install_hint}", **fields)


class ModelError(KeyposeError, ValueError):
    """An instance was built from inconsistent arrays."""

    code = "model"


class OptionError(KeyposeError, ValueError):
    """An argument is invalid; the message states the valid values."""

    code = "option"


class UnknownJoint(KeyposeError, LookupError):  # noqa: N818
    """No joint or body part has that name; the message suggests the closest names."""

    code = "joint"

    def __init__(self, name: str, choices: Iterable[str]) -> None:
        self.name = name
        self.choices = tuple(choices)
        original_names = {choice.lower(): choice for choice in reversed(self.choices)}
        suggestions = [
            original_names[low] for low in difflib.get_close_matches(name.lower(), original_names, n=3, cutoff=0.6)
        ]
        suggestion_text = f"did you mean {' or '.join(map(repr, suggestions))}? " if suggestions else ""
        more = ", ..." if len(self.choices) > MAX_CHOICES else ""
        known = ", ".join(cut_middle(choice, MAX_VALUE_CHARACTERS) for choice in self.choices[:MAX_CHOICES])
        hint = f"{suggestion_text}known: {known}{more}"
        super().__init__(f"no joint or body part {name!r}", value=name, hint=hint)


class FormatWarning(MessageFields, UserWarning):
    """A file was repaired while reading, or its frames have faults; the message says how or where."""

    code = "repaired"
