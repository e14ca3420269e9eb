"""Plain data that came from elsewhere, checked: each error says what was found and what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keypose.errors import OptionError
from keypose.options import number, shown, text, whole


def exactly(what: str, told: Any, known: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Any]:
    """``told`` as a mapping with no other names than ``known`` and with all of ``needed``."""
    if not isinstance(told, Mapping):
        raise OptionError(f"{what}={shown(told)}, expected a mapping of names to values")
    allowed = tuple(known)
    for name in told:
        if name not in allowed:
            raise OptionError(f"{what}: {name!r}, expected only {', '.join(allowed)}")
    for name in needed:
        if name not in told:
            raise OptionError(f"{what}: no {name!r}, expected one")
    return dict(told)


def several(what: str, told: Any) -> tuple[Any, ...]:
    """``told`` as a row of values."""
    if isinstance(told, str | bytes | Mapping) or not isinstance(told, Iterable):
        raise OptionError(f"{what}={shown(told)}, expected several values")
    return tuple(told)


def whole_numbers(what: str, told: Any, *, least: int) -> tuple[int, ...]:
    """Whole numbers, rising, each once."""
    return tuple(sorted({whole(what, each, least=least) for each in several(what, told)}))


def names(what: str, told: Any) -> tuple[str, ...]:
    """Texts, in their order."""
    return tuple(text(what, each) for each in several(what, told))


def numbers(what: str, told: Any, count: int) -> tuple[float, ...]:
    """So many finite numbers."""
    found = several(what, told)
    if len(found) != count:
        raise OptionError(f"{what}: {len(found)} numbers, expected {count}")
    return tuple(number(what, each) for each in found)


def text_numbers(what: str, told: Any) -> dict[str, float]:
    """A mapping of texts to finite numbers."""
    if not isinstance(told, Mapping):
        raise OptionError(f"{what}={shown(told)}, expected a mapping such as {{'hands': 2.0}}")
    return {text(what, name): number(f"{what} of {name}", each) for name, each in told.items()}
