"""What every method is to the rest of the house: a row of one table."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import Ladder
from keypose.options import whole

MOST_KEPT = 1 << 28  # keys of all selections of a ladder together

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


def budget(max_keys: int | None, n_frames: int, *, default: int | None = None, least: int = 1) -> int:
    """How many keys to go up to: at most one a frame; by default ``default`` or all.

    ``least`` is how many keys the method has at least, of a clip that is long enough.
    """
    least = min(least, n_frames)
    if max_keys is None:
        return max(least, min(n_frames, default or n_frames))
    return min(whole("max_keys", max_keys, least=least), n_frames)


def check_paths(max_keys: int) -> None:
    """Refuses ladders whose selections, each kept in full, would take more than a gigabyte."""
    if max_keys * max_keys > 2 * MOST_KEPT:
        raise OptionError(f"{max_keys} keys: every selection up to that is kept, expected at most "
                          f"max_keys={math.isqrt(2 * MOST_KEPT)}")  # fmt: skip
