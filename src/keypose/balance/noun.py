"""The noun: what was measured of a motion's balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Frozen, Ints, give_away
from keypose.errors import OptionError
from keypose.kinematics import Up, up_axis
from keypose.options import whole


@dataclass(frozen=True, eq=False)
class Balance(Frozen):
    """Where a figure's mass is, and where its feet hold it. Millimetres are those of a figure of 1.7 m.

    Margins are distances on the ground to the border of the support: positive inside, negative outside, NaN in flight.
    The extrapolated centre of mass (Hof 2005) is the centre of mass ahead by its velocity over sqrt(g / leg length): a
    figure that moves can be stopped while that point is over its feet.
    """

    name: str
    fps: float
    up: Up
    centre_of_mass: Floats  # (T, 3) in the world, file units
    velocity: Floats  # (T, 3) of it, file units per second
    extrapolated: Floats  # (T, 3)
    margin_mm: Floats  # (T,) of the centre of mass
    extrapolated_margin_mm: Floats  # (T,)
    supported: Bools  # (T,) whether any foot stands
    hulls: Floats  # (T, N, 2) corners of the support on the two axes of the ground; ``support`` gives them in the world
    corners: Ints  # (T,) how many of them count
    level: tuple[int, int]  # these two axes
    floor: float  # height of the ground, file units

    def __post_init__(self) -> None:
        for name in ("centre_of_mass", "velocity", "extrapolated", "margin_mm", "extrapolated_margin_mm", "supported",
                     "hulls", "corners"):  # fmt: skip
            self._put(name, give_away(getattr(self, name)))

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.centre_of_mass)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        held = f"{np.count_nonzero(self.supported)} supported"
        inside = np.count_nonzero(self.margin_mm[self.supported] >= 0)
        return f"Balance({self.name!r}, {self.n_frames} frames, {held}, {inside} with the centre of mass over the feet)"

    def support(self, frame: int) -> Floats:
        """Corners (K, 3) of the ground that the feet hold in one frame, in the world; none in flight."""
        at = whole("frame", frame, least=0)
        if at >= self.n_frames:
            raise OptionError(f"frame={at}, expected 0 to {self.n_frames - 1}")
        count = int(self.corners[at])
        polygon = np.empty((count, 3))
        polygon[:, list(self.level)] = self.hulls[at, :count]
        axis, sign = up_axis(self.up)
        polygon[:, axis] = sign * self.floor
        return give_away(polygon)
