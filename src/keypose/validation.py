"""Checks of arguments and texts; each error names the option, its value and what was expected."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from keypose.errors import FileError, OptionError

MAX_LINE_LENGTH = 200  # characters of text from files
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\..*)?", re.IGNORECASE)


def check_int(name: str, value: Any, *, min_value: float | None = None, max_value: float | None = None) -> int:
    """Return ``value`` as an int from ``min_value`` to ``max_value``. Raise OptionError otherwise."""
    bound = "" if min_value is None else f" of at least {min_value}"
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise OptionError(option=name, value=value, expected=f"a whole number{bound}")
    if min_value is not None and number < min_value:
        raise OptionError(option=name, value=number, expected=f"at least {min_value}")
    if max_value is not None and number > max_value:
        raise OptionError(option=name, value=number, expected=f"at most {max_value}")
    return number


def check_number(
    name: str, value: Any, *, above: float | None = None, min_value: float | None = None, max_value: float | None = None
) -> float:
    """Return ``value`` as a finite float within the bounds. Raise OptionError otherwise."""
    result = float("nan")
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        try:
            result = float(value)
        except OverflowError:
            result = float("inf")
    is_inside = (
        abs(result) < float("inf")
        and (above is None or result > above)
        and (min_value is None or result >= min_value)
        and (max_value is None or result <= max_value)
    )
    if not is_inside:
        expected = f"a number{_format_bounds(above, min_value, max_value)}"
        raise OptionError(option=name, value=value, expected=expected)
    return result


def _format_bounds(above: float | None, min_value: float | None, max_value: float | None) -> str:
    if min_value is not None and max_value is not None:
        return f" from {min_value:g} to {max_value:g}"
    if above is not None:
        return f" above {above:g}" + (f" and at most {max_value:g}" if max_value is not None else "")
    return (
        f" of at least {min_value:g}"
        if min_value is not None
        else f" of at most {max_value:g}"
        if max_value is not None
        else ""
    )


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``choices``. Raise OptionError otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(option=name, value=value, expected=f"one of {', '.join(choices)}")
    return value


def check_regular_file(path: Path, expected: str) -> os.stat_result:
    """Return the status of a regular file. Raise FileError for a folder, and for a pipe or device, which may never end.

    A missing file is an OSError.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise FileError("is a folder", code="not_a_file", path=path, expected=expected)
    if not stat.S_ISREG(status.st_mode):
        raise FileError("is not a regular file", code="not_a_file", path=path)
    return status


def check_text(name: str, value: Any) -> str:
    """Return ``value`` if it is a str. Raise OptionError otherwise."""
    if not isinstance(value, str):
        raise OptionError(option=name, value=value, expected="text")
    return value


def check_bool(name: str, value: Any) -> bool:
    """Return ``value`` as a bool. Raise OptionError if it is not a bool."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(option=name, value=value, expected="True or False")
    return bool(value)


def check_path(name: str, value: Any) -> Path:
    """Return ``value``, a str or PathLike of one, as a Path. Raise OptionError otherwise."""
    try:
        return Path(value)
    except TypeError:
        raise OptionError(option=name, value=value, expected="the path of a file") from None


def check_items(name: str, value: Any, expected: str) -> tuple[Any, ...]:
    """Return the items of ``value``, which may be of any type that can be iterated over. Raise OptionError otherwise.

    An array without dimensions has no items, although it is an ``Iterable``.
    """
    try:
        return tuple(value)
    except TypeError:
        raise OptionError(option=name, value=value, expected=expected) from None


def check_callback(name: str, value: Any) -> None:
    """Raise OptionError if ``value`` is neither a function nor None, before any work is done."""
    if value is not None and not callable(value):
        raise OptionError(option=name, value=value, expected="a function or None")


def clean_line(text: str, max_length: int = MAX_LINE_LENGTH) -> str:
    """Return one line of at most ``max_length`` characters, without control characters and surrogates; not escaped."""
    cut = text[: max_length + 1]
    line = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else c for c in cut)
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def is_device_name(file_name: str) -> bool:
    """Return whether Windows takes a file name, with any suffix, for that of a device."""
    return bool(_DEVICE.fullmatch(file_name))


def is_sha256(text: str) -> bool:
    """Return whether ``text`` has the form of a sha256 in hexadecimal digits."""
    return bool(_SHA256.fullmatch(text))
