"""What every method is to the rest of the house: a row of one table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Literal

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import Ladder

Recipe = Literal["world", "root_matched", "unmatched", "parent_relative", "euler"]
Joints = Literal["all", "major", "body"]


@dataclass(frozen=True, repr=False)
class Method:
    """A way of choosing keys.

    ``ladder(features, max_keys, **options)`` sees nothing but Features; its keywords are the options,
    explained in ``options_help``. ``recipe`` and ``joints`` are the features it was made for. A method with a count
    of its own (``Ladder.natural``) says so.
    """

    name: str
    summary: str
    paper: str
    ladder: Callable[..., Ladder]
    recipe: Recipe
    joints: Joints
    options_help: Mapping[str, str]
    has_own_count: bool = False
    takes_edge_costs: bool = False  # in place of features
    span_costs: Callable[..., Floats] | None = None  # (features, keys, **options): of each two neighbouring keys

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The keywords that this method takes, with their defaults."""
        parameters = inspect.signature(self.ladder).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def __repr__(self) -> str:
        return f"Method({self.name}: {self.summary}; {self.paper})"


class Methods(tuple[Method, ...]):
    """Methods, shown one a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(f"{row.name:<10} {row.summary} ({', '.join(row.options) or 'no options'})" for row in self)


def budget(max_keys: int | None, n_frames: int, default: int | None = None) -> int:
    """How many keys to go up to: at most one a frame; by default ``default`` or all."""
    if max_keys is None:
        return min(n_frames, default or n_frames)
    return min(whole("max_keys", max_keys, least=1), n_frames)


def whole(what: str, value: int, *, least: int) -> int:
    """``value`` as an int of at least ``least``, or an error that says what was expected."""
    try:
        number = index(value)
    except TypeError:
        raise OptionError(f"{what}={value!r}, expected a whole number of at least {least}") from None
    if number < least:
        raise OptionError(f"{what}={number}, expected at least {least}")
    return number


def number(what: str, value: float, *, above: float | None = None, least: float | None = None) -> float:
    """``value`` as a finite float above or at least a bound, or an error that says what was expected."""
    bound = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    try:
        given = float(value)
    except (TypeError, ValueError, OverflowError):
        given = float("nan")
    inside = abs(given) < float("inf") and (above is None or given > above) and (least is None or given >= least)
    if not inside or isinstance(value, str):
        raise OptionError(f"{what}={value!r}, expected a number{bound}")
    return given


def one_of(what: str, value: str, known: tuple[str, ...]) -> str:
    """``value`` if it is among the known words, else an error that lists them."""
    if value not in known:
        raise OptionError(f"{what}={value!r}, expected one of {', '.join(known)}")
    return value
