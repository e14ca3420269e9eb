"""The type Balance: measurements of a motion's balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Frozen, Ints, freeze
from keypose.errors import OptionError
from keypose.kinematics import Up, up_axis
from keypose.validation import check_int


@dataclass(frozen=True, eq=False)
class Balance(Frozen):
    """The centre of mass and the support of the feet, per frame. Millimetres are on a figure of 1.7 m.

    Margins are distances on the ground to the border of the support: positive inside, negative outside, NaN in flight.
    The extrapolated centre of mass (Hof 2005) is the centre of mass ahead by its velocity over sqrt(g / leg length): a
    figure that moves can be stopped while that point is over its feet.
    """

    name: str
    fps: float
    up: Up
    centre_of_mass: Floats  # (T, 3) in the world, file units
    velocity: Floats  # (T, 3) of it, file units per second
    extrapolated_centre_of_mass: Floats  # (T, 3)
    margin_mm: Floats  # (T,) of the centre of mass
    extrapolated_margin_mm: Floats  # (T,)
    supported: Bools  # (T,) whether any foot stands
    hulls: Floats  # (T, N, 2) corners of the support on the ground axes; ``support`` returns them in the world
    n_corners: Ints  # (T,) number of valid corners of each hull
    ground_axes: tuple[int, int]  # indices of the two horizontal axes
    floor: float  # height of the ground, file units

    def __post_init__(self) -> None:
        for name in ("centre_of_mass", "velocity", "extrapolated_centre_of_mass", "margin_mm",
                     "extrapolated_margin_mm", "supported", "hulls", "n_corners"):  # fmt: skip
            self._set_field(name, freeze(getattr(self, name)))

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.centre_of_mass)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        n_inside = np.count_nonzero(self.margin_mm[self.supported] >= 0)
        return (f"Balance({self.name!r}, {self.n_frames} frames, {np.count_nonzero(self.supported)} supported, "
                f"{n_inside} with the centre of mass over the feet)")  # fmt: skip

    def support(self, frame: int) -> Floats:
        """Return the corners (K, 3) of the support polygon in one frame, in the world; K is 0 in flight."""
        at = check_int("frame", frame, min_value=0)
        if at >= self.n_frames:
            raise OptionError(f"frame={at}, expected 0 to {self.n_frames - 1}")
        count = int(self.n_corners[at])
        polygon = np.empty((count, 3))
        polygon[:, list(self.ground_axes)] = self.hulls[at, :count]
        axis, sign = up_axis(self.up)
        polygon[:, axis] = sign * self.floor
        return freeze(polygon)
