"""Costs of leaving out the frames between two keys."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

import numpy as np

from keypose.arrays import Floats, Frozen, freeze_or_copy
from keypose.errors import ModelError, OptionError


@dataclass(frozen=True, eq=False)
class EdgeCosts(Frozen):
    """The cost of every pair of neighbouring keys that are at most ``max_gap_frames`` apart.

    ``costs[i, g - 1]`` is that of keys i and i + g; entries beyond the last frame are not used. Infinite where the two
    must not be neighbours.
    """

    n_frames: int
    max_gap_frames: int
    costs: Floats  # (n_frames, max_gap_frames) at least 0

    def __post_init__(self) -> None:
        for name, min_value in (("n_frames", 1), ("max_gap_frames", 1)):
            try:
                self._set_field(name, index(getattr(self, name)))
            except TypeError:
                raise ModelError(f"edge costs: {name} {getattr(self, name)!r}, expected a whole number") from None
            if getattr(self, name) < min_value:
                raise ModelError(f"edge costs: {name} {getattr(self, name)}, expected at least {min_value}")
        try:
            costs = np.asarray(self.costs, np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(f"edge costs: not numbers ({error})") from None
        if costs.shape != (self.n_frames, self.max_gap_frames):
            expected = (self.n_frames, self.max_gap_frames)
            raise ModelError(f"edge costs: shape {costs.shape}, expected {expected}")
        if not (costs >= 0).all():
            at = tuple(int(i) for i in np.argwhere(~(costs >= 0))[0])
            raise ModelError(f"edge costs: {costs[at]:g} at index {at}, expected numbers of at least 0")
        self._set_field("costs", freeze_or_copy(costs))

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        return f"EdgeCosts({self.n_frames} frames, gaps up to {self.max_gap_frames})"

    def __getitem__(self, frames: slice) -> EdgeCosts:
        """Return the costs of consecutive frames, ``edges[100:400]``."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise OptionError("edge costs are sliced by consecutive frames, edges[100:400]")
        costs = self.costs[frames]
        return EdgeCosts(len(costs), self.max_gap_frames, costs)
