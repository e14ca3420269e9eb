"""Checks of arguments; each error names the option, its value and what was expected."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from keypose.errors import OptionError

MAX_VALUE_CHARACTERS = 60  # of a value in a message


def format_value(value: Any) -> str:
    """Return ``value`` as text for a message: its repr, or the name of its type where that is long."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        text = ""
    return text if 0 < len(text) < MAX_VALUE_CHARACTERS else type(value).__name__


def check_int(name: str, value: Any, *, min_value: int | None = None, max_value: int | None = None) -> int:
    """Return ``value`` as an int from ``min_value`` to ``max_value``. Raise OptionError otherwise."""
    bound = "" if min_value is None else f" of at least {min_value}"
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise OptionError(f"{name}={format_value(value)}, expected a whole number{bound}")
    if min_value is not None and number < min_value:
        raise OptionError(f"{name}={format_value(number)}, expected at least {min_value}")
    if max_value is not None and number > max_value:
        raise OptionError(f"{name}={format_value(number)}, expected at most {max_value}")
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
        raise OptionError(
            f"{name}={format_value(value)}, expected a number{_format_bounds(above, min_value, max_value)}"
        )
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
        raise OptionError(f"{name}={value!r}, expected one of {', '.join(choices)}")
    return value


def check_text(name: str, value: Any) -> str:
    """Return ``value`` if it is a str. Raise OptionError otherwise."""
    if not isinstance(value, str):
        raise OptionError(f"{name}={format_value(value)}, expected text")
    return value


def check_bool(name: str, value: Any) -> bool:
    """Return ``value`` as a bool. Raise OptionError if it is not a bool."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name}={value!r}, expected True or False")
    return bool(value)
