"""JSON from untrusted files: typed access to its members, with errors that name the member."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NoReturn, overload

import numpy as np

from keypose.arrays import MAX_MAGNITUDE, Floats, freeze
from keypose.errors import UNSET, FormatError
from keypose.formats.base import Source

MAX_NUMBER = 1e150  # so that its square is finite
MAX_INTEGER = 1 << 53  # the largest integer that every JSON reader represents exactly
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """One object of a JSON document; ``location`` names it in messages: ``animations[0].channels[3]``."""

    source: Source
    location: str
    values: Mapping[str, Any]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def member_location(self, key: str) -> str:
        """Return the name of the member ``key`` in messages."""
        return f"{self.location}.{key}" if self.location else key

    def member_error(self, key: str, expected: str) -> FormatError:
        """Return the error for a member that is not as expected."""
        return _value_error(self.source, self.member_location(key), self.values.get(key, UNSET), expected)

    def element_error(self, key: str, index: int, value: Any, expected: str) -> FormatError:
        """Return the error for an element of the array ``key`` that is not as expected."""
        return _value_error(self.source, f"{self.member_location(key)}[{index}]", value, expected)

    def optional_object(self, key: str) -> JsonObject | None:
        """Return the object ``key``; None if it is absent."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, dict):
            raise self.member_error(key, "an object")
        return JsonObject(self.source, self.member_location(key), value)

    def required_object(self, key: str) -> JsonObject:
        """Return the object ``key``; raise FormatError if it is absent."""
        member = self.optional_object(key)
        if member is None:
            raise self.member_error(key, "an object")
        return member

    def check_members(self, *keys: str) -> None:
        """Raise FormatError if one of ``keys`` is missing, and warn about other members."""
        for key in keys:
            if key not in self.values:
                raise self.source.error("missing", code="missing_data", subject=self.member_location(key))
        unknown = [key for key in self.values if key not in keys]
        if unknown:
            more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            self.source.warn(
                f"{self.member_location(unknown[0])}{more} is unknown and is left out",
                code="unknown_word",
                value=unknown[0],
            )

    def objects(self, key: str) -> JsonArray:
        """Return the array ``key`` of objects; empty if it is absent."""
        values = self.array(key)
        for k, value in enumerate(values):
            if not isinstance(value, dict):
                raise self.element_error(key, k, value, "an object")
        return JsonArray(self.source, self.member_location(key), values)

    def array(self, key: str) -> list[Any]:
        """Return the array ``key``, its elements unchecked; empty if it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.member_error(key, "an array")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Return the string ``key`` as valid Unicode: lone surrogates, which JSON can escape, are replaced."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.member_error(key, "a string")
        return value if value.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)

    def raw_text(self, key: str) -> str:
        """Return the string ``key`` unchanged, lone surrogates included."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.member_error(key, "a string")
        return value

    def integer(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        """Return the integer ``key``, at least ``minimum`` and at most 2**53."""
        value: Any = self.values.get(key, default)
        if not _is_integer(value) or value < minimum:
            raise self.member_error(key, f"a whole number of at least {minimum}")
        if value > MAX_INTEGER:
            raise self.member_error(key, f"a whole number of at most {MAX_INTEGER}")
        return int(value)

    def index(self, key: str, count: int) -> int:
        """Return the integer ``key``, a valid index into a list of ``count``."""
        value: Any = self.values.get(key)
        if not _is_integer(value) or not 0 <= value < count:
            raise self.member_error(key, _expected_index(count))
        return int(value)

    def indices(self, key: str, count: int) -> list[int]:
        """Return the array ``key`` of valid indices into a list of ``count``."""
        values = self.array(key)
        for k, value in enumerate(values):
            if not _is_integer(value) or not 0 <= value < count:
                raise self.element_error(key, k, value, _expected_index(count))
        return [int(value) for value in values]

    def positive(self, key: str) -> float:
        """Return the finite number ``key``, above 0."""
        value: Any = self.values.get(key)
        if not _is_number(value) or not value > 0:
            raise self.member_error(key, "a number above 0")
        return float(value)

    def non_negative(self, key: str) -> float:
        """Return the finite number ``key``, 0 or above."""
        value: Any = self.values.get(key)
        if not _is_number(value) or value < 0:
            raise self.member_error(key, "a number of at least 0")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return the boolean ``key``."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self.member_error(key, "true or false")
        return value

    def texts(self, key: str, count: int | None = None) -> tuple[str, ...]:
        """Return the array ``key`` of ``count`` strings (None: any number), unchanged."""
        values = self.values.get(key)
        if not isinstance(values, list) or (count is not None and len(values) != count):
            raise self.member_error(key, f"an array of {'' if count is None else f'{count} '}strings")
        for k, value in enumerate(values):
            if not isinstance(value, str):
                raise self.element_error(key, k, value, "a string")
        return tuple(values)

    def row(self, key: str, width: int | None = None) -> Floats:
        """Return the array ``key`` of ``width`` numbers (None: any number), read-only."""
        if key not in self.values:
            raise self.member_error(key, "an array of numbers")
        return self._numbers([self.values[key]], width, lambda _: self.member_location(key)).reshape(-1)

    def rows(self, key: str, count: int, width: int) -> Floats:
        """Return the array ``key`` of ``count`` arrays of ``width`` numbers each, (count, width) and read-only."""
        values = self.values.get(key)
        if not isinstance(values, list) or len(values) != count:
            raise self.member_error(key, f"an array of {count} arrays of {width} numbers")
        return self._numbers(values, width, lambda k: f"{self.member_location(key)}[{k}]")

    def _numbers(self, rows: list[Any], width: int | None, name: Callable[[int], str]) -> Floats:
        """Return rows of finite numbers as an array; ``name`` gives the location of a row for errors."""
        for k, row in enumerate(rows):
            is_valid = (
                isinstance(row, list) and (width is None or len(row) == width) and {*map(type, row)} <= {int, float}
            )
            if not is_valid or not all(abs(value) <= MAX_MAGNITUDE for value in row):
                numbers = "finite numbers" if width is None else f"{width} finite numbers"
                expected = f"an array of {numbers} up to {MAX_MAGNITUDE:g}"
                raise _value_error(self.source, name(k), row, expected)
        flat = np.fromiter(chain.from_iterable(rows), np.float64)
        return freeze(flat.reshape(len(rows), -1 if width is None else width))

    def floats(self, key: str, default: tuple[float, ...]) -> Floats:
        """Return the array ``key`` of as many finite numbers as ``default`` has; ``default`` if it is absent."""
        values = self.values.get(key, default)
        expected = f"{len(default)} finite numbers"
        if not isinstance(values, list | tuple) or len(values) != len(default):
            raise self.member_error(key, expected)
        if not all(map(_is_number, values)):
            raise self.member_error(key, expected)
        return np.array(values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class JsonArray(Sequence[JsonObject]):
    """An array of objects; each ``JsonObject`` is created on access, as there may be a million of them."""

    source: Source
    location: str
    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> JsonObject: ...
    @overload
    def __getitem__(self, index: slice) -> list[JsonObject]: ...
    def __getitem__(self, index: int | slice) -> JsonObject | list[JsonObject]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        return JsonObject(self.source, f"{self.location}[{index}]", self.values[index])


def _value_error(source: Source, location: str, value: Any, expected: str) -> FormatError:
    """Return the error for a value, or for a missing one (UNSET)."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    code = "missing_data" if value is UNSET else "bad_number" if is_number else "syntax"
    problem = "missing" if value is UNSET else _format_value(value)
    return source.error(problem, code=code, subject=location, value=value, expected=expected)


def parse_json(source: Source, data: bytes | memoryview, *, refuse_duplicates: bool = False) -> JsonObject:
    """Parse the JSON object in ``data``; raise FormatError for invalid JSON, too deep nesting or NaN.

    With ``refuse_duplicates`` two members of one name in an object are an error; else the last one is used.
    """
    hook = _reject_duplicates if refuse_duplicates else None
    try:
        values = json.loads(bytes(data).decode("utf-8-sig"), parse_constant=_refuse_constant, object_pairs_hook=hook)
    except RecursionError:
        raise source.error("the JSON is nested too deeply", code="syntax") from None
    except ValueError as error:
        raise source.error(f"not sound JSON ({error})", code="syntax") from None
    if not isinstance(values, dict):
        raise _value_error(source, "the JSON", values, "an object")
    return JsonObject(source, "", values)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{_format_value(name)} stands twice in one object")
        members[name] = value
    return members


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def _expected_index(count: int) -> str:
    return f"an index from 0 to {count - 1}" if count else "nothing, as there is nothing to point at"


def _format_value(value: Any) -> str:
    if _is_integer(value) and abs(value) > MAX_INTEGER:
        return f"a number beyond {MAX_INTEGER}" if value > 0 else f"a number below -{MAX_INTEGER}"
    kinds: dict[type, str] = {dict: "an object", list: "an array"}
    if isinstance(value, list) and len(value) <= 16 and all(isinstance(v, int | float | str) for v in value):
        kinds.pop(list)
    text = kinds.get(type(value)) or repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
