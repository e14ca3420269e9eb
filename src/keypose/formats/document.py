"""JSON that a file brought, read with checks: nothing in it is taken on trust."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NoReturn, overload

import numpy as np

from keypose.arrays import GREATEST_NUMBER, Floats, give_away
from keypose.errors import FormatError
from keypose.formats.base import Source

MOST = 1e150  # a number that large is no length, and its square is still finite
MOST_WHOLE = 1 << 53  # what every JSON reader holds exactly; no count or offset is larger
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Part:
    """One object of the JSON; ``where`` names it in messages: ``animations[0].channels[3]``."""

    source: Source
    where: str
    values: Mapping[str, Any]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def place(self, key: str) -> str:
        """How a message names the member ``key``."""
        return f"{self.where}.{key}" if self.where else key

    def wrong(self, key: str, expected: str) -> FormatError:
        """The error for a member that is not what it should be."""
        found = _shown(self.values[key]) if key in self.values else "absent"
        return self.source.error(f"{self.place(key)} is {found}, expected {expected}")

    def part(self, key: str) -> Part | None:
        """The member ``key``, an object; None where it is absent."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Part(self.source, self.place(key), value)

    def object(self, key: str) -> Part:
        """The member ``key``, an object that must be there."""
        found = self.part(key)
        if found is None:
            raise self.wrong(key, "an object")
        return found

    def check_members(self, *keys: str) -> None:
        """Refuses an object without one of ``keys``, and warns of others."""
        for key in keys:
            if key not in self.values:
                raise self.source.error(f"{self.place(key)} is missing")
        unknown = [key for key in self.values if key not in keys]
        if unknown:
            more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            self.source.warn(f"{self.place(unknown[0])}{more} means nothing here and is left out")

    def parts(self, key: str) -> Parts:
        """The members of the array ``key``, all objects; none where it is absent."""
        values = self.array(key)
        for k, value in enumerate(values):
            if not isinstance(value, dict):
                raise self.source.error(f"{self.place(key)}[{k}] is {_shown(value)}, expected an object")
        return Parts(self.source, self.place(key), values)

    def array(self, key: str) -> list[Any]:
        """The array ``key``, its members unchecked; empty where it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "an array")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """The string ``key``, sound Unicode: JSON can spell halves of characters, which no file can hold."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value if value.isascii() else _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)

    def raw_text(self, key: str) -> str:
        """The string ``key`` as it is, halves of characters included."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value

    def whole(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """The whole number ``key``, at least ``least`` and at most 2**53."""
        value: Any = self.values.get(key, default)
        if not _is_whole(value) or value < least:
            raise self.wrong(key, f"a whole number of at least {least}")
        if value > MOST_WHOLE:
            raise self.wrong(key, f"a whole number of at most {MOST_WHOLE}")
        return int(value)

    def index(self, key: str, count: int) -> int:
        """The member ``key`` as an index into a list of ``count``."""
        value: Any = self.values.get(key)
        if not _is_whole(value) or not 0 <= value < count:
            raise self.wrong(key, _index_expected(count))
        return int(value)

    def indices(self, key: str, count: int) -> list[int]:
        """The array ``key`` as indices into a list of ``count``."""
        values = self.array(key)
        for k, value in enumerate(values):
            if not _is_whole(value) or not 0 <= value < count:
                raise self.source.error(f"{self.place(key)}[{k}] is {_shown(value)}, expected {_index_expected(count)}")
        return [int(value) for value in values]

    def positive(self, key: str) -> float:
        """The finite number ``key``, above 0."""
        value: Any = self.values.get(key)
        if not _is_number(value) or not value > 0:
            raise self.wrong(key, "a number above 0")
        return float(value)

    def not_negative(self, key: str) -> float:
        """The finite number ``key``, 0 or above."""
        value: Any = self.values.get(key)
        if not _is_number(value) or value < 0:
            raise self.wrong(key, "a number of at least 0")
        return float(value)

    def flag(self, key: str) -> bool:
        """The member ``key``, true or false."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def texts(self, key: str, count: int | None = None) -> tuple[str, ...]:
        """The array ``key`` of ``count`` strings (None: any number), as they are."""
        values = self.values.get(key)
        if not isinstance(values, list) or (count is not None and len(values) != count):
            raise self.wrong(key, f"an array of {'' if count is None else f'{count} '}strings")
        for k, value in enumerate(values):
            if not isinstance(value, str):
                raise self.source.error(f"{self.place(key)}[{k}] is {_shown(value)}, expected a string")
        return tuple(values)

    def row(self, key: str, width: int | None = None) -> Floats:
        """The array ``key`` of ``width`` numbers (None: any number), read-only."""
        if key not in self.values:
            raise self.wrong(key, "an array of numbers")
        return self._numbers([self.values[key]], width, lambda _: self.place(key)).reshape(-1)

    def rows(self, key: str, count: int, width: int) -> Floats:
        """The array ``key`` of ``count`` arrays of ``width`` numbers each, read-only."""
        values = self.values.get(key)
        if not isinstance(values, list) or len(values) != count:
            raise self.wrong(key, f"an array of {count} arrays of {width} numbers")
        return self._numbers(values, width, lambda k: f"{self.place(key)}[{k}]")

    def _numbers(self, rows: list[Any], width: int | None, name: Callable[[int], str]) -> Floats:
        """Rows of sane numbers as an array; the first row that is none is named."""
        for k, row in enumerate(rows):
            sound = isinstance(row, list) and (width is None or len(row) == width) and {*map(type, row)} <= {int, float}
            if not sound or not all(abs(value) <= GREATEST_NUMBER for value in row):
                much = "finite numbers" if width is None else f"{width} finite numbers"
                raise self.source.error(
                    f"{name(k)} is {_shown(row)}, expected an array of {much} up to {GREATEST_NUMBER:g}"
                )
        flat = np.fromiter(chain.from_iterable(rows), np.float64)
        return give_away(flat.reshape(len(rows), -1 if width is None else width))

    def floats(self, key: str, default: tuple[float, ...]) -> Floats:
        """The array ``key`` of as many finite numbers as ``default`` has, which stands in where it is absent."""
        values = self.values.get(key, default)
        expected = f"{len(default)} finite numbers"
        if not isinstance(values, list | tuple) or len(values) != len(default):
            raise self.wrong(key, expected)
        if not all(map(_is_number, values)):
            raise self.wrong(key, expected)
        return np.array(values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Parts(Sequence[Part]):
    """An array of objects; each becomes a ``Part`` only when it is asked for, as there may be a million of them."""

    source: Source
    where: str
    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[Part]: ...
    def __getitem__(self, index: int | slice) -> Part | list[Part]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        return Part(self.source, f"{self.where}[{index}]", self.values[index])


def parse_json(source: Source, data: bytes | memoryview, *, refuse_twins: bool = False) -> Part:
    """The JSON object in ``data``; not JSON, nested too deeply or with NaN: an error.

    With ``refuse_twins`` two members of one name in an object are an error too; else the last one counts.
    """
    hook = _without_twins if refuse_twins else None
    try:
        values = json.loads(bytes(data).decode("utf-8-sig"), parse_constant=_refuse_constant, object_pairs_hook=hook)
    except RecursionError:
        raise source.error("the JSON is nested too deeply") from None
    except ValueError as error:
        raise source.error(f"not sound JSON ({error})") from None
    if not isinstance(values, dict):
        raise source.error(f"the JSON is {_shown(values)}, expected an object")
    return Part(source, "", values)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{_shown(name)} stands twice in one object")
        members[name] = value
    return members


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _index_expected(count: int) -> str:
    return f"an index from 0 to {count - 1}" if count else "nothing, as there is nothing to point at"


def _shown(value: Any) -> str:
    if _is_whole(value) and abs(value) > MOST_WHOLE:
        return f"a number beyond {MOST_WHOLE}" if value > 0 else f"a number below -{MOST_WHOLE}"
    kinds: dict[type, str] = {dict: "an object", list: "an array"}
    if isinstance(value, list) and len(value) <= 16 and all(isinstance(v, int | float | str) for v in value):
        kinds.pop(list)
    text = kinds.get(type(value)) or repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
