"""Checks of the fields of frozen dataclasses against their annotations, which hold ranges, lengths and help texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from keypose.errors import OptionError
from keypose.options import Option
from keypose.options.clip_edit import MAX_FRAME, MAX_KEYS
from keypose.validation import check_bool, check_choice, check_int, check_number, check_text

MAX_TEXT = 1000  # characters
MAX_NAMES = 1000  # of joints in one list or mapping
MAX_FIELDS = 100  # of one object
MAX_DEPTH = 4  # of nested lists and mappings in untyped data
MAX_INTEGER = 1 << 53  # JSON numbers are exact up to here

Frame: TypeAlias = Annotated[int, Option("A frame, from 0.", min_value=0, max_value=MAX_FRAME)]
Frames: TypeAlias = Annotated[tuple[Frame, ...], Option("", max_length=MAX_KEYS)]
Text: TypeAlias = Annotated[str, Option("", max_length=MAX_TEXT)]
Finite: TypeAlias = Annotated[float, Option("")]
Triple: TypeAlias = tuple[Finite, Finite, Finite]
Quaternion: TypeAlias = tuple[Finite, Finite, Finite, Finite]  # wxyz


@dataclass(frozen=True)
class TaggedUnion:
    """Annotation of a union of dataclasses: the field ``tag``, a text, says which of them a JSON object describes.

    The server reads it with pydantic, which calls the method that begins with ``__get_pydantic``.
    """

    tag: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the union ``source``."""
        choices = {getattr(each, self.tag): handler(each) for each in get_args(source)}
        return {"type": "tagged-union", "discriminator": self.tag, "choices": choices}


class PlainData:
    """Annotation of untyped data: neither deep nor long, without numbers that are not finite.

    Only the server checks it, with pydantic, which calls the method that begins with ``__get_pydantic``.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of ``source`` after ``check_plain``."""
        return _check_before(check_plain, handler(source))


def check_plain(value: Any) -> Any:
    """Return ``value``; ValueError if it is too deep or too long, or holds numbers that are not finite."""
    pending, n_values = [(value, 0)], 0
    while pending:
        item, depth = pending.pop()
        n_values += 1
        if depth > MAX_DEPTH or n_values > MAX_NAMES:
            raise ValueError(f"too large, expected at most {MAX_NAMES} values nested at most {MAX_DEPTH} deep")
        if isinstance(item, dict):
            pending += [(each, depth + 1) for each in item.values()]
        elif isinstance(item, list):
            pending += [(each, depth + 1) for each in item]
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"{item}, expected a finite number")
        elif isinstance(item, int) and abs(item) > MAX_INTEGER:
            raise ValueError(f"number too large, expected at most {MAX_INTEGER}")
    return value


def check_field_count(value: Any) -> Any:
    """Return ``value``; ValueError if it is an object with too many fields to report each of them."""
    if isinstance(value, dict) and len(value) > MAX_FIELDS:
        raise ValueError(f"{len(value)} fields, expected those that are described")
    return value


def _check_before(check: Callable[[Any], Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of pydantic that calls ``check`` before validation."""
    return {"type": "function-before", "function": {"type": "no-info", "function": check}, "schema": schema}


@dataclass(frozen=True)
class CheckedFields:
    """Base of dataclasses whose fields are checked against their annotations: sequences become tuples.

    The server reads them with pydantic, which calls the method that begins with ``__get_pydantic``.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}  # the server rejects unknown fields

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the class; objects with too many fields are rejected before each is validated."""
        return _check_before(check_field_count, handler(cls))  # ``source`` may be a union with it

    def __post_init__(self) -> None:
        checked_type: Any = type(self)
        for name, hint in _field_types(checked_type).items():
            object.__setattr__(self, name, _check_value(name, getattr(self, name), hint, NO_LIMITS))


NO_LIMITS = Option("")


@cache
def _field_types(checked_type: Any) -> dict[str, Any]:
    hints = get_type_hints(checked_type, include_extras=True)
    return {each.name: hints[each.name] for each in fields(checked_type)}


def _check_value(name: str, value: Any, hint: Any, option: Option) -> Any:
    """Return ``value`` as the type ``hint``, within the limits of ``option``."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        own = next((each for each in arguments[1:] if isinstance(each, Option)), option)
        return _check_value(name, value, arguments[0], own)
    if origin in (Union, UnionType) and NoneType in arguments:
        (other_type,) = (each for each in arguments if each is not NoneType)
        return None if value is None else _check_value(name, value, other_type, option)
    if origin is Literal:
        return check_choice(name, value, arguments)
    if origin is tuple:
        return _check_tuple(name, value, arguments, option)
    if origin is dict:
        return _check_dict(name, value, arguments, option)
    if hint is Any:
        return value
    if hint is bool:
        return check_bool(name, value)
    if hint is int:
        min_value, max_value = (None if end is None else int(end) for end in (option.min_value, option.max_value))
        return check_int(name, value, min_value=min_value, max_value=max_value)
    if hint is float:
        return check_number(name, value, **option.bounds)
    if hint is str:
        return _check_length(name, check_text(name, value), "characters", option)
    types = arguments or (hint,)
    if not isinstance(value, types):
        raise OptionError(option=name, value=value, expected=f"one of {', '.join(each.__name__ for each in types)}")
    return value


def _check_tuple(name: str, value: Any, item_types: tuple[Any, ...], option: Option) -> tuple[Any, ...]:
    items = check_sequence(name, value)
    if item_types[-1] is Ellipsis:
        _check_length(name, items, name, option)
        item_types = (item_types[0],) * len(items)
    elif len(items) != len(item_types):
        raise OptionError(f"{len(items)} numbers", option=name, expected=f"{len(item_types)}")
    return tuple(_check_value(name, item, hint, NO_LIMITS) for item, hint in zip(items, item_types, strict=True))


def _check_dict(name: str, value: Any, types: tuple[Any, ...], option: Option) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise OptionError(option=name, value=value, expected="a mapping of names to values")
    _check_length(name, value, "entries", option)
    key_type, value_type = types
    return {
        _check_value(name, key, key_type, NO_LIMITS): _check_value(f"{name} of {key}", each, value_type, NO_LIMITS)
        for key, each in value.items()
    }


def _check_length(name: str, value: Any, unit: str, option: Option) -> Any:
    if option.min_length is not None and len(value) < option.min_length:
        raise OptionError(f"{len(value)} {unit}", option=name, expected=f"at least {option.min_length}")
    if option.max_length is not None and len(value) > option.max_length:
        raise OptionError(f"{len(value)} {unit}", option=name, expected=f"at most {option.max_length}")
    return value


def check_sequence(name: str, value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple; OptionError if it is a text or no iterable."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise OptionError(option=name, value=value, expected="several values")
    return tuple(value)


def check_frames(name: str, value: Any) -> tuple[int, ...]:
    """Return frames sorted and without duplicates."""
    return sort_frames(_check_value(name, value, Frames, NO_LIMITS))


def sort_frames(frames: Iterable[int]) -> tuple[int, ...]:
    """Return ``frames`` sorted and without duplicates."""
    return tuple(sorted(set(frames)))
