"""Checks of the fields of frozen dataclasses against their annotations, which hold ranges, lengths and help texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from keypose.errors import OptionError
from keypose.options import Option
from keypose.validation import check_bool, check_choice, check_int, check_number, check_text

MAX_FRAME = (1 << 31) - 1
MAX_TEXT = 1000  # characters

Frame: TypeAlias = Annotated[int, Option("A frame, from 0.", min_value=0, max_value=MAX_FRAME)]
Finite: TypeAlias = Annotated[float, Option("A finite number.")]
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


@dataclass(frozen=True)
class CheckedFields:
    """Base of dataclasses whose fields are checked against their annotations: sequences become tuples."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}  # the server rejects unknown fields

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


def _check_length(name: str, value: Any, unit: str, option: Option) -> Any:
    if option.min_length is not None and len(value) < option.min_length:
        raise OptionError(f"{len(value)} {unit}", option=name, expected=f"at least {option.min_length}")
    if option.max_length is not None and len(value) > option.max_length:
        raise OptionError(f"{len(value)} {unit}", option=name, expected=f"at most {option.max_length}")
    return value


def check_mapping(name: str, value: Any, keys: Iterable[str]) -> dict[str, Any]:
    """Return ``value`` as a dictionary that has no keys besides ``keys``."""
    if not isinstance(value, Mapping):
        raise OptionError(option=name, value=value, expected="a mapping of names to values")
    allowed = tuple(keys)
    for key in value:
        if key not in allowed:
            raise OptionError(f"{key!r}", option=name, expected=f"only {', '.join(allowed)}")
    return dict(value)


def check_sequence(name: str, value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple; OptionError if it is a text or no iterable."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise OptionError(option=name, value=value, expected="several values")
    return tuple(value)


def check_frames(name: str, value: Any, *, min_value: int) -> tuple[int, ...]:
    """Return integers sorted and without duplicates."""
    return tuple(sorted({check_int(name, each, min_value=min_value) for each in check_sequence(name, value)}))


def check_texts(name: str, value: Any) -> tuple[str, ...]:
    """Return texts in their order."""
    return tuple(check_text(name, each) for each in check_sequence(name, value))


def check_weights(name: str, value: Any) -> dict[str, float]:
    """Return a mapping of texts to finite numbers."""
    if not isinstance(value, Mapping):
        raise OptionError(option=name, value=value, expected="a mapping such as {'hands': 2.0}")
    return {check_text(name, key): check_number(f"{name} of {key}", each) for key, each in value.items()}
