"""Results of methods: Selection (the frames of one number of keys) and Ladder (a selection for every number)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_ints, freeze_or_copy
from keypose.errors import ModelError, OptionError, format_count, format_count_range, format_value
from keypose.validation import check_int

MIN_CLIFF_STRENGTH = 0.1  # minimum strength, a difference of logarithms of costs
NOISE = 1e-6  # relative to the largest cost: smaller costs are rounding
ZERO_COST = 1e-9  # relative to the largest cost: upper limit of what replaces a cost of 0 in logarithms


@dataclass(frozen=True, eq=False)
class Selection(Frozen):
    """Frames selected as keys by a method, at least one, increasing."""

    frames: Ints  # (K,) 0-based, increasing
    n_frames: int
    method: str
    order: Ints | None = None  # (K,) the same frames, most important first; None if the method does not rank them

    def __post_init__(self) -> None:
        self._set_field("n_frames", _check_count(self.n_frames, "selection"))
        frames = freeze_ints(self.frames, (None,), "selection")
        if not len(frames) or frames[0] < 0 or frames[-1] >= self.n_frames or (np.diff(frames) <= 0).any():
            raise ModelError(
                f"frames {frames.tolist()[:12]}",
                subject="selection",
                expected=f"increasing ones from 0 to {self.n_frames - 1}, at least one",
            )
        self._set_field("frames", frames)
        if self.order is not None:
            order = freeze_ints(self.order, (len(frames),), "selection order")
            if not np.array_equal(np.sort(order), frames):
                raise ModelError(
                    "the order must hold the very frames of the selection", subject="selection", value="order"
                )
            self._set_field("order", order)

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[int]:
        return iter(self.frames.tolist())

    def __repr__(self) -> str:
        frames = " ".join(map(str, self.frames[:12].tolist())) + (" ..." if len(self) > 12 else "")
        return f"Selection({self.method}: {len(self)} of {format_count(self.n_frames, 'frame')}: {frames})"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import selection_card

        return selection_card(self)


def parse_frames(
    selection: Selection | Sequence[int],
    n_frames: int,
    option: str,
    expected: str = "what kp.select gives, or frames like (0, 30, 88)",
) -> Ints:
    """Return frames of a motion of ``n_frames``, given as a selection or plainly: sorted, each once."""
    if isinstance(selection, Selection):
        if selection.n_frames != n_frames:
            raise OptionError(
                f"keys of {format_count(selection.n_frames, 'frame')}, the motion has {n_frames}", option=option
            )
        return selection.frames
    try:
        frames: Ints = freeze(np.unique(freeze_ints(selection, (None,), option)))
    except (ModelError, TypeError, ValueError):
        raise OptionError(option=option, value=selection, expected=expected) from None
    if not len(frames):
        raise OptionError("no frames", option=option, expected="at least one")
    outside = frames[(frames < 0) | (frames >= n_frames)]
    if len(outside):
        raise OptionError(f"frame {outside[0]}", option=option, expected=f"frames from 0 to {n_frames - 1}")
    return frames


class Cliff(NamedTuple):
    """A number of keys at which the cost drops: the last key lowers it much, the next ones little."""

    keys: int
    strength: float  # difference of the decreases of log cost


@dataclass(frozen=True, eq=False)
class Costs(Frozen, Mapping[int, float]):
    """The cost of each number of keys: ``costs[12]``."""

    counts: Ints  # (C,) increasing
    amounts: Floats  # (C,) at least 0

    def __getitem__(self, keys: int) -> float:
        return float(self.amounts[_find_count(self.counts, keys)])

    def __repr__(self) -> str:
        items = [f"{keys}: {cost:.4g}" for keys, cost in zip(self.counts[:4], self.amounts[:4], strict=True)]
        return f"Costs({{{', '.join(items)}{', ...' if len(self) > 4 else ''}}})"

    def __contains__(self, keys: object) -> bool:
        return isinstance(keys, int | np.integer) and bool((self.counts == keys).any())

    def get(self, keys: int, default: Any = None) -> Any:
        """Return the cost of ``keys`` keys, or ``default`` if there is no such selection."""
        return float(self.amounts[self.counts == keys][0]) if keys in self else default

    def __iter__(self) -> Iterator[int]:
        return iter(self.counts.tolist())

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class Ladder(Frozen):
    """A selection for every number of keys that the method supports, with costs.

    Costs are what the method minimises, in the units of its features: they can be compared along one ladder, but not
    between methods. Built by ``Ladder.from_order`` or ``Ladder.from_paths``.
    """

    method: str
    n_frames: int
    counts: Ints  # (C,) increasing numbers of keys
    frames: Ints  # nested: (counts[-1],) by importance; else all selections concatenated
    cost_values: Floats  # (C,)
    is_nested: bool
    natural: int | None = None  # the method's own number of keys, if it has one

    @staticmethod
    def from_order(
        method: str,
        n_frames: int,
        order: ArrayLike,
        costs: ArrayLike,
        *,
        min_keys: int = 1,
        natural: int | None = None,
    ) -> Ladder:
        """Return a nested ladder: n keys are the first n of ``order``; ``costs[i]`` is of ``min_keys + i`` keys."""
        frames = freeze_ints(order, (None,), "order of keys")
        counts = np.arange(check_int("min_keys", min_keys), len(frames) + 1, dtype=np.int32)
        return Ladder(method, n_frames, counts, frames, cast(Floats, costs), True, natural)

    @staticmethod
    def from_paths(method: str, n_frames: int, counts: ArrayLike, frames: ArrayLike, costs: ArrayLike) -> Ladder:
        """Return a ladder; ``frames`` are the keys for ``counts[0]``, then those for ``counts[1]``, ..."""
        return Ladder(method, n_frames, cast(Ints, counts), cast(Ints, frames), cast(Floats, costs), False)

    def __post_init__(self) -> None:
        counts = freeze_ints(self.counts, (None,), "ladder counts")
        if not len(counts) or counts[0] < 1 or (np.diff(counts) <= 0).any():
            raise ModelError("counts must increase from at least 1", subject="ladder")
        self._set_field("counts", counts)
        self._set_field("n_frames", _check_count(self.n_frames, "ladder"))
        if not isinstance(self.is_nested, bool | np.bool_):
            raise ModelError(option="is_nested", value=self.is_nested, subject="ladder", expected="True or False")
        length = int(counts[-1] if self.is_nested else counts.sum())
        self._set_field("frames", freeze_ints(self.frames, (length,), "ladder frames"))
        try:
            costs = freeze_or_copy(np.asarray(self.cost_values, np.float64))
        except (TypeError, ValueError, OverflowError):
            costs = np.zeros(0)
        if costs.shape != counts.shape or not np.isfinite(costs).all() or costs.min() < 0:
            raise ModelError(subject="ladder", expected="a finite cost of at least 0 for every count")
        self._set_field("cost_values", costs)
        if self.natural is not None and _check_count(self.natural, "ladder") not in counts:
            raise ModelError(
                f"{format_count(self.natural, 'key')} of its own", subject="ladder", expected="one of its counts"
            )

    def at(self, keys: int) -> Selection:
        """Return the selection with exactly ``keys`` keys. Raise OptionError if it is not one of ``counts``."""
        position = _find_count(self.counts, keys)
        if self.is_nested:
            order = self.frames[:keys]
            return Selection(freeze(np.sort(order)), self.n_frames, self.method, order)
        start = int(self.counts[:position].sum())
        return Selection(self.frames[start : start + keys], self.n_frames, self.method)

    @cached_property
    def costs(self) -> Costs:
        """The cost of each number of keys, ``ladder.costs[12]``, in units of the features."""
        return Costs(self.counts, self.cost_values)

    @cached_property
    def _log_costs(self) -> Floats:
        positive = self.cost_values[self.cost_values > 0]
        floor = max(min(ZERO_COST * positive.max(), positive.min()), np.finfo(float).tiny) if len(positive) else 1.0
        logarithms: Floats = np.log(np.maximum(self.cost_values, floor))
        return logarithms

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Selection]:
        return (self.at(keys) for keys in self.counts.tolist())

    def __repr__(self) -> str:
        return (
            f"Ladder({self.method}: {format_count_range(int(self.counts[0]), int(self.counts[-1]), 'key')} "
            f"of {format_count(self.n_frames, 'frame')})"
        )

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import ladder_card

        return ladder_card(self)

    def cliffs(self) -> tuple[Cliff, ...]:
        """Return the numbers of keys at which the last key lowers the cost much and the next two little, strongest
        first.

        With ``d(n) = log c(n-1) - log c(n)`` the strength is ``d(n) - max(d(n+1), d(n+2))``: at a cliff a local maximum
        of at least 0.1. Where the cost is only rounding error there are none.
        """
        if len(self.counts) < 3:
            return ()
        first = int(self.counts[0])
        cost = np.full(int(self.counts[-1]) - first + 1, np.nan)
        cost[self.counts - first] = self._log_costs
        drop = -np.diff(cost)
        strength = drop - _max_of_next_two(drop)
        beside = np.concatenate(([-np.inf], np.nan_to_num(strength, nan=-np.inf), [-np.inf]))
        is_peak = (strength > beside[:-2]) & (strength >= beside[2:])
        is_exact = cost[:-1] > self._log_costs.max() + math.log(NOISE)
        indices = np.flatnonzero(is_peak & is_exact & (strength >= MIN_CLIFF_STRENGTH)).tolist()
        cliffs = [Cliff(first + 1 + i, float(strength[i])) for i in indices]
        return tuple(sorted(cliffs, key=lambda cliff: (-cliff.strength, cliff.keys)))

    def knee(self, min_keys: int = 1, max_keys: int | None = None) -> int:
        """Return the number of keys, from ``min_keys`` to ``max_keys``, at which the curve of log costs is farthest
        below its chord."""
        last = int(self.counts[-1]) if max_keys is None else check_int("max_keys", max_keys)
        inside = (self.counts >= check_int("min_keys", min_keys)) & (self.counts <= last)
        if not inside.any():
            raise OptionError(f"no selection of {min_keys} to {max_keys} keys", expected=_format_range(self.counts))
        keys, height = self.counts[inside], self._log_costs[inside]
        along = (keys - keys[0]) / max(1, keys[-1] - keys[0])
        return int(keys[np.argmax(height[0] + along * (height[-1] - height[0]) - height)])


def _max_of_next_two(values: Floats) -> Floats:
    """Return max(v[n+1], v[n+2]); v[n+1] if v[n+2] is missing, NaN at the end and before gaps."""
    after = np.append(values[1:], np.nan)
    return np.where(np.isnan(after), np.nan, np.fmax(after, np.append(values[2:], [np.nan, np.nan])))


def _check_count(value: int, subject: str) -> int:
    """Return ``value`` as an int. Raise ModelError if it is no whole number."""
    try:
        return index(value)
    except TypeError:
        raise ModelError(format_value(value), subject=subject, expected="a whole number") from None


def _find_count(counts: Ints, keys: int) -> int:
    position = int(np.searchsorted(counts, check_int("keys", keys)))
    if position == len(counts) or counts[position] != keys:
        raise OptionError(format_count(keys, "key"), value=keys, expected=_format_range(counts))
    return position


def _format_range(counts: Ints) -> str:
    is_contiguous = len(counts) == counts[-1] - counts[0] + 1
    return f"{counts[0]} to {counts[-1]}" if is_contiguous else f"one of {', '.join(map(str, counts.tolist()))}"
