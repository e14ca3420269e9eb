"""Options of the operations on one clip that the web app offers, and descriptions of options for its forms."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from keypose.options import Option, declared_options, default_of

MAX_TOLERANCE_MM = 1e4
MAX_KEYS = 20_000
MAX_FRAME = (1 << 31) - 1

Residual: TypeAlias = Annotated[
    float, Option("Share of the captured detail that is added: 0 none, 1 all.", min_value=0.0, max_value=2.0)
]


@dataclass(frozen=True)
class ClipKeyOptions:
    """How many keys are chosen; None: decided by the clip."""

    keys: Annotated[int | None, Option("Number of keys.", min_value=2, max_value=MAX_KEYS)] = None
    max_keys: Annotated[
        int | None, Option("Largest number of keys on the error curve.", min_value=2, max_value=MAX_KEYS)
    ] = None
    tolerance_mm: Annotated[
        float | None,
        Option(
            "Fewest keys whose curves keep every joint within this error, on a figure of 1.7 m; none: within 1 % of "
            "the height, as automatic keys.",
            above=0.0,
            max_value=MAX_TOLERANCE_MM,
        ),
    ] = None
    first_frame: Annotated[int | None, Option("First frame of the range.", min_value=0, max_value=MAX_FRAME)] = None
    last_frame: Annotated[int | None, Option("Last frame of the range.", min_value=0, max_value=MAX_FRAME)] = None


@dataclass(frozen=True)
class DetailOptions:
    """What is added to curves."""

    residual: Residual = 0.0


OptionKind: TypeAlias = Literal["choice", "flag", "integer", "number"]
KINDS: dict[Any, OptionKind] = {bool: "flag", int: "integer", float: "number"}
UNITS = {"s": "s", "mm": "mm", "deg": "degrees", "frames": "frames", "sigmas": "sigmas"}  # by the end of a name


@dataclass(frozen=True)
class OptionDescription:
    """An option as a form shows it. The API takes the class as it is."""

    name: str
    kind: OptionKind
    help: str
    unit: Annotated[str, Option("Of a number; empty: none.")]
    default: Annotated[str | int | float | bool | None, Option("None: decided by the clip and the other options.")]
    choices: Annotated[tuple[str, ...], Option("The values of a choice.")] = ()
    above: float | None = None
    min_value: float | None = None
    max_value: float | None = None


def describe_option(name: str, value_type: Any, default: Any, option: Option) -> OptionDescription | None:
    """Return the description of an option; None if its values are neither words, numbers, nor yes and no."""
    types = [each for each in (get_args(value_type) or (value_type,)) if each is not NoneType]
    if get_origin(value_type) is Literal:
        types = [value_type]
    if len(types) != 1:
        return None
    is_choice = get_origin(types[0]) is Literal
    kind: OptionKind | None = "choice" if is_choice else KINDS.get(types[0])
    if kind is None:
        return None
    unit = UNITS.get(name.rpartition("_")[2], "") if kind in ("integer", "number") else ""
    choices = get_args(types[0]) if is_choice else ()
    return OptionDescription(name, kind, option.help, unit, default, choices, **option.bounds)


def describe_options(options: type[Any]) -> tuple[OptionDescription, ...]:
    """Return the descriptions of a class of options, without those that no form shows."""
    types, declared = get_type_hints(options), declared_options(options)
    described = (
        describe_option(each.name, types[each.name], default_of(options, each.name), declared[each.name])
        for each in fields(options)
    )
    return tuple(each for each in described if each is not None)
