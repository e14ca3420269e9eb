"""Validators of plain data from clients; errors name the found and the expected value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keypose.errors import OptionError
from keypose.validation import check_int, check_number, check_text, format_value


def check_mapping(name: str, value: Any, keys: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return ``value`` as a dictionary that has no keys besides ``keys`` and all of ``required``."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{name}={format_value(value)}, expected a mapping of names to values")
    allowed = tuple(keys)
    for key in value:
        if key not in allowed:
            raise OptionError(f"{name}: {key!r}, expected only {', '.join(allowed)}")
    for key in required:
        if key not in value:
            raise OptionError(f"{name}: no {key!r}, expected one")
    return dict(value)


def check_sequence(name: str, value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple; OptionError if it is a text or no iterable."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise OptionError(f"{name}={format_value(value)}, expected several values")
    return tuple(value)


def check_frames(name: str, value: Any, *, min_value: int) -> tuple[int, ...]:
    """Return integers sorted and without duplicates."""
    return tuple(sorted({check_int(name, each, min_value=min_value) for each in check_sequence(name, value)}))


def check_texts(name: str, value: Any) -> tuple[str, ...]:
    """Return texts in their order."""
    return tuple(check_text(name, each) for each in check_sequence(name, value))


def check_numbers(name: str, value: Any, count: int) -> tuple[float, ...]:
    """Return exactly ``count`` finite numbers."""
    values = check_sequence(name, value)
    if len(values) != count:
        raise OptionError(f"{name}: {len(values)} numbers, expected {count}")
    return tuple(check_number(name, each) for each in values)


def check_weights(name: str, value: Any) -> dict[str, float]:
    """Return a mapping of texts to finite numbers."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{name}={format_value(value)}, expected a mapping such as {{'hands': 2.0}}")
    return {check_text(name, key): check_number(f"{name} of {key}", each) for key, each in value.items()}
