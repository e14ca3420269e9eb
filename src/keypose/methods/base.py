"""The description of a method, and checks shared by methods."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_type_hints

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import Ladder
from keypose.options import FeatureKind, MethodOptions, Option, declared_options
from keypose.options.clip_edit import OptionDescription, describe_option
from keypose.validation import check_int

MAX_LADDER_KEYS = 1 << 28  # total number of keys in all selections of a ladder

Joints = Literal["all", "major", "body"]


@dataclass(frozen=True, repr=False)
class Method:
    """A method that selects keys.

    ``ladder(features, max_keys, **options)`` has only Features as input; its keywords are the options, and
    ``declarations`` has the help and the range of each. ``feature_kind`` and ``joints`` are its default features.
    ``has_own_count``: whether the method determines a number of keys itself (``Ladder.natural``).
    """

    name: str
    summary: str
    paper: str
    ladder: Callable[..., Ladder]
    feature_kind: FeatureKind
    joints: Joints
    declarations: Mapping[str, Option]
    has_own_count: bool = False
    takes_edge_costs: bool = False  # whether ``ladder`` also accepts edge costs in place of features
    span_costs: Callable[..., Floats] | None = None  # (features, keys, **options) -> cost of each span between keys

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The options of this method with their defaults."""
        parameters = inspect.signature(self.ladder).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    @cached_property
    def options_help(self) -> Mapping[str, str]:
        """The help texts of the options."""
        return {name: option.help for name, option in self.declarations.items()}

    @cached_property
    def option_descriptions(self) -> tuple[OptionDescription, ...]:
        """The options with their types, ranges and units, without lists of frames."""
        types = get_type_hints(self.ladder) | get_type_hints(MethodOptions)
        shared = declared_options(MethodOptions)  # their ranges are declared there
        described = (
            describe_option(name, types[name], self.options[name], replace(option, **shared[name].bounds))
            if name in shared
            else describe_option(name, types[name], self.options[name], option)
            for name, option in self.declarations.items()
        )
        return tuple(each for each in described if each is not None)

    def __repr__(self) -> str:
        return f"Method({self.name}: {self.summary}; {self.paper})"


class Methods(tuple[Method, ...]):
    """Methods, printed one per line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(f"{row.name:<10} {row.summary} ({', '.join(row.options) or 'no options'})" for row in self)


def resolve_max_keys(max_keys: int | None, n_frames: int, *, default: int | None = None, min_keys: int = 1) -> int:
    """Return the largest number of keys of a ladder: at most one per frame; ``default`` or all if ``max_keys`` is None.

    ``min_keys`` is the smallest number of keys of the method, for clips that are long enough.
    """
    min_keys = min(min_keys, n_frames)
    if max_keys is None:
        return max(min_keys, min(n_frames, default or n_frames))
    return min(check_int("max_keys", max_keys, min_value=min_keys), n_frames)


def check_ladder_size(max_keys: int) -> None:
    """Raise OptionError if all selections up to ``max_keys``, stored in full, would take more than a gigabyte."""
    if max_keys * max_keys > 2 * MAX_LADDER_KEYS:
        raise OptionError(
            option="max_keys",
            value=max_keys,
            expected=f"at most {math.isqrt(2 * MAX_LADDER_KEYS)}: every selection up to that number is stored",
        )
