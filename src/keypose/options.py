"""Arguments that a person gives, checked once: each error says what was given and what is possible."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from keypose.errors import OptionError

LONGEST_SHOWN = 60  # characters of a value in a message


def shown(value: Any) -> str:
    """``value`` as a message can hold it: long ones by their kind."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        text = ""
    return text if 0 < len(text) < LONGEST_SHOWN else type(value).__name__


def whole(what: str, value: Any, *, least: int | None = None, most: int | None = None) -> int:
    """``value`` as an int of at least ``least`` and at most ``most``."""
    bound = "" if least is None else f" of at least {least}"
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise OptionError(f"{what}={shown(value)}, expected a whole number{bound}")
    if least is not None and number < least:
        raise OptionError(f"{what}={shown(number)}, expected at least {least}")
    if most is not None and number > most:
        raise OptionError(f"{what}={shown(number)}, expected at most {most}")
    return number


def number(
    what: str, value: Any, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> float:
    """``value`` as a finite float within bounds."""
    given = float("nan")
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        try:
            given = float(value)
        except OverflowError:
            given = float("inf")
    inside = (
        abs(given) < float("inf")
        and (above is None or given > above)
        and (least is None or given >= least)
        and (most is None or given <= most)
    )
    if not inside:
        raise OptionError(f"{what}={shown(value)}, expected a number{_bounds(above, least, most)}")
    return given


def _bounds(above: float | None, least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    if above is not None:
        return f" above {above:g}" + (f" and at most {most:g}" if most is not None else "")
    return f" of at least {least:g}" if least is not None else f" of at most {most:g}" if most is not None else ""


def one_of(what: str, value: Any, known: tuple[str, ...]) -> str:
    """``value`` if it is among the known words."""
    if not isinstance(value, str) or value not in known:
        raise OptionError(f"{what}={value!r}, expected one of {', '.join(known)}")
    return value


def text(what: str, value: Any) -> str:
    """``value`` if it is text: a title, a unit."""
    if not isinstance(value, str):
        raise OptionError(f"{what}={shown(value)}, expected text")
    return value


def flag(what: str, value: Any) -> bool:
    """``value`` if it is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{what}={value!r}, expected True or False")
    return bool(value)
