"""What a method answers: the chosen frames, for one number of keys or for every one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Frozen, Ints, frozen, frozen_ints, give_away
from keypose.errors import ModelError, OptionError
from keypose.options import whole

LEAST_CLIFF = 0.1  # how much more a cliff's key buys than the next two, as a difference of logarithms
STEEPER = 1.25  # and how much steeper than there a power law through it may not be
NOISE = 1e-6  # of the greatest cost: below it a fall means nothing
NOTHING = 1e-9  # of the greatest cost: what a cost of 0 counts as, at most, where logarithms are taken


@dataclass(frozen=True, eq=False)
class Selection(Frozen):
    """Frames that a method chose as keys, at least one, increasing."""

    frames: Ints  # (K,) 0-based, increasing
    n_frames: int
    method: str
    order: Ints | None = None  # (K,) the same frames, most important first, where the method ranks them

    def __post_init__(self) -> None:
        frames = frozen_ints(self.frames, (None,), "selection")
        if not len(frames) or frames[0] < 0 or frames[-1] >= self.n_frames or (np.diff(frames) <= 0).any():
            raise ModelError(f"selection: frames {frames.tolist()[:12]}, expected increasing ones "
                             f"from 0 to {self.n_frames - 1}, at least one")  # fmt: skip
        self._put("frames", frames)
        if self.order is not None:
            order = frozen_ints(self.order, (len(frames),), "selection order")
            if not np.array_equal(np.sort(order), frames):
                raise ModelError("selection: the order must hold the very frames of the selection")
            self._put("order", order)

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[int]:
        return iter(self.frames.tolist())

    def __repr__(self) -> str:
        shown = " ".join(map(str, self.frames[:12].tolist())) + (" ..." if len(self) > 12 else "")
        return f"Selection({self.method}: {len(self)} of {self.n_frames} frames: {shown})"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import selection_card

        return selection_card(self)


class Cliff(NamedTuple):
    """A number of keys whose last key buys much, and the next ones little."""

    keys: int
    strength: float  # how much more, as a difference of logarithms of the cost


@dataclass(frozen=True, eq=False)
class Costs(Frozen, Mapping[int, float]):
    """What is left undone with each number of keys: ``costs[12]``."""

    counts: Ints  # (C,) increasing
    amounts: Floats  # (C,) never negative

    def __getitem__(self, keys: int) -> float:
        return float(self.amounts[_place(self.counts, keys)])

    def __repr__(self) -> str:
        shown = [f"{keys}: {cost:.4g}" for keys, cost in zip(self.counts[:4], self.amounts[:4], strict=True)]
        return f"Costs({{{', '.join(shown)}{', ...' if len(self) > 4 else ''}}})"

    def __contains__(self, keys: object) -> bool:
        return isinstance(keys, int | np.integer) and bool((self.counts == keys).any())

    def get(self, keys: int, default: Any = None) -> Any:
        """The cost of so many keys, or ``default`` where there is no such selection."""
        return float(self.amounts[self.counts == keys][0]) if keys in self else default

    def __iter__(self) -> Iterator[int]:
        return iter(self.counts.tolist())

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class Ladder(Frozen):
    """A selection for every number of keys that the method can give, and what each costs.

    Costs are what the method itself makes small, in the units of its features: comparable along one ladder,
    not between methods. Made by ``Ladder.nested`` or ``Ladder.of_paths``.
    """

    method: str
    n_frames: int
    counts: Ints  # (C,) increasing numbers of keys
    frames: Ints  # nested: (counts[-1],) by importance; else the selections one after another
    cost_values: Floats  # (C,)
    is_nested: bool
    natural: int | None = None  # the method's own number of keys, where it has one

    @staticmethod
    def nested(
        method: str,
        n_frames: int,
        order: ArrayLike,
        costs: ArrayLike,
        *,
        least: int = 1,
        natural: int | None = None,
    ) -> Ladder:
        """Keys for n are the first n of ``order``; ``costs[i]`` is that of ``least + i`` keys."""
        frames = frozen_ints(order, (None,), "order of keys")
        counts = np.arange(least, len(frames) + 1, dtype=np.int32)
        return Ladder(method, n_frames, counts, frames, np.asarray(costs, float), True, natural)

    @staticmethod
    def of_paths(method: str, n_frames: int, counts: ArrayLike, frames: ArrayLike, costs: ArrayLike) -> Ladder:
        """``frames`` holds the keys for ``counts[0]``, then those for ``counts[1]``, ..."""
        return Ladder(method, n_frames, np.asarray(counts), np.asarray(frames), np.asarray(costs, float), False)

    def __post_init__(self) -> None:
        counts = frozen_ints(self.counts, (None,), "ladder counts")
        if not len(counts) or counts[0] < 1 or (np.diff(counts) <= 0).any():
            raise ModelError("ladder: counts must increase from at least 1")
        self._put("counts", counts)
        length = int(counts[-1] if self.is_nested else counts.sum())
        self._put("frames", frozen_ints(self.frames, (length,), "ladder frames"))
        costs = frozen(np.asarray(self.cost_values, np.float64))
        if costs.shape != counts.shape or not np.isfinite(costs).all() or costs.min() < 0:
            raise ModelError("ladder: expected a finite cost of at least 0 for every count")
        self._put("cost_values", costs)
        if self.natural is not None and self.natural not in counts:
            raise ModelError(f"ladder: {self.natural} keys of its own, expected one of its counts")

    def at(self, keys: int) -> Selection:
        """The selection with exactly so many keys; outside ``counts`` an error that names their range."""
        place = _place(self.counts, keys)
        if self.is_nested:
            order = self.frames[:keys]
            return Selection(give_away(np.sort(order)), self.n_frames, self.method, order)
        start = int(self.counts[:place].sum())
        return Selection(self.frames[start : start + keys], self.n_frames, self.method)

    @cached_property
    def costs(self) -> Costs:
        """The cost of each number of keys, ``ladder.costs[12]``, in units of the features."""
        return Costs(self.counts, self.cost_values)

    @cached_property
    def _log_costs(self) -> Floats:
        some = self.cost_values[self.cost_values > 0]
        least = max(min(NOTHING * some.max(), some.min()), np.finfo(float).tiny) if len(some) else 1.0
        logarithms: Floats = np.log(np.maximum(self.cost_values, least))
        return logarithms

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Selection]:
        return (self.at(keys) for keys in self.counts.tolist())

    def __repr__(self) -> str:
        return f"Ladder({self.method}: {self.counts[0]} to {self.counts[-1]} keys of {self.n_frames} frames)"

    def _repr_html_(self) -> str:
        from keypose.pictures.cards import ladder_card

        return ladder_card(self)

    def cliffs(self) -> tuple[Cliff, ...]:
        """Numbers of keys worth stopping at, strongest first: that key buys much, the two after it little.

        With ``d(n) = log c(n-1) - log c(n)`` the strength is ``d(n) - max(d(n+1), d(n+2))``: at a cliff a local
        maximum of at least 0.1. A cost that falls like a power of n has its steepest place at its start; so a cliff
        must also be steeper on the scale of log n than what follows, which no power law is anywhere. Cliffs at more
        than half of the frames, and those from a cost that is rounding already, do not count.
        """
        if len(self.counts) < 3:
            return ()
        first = int(self.counts[0])
        cost = np.full(int(self.counts[-1]) - first + 1, np.nan)
        cost[self.counts - first] = self._log_costs
        keys = np.arange(first + 1, first + len(cost))
        drop = -np.diff(cost)
        slope = drop / np.log(keys / (keys - 1.0))
        strength = drop - _greatest_of_next_two(drop)
        steeper = slope >= STEEPER * _greatest_of_next_two(slope)
        beside = np.concatenate(([-np.inf], np.nan_to_num(strength, nan=-np.inf), [-np.inf]))
        highest = (strength > beside[:-2]) & (strength >= beside[2:])
        some = (keys <= self.n_frames / 2) & (cost[:-1] > self._log_costs.max() + math.log(NOISE))
        found = np.flatnonzero(highest & steeper & some & (strength >= LEAST_CLIFF))
        cliffs = [Cliff(int(keys[i]), float(strength[i])) for i in found]
        return tuple(sorted(cliffs, key=lambda cliff: (-cliff.strength, cliff.keys)))

    def knee(self, least: int = 1, most: int | None = None) -> int:
        """The number of keys, from ``least`` to ``most``, farthest below the chord of the logarithmic cost curve."""
        last = int(self.counts[-1]) if most is None else whole("most", most)
        inside = (self.counts >= whole("least", least)) & (self.counts <= last)
        if not inside.any():
            raise OptionError(f"no selection of {least} to {most} keys, expected {_range(self.counts)}")
        keys, height = self.counts[inside], self._log_costs[inside]
        along = (keys - keys[0]) / max(1, keys[-1] - keys[0])
        return int(keys[np.argmax(height[0] + along * (height[-1] - height[0]) - height)])


def _greatest_of_next_two(values: Floats) -> Floats:
    """max(v[n+1], v[n+2]); where only one is there that one, NaN at the end and beside gaps."""
    after = np.append(values[1:], np.nan)
    return np.where(np.isnan(after), np.nan, np.fmax(after, np.append(values[2:], [np.nan, np.nan])))


def _place(counts: Ints, keys: int) -> int:
    place = int(np.searchsorted(counts, whole("keys", keys)))
    if place == len(counts) or counts[place] != keys:
        raise OptionError(f"{keys} keys, expected {_range(counts)}")
    return place


def _range(counts: Ints) -> str:
    whole = len(counts) == counts[-1] - counts[0] + 1
    return f"{counts[0]} to {counts[-1]}" if whole else f"one of {', '.join(map(str, counts.tolist()))}"
