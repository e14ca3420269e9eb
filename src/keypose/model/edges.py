"""Edge costs: what it costs to leave out the frames between two keys."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

import numpy as np

from keypose.arrays import Floats, Frozen, frozen
from keypose.errors import ModelError, OptionError


@dataclass(frozen=True, eq=False)
class EdgeCosts(Frozen):
    """The cost of every pair of neighbouring keys that are at most ``greatest_gap`` frames apart.

    ``costs[i, g - 1]`` is that of keys i and i + g; what would reach over the last frame is never looked at. Infinite
    where the two must not be neighbours.
    """

    n_frames: int
    greatest_gap: int
    costs: Floats  # (n_frames, greatest_gap) never negative

    def __post_init__(self) -> None:
        for name, least in (("n_frames", 1), ("greatest_gap", 1)):
            try:
                self._put(name, index(getattr(self, name)))
            except TypeError:
                raise ModelError(f"edge costs: {name} {getattr(self, name)!r}, expected a whole number") from None
            if getattr(self, name) < least:
                raise ModelError(f"edge costs: {name} {getattr(self, name)}, expected at least {least}")
        try:
            costs = np.asarray(self.costs, np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(f"edge costs: not numbers ({error})") from None
        if costs.shape != (self.n_frames, self.greatest_gap):
            expected = (self.n_frames, self.greatest_gap)
            raise ModelError(f"edge costs: shape {costs.shape}, expected {expected}")
        if not (costs >= 0).all():
            where = tuple(int(i) for i in np.argwhere(~(costs >= 0))[0])
            raise ModelError(f"edge costs: {costs[where]:g} at index {where}, expected numbers of at least 0")
        self._put("costs", frozen(costs))

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        return f"EdgeCosts({self.n_frames} frames, gaps up to {self.greatest_gap})"

    def __getitem__(self, frames: slice) -> EdgeCosts:
        """Consecutive frames, ``edges[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("edge costs are sliced by consecutive frames, edges[100:400]")
        part = self.costs[frames]
        return EdgeCosts(len(part), self.greatest_gap, part)
