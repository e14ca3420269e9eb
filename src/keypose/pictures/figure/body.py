"""Body of a figure: solid parts around the points of a skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.kinematics import end_positions, forward
from keypose.model import Motion
from keypose.rotations import rotate

Side = Literal["left", "middle", "right"]
# core: neck and waist, painted behind the larger solids next to them
Kind = Literal["limb", "trunk", "core", "hand", "foot", "head", "nose", "marker"]


@dataclass(frozen=True)
class Part:
    """The hull of balls: one is a ball, two a tapered limb, more a trunk, hand or foot."""

    points: tuple[int, ...]  # indices of points of the body
    radii: tuple[float, ...]  # file units
    side: Side
    kind: Kind


@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """Drawn parts of a skeleton. Points are the joints, the end sites, then points carried by joints."""

    parts: tuple[Part, ...]
    carriers: Ints  # (V,) joints of the carried points
    offsets: Floats  # (V, 3) in the frame of the carrier, file units
    size: float  # approximate height of the figure, file units; never 0
    n_omitted: int  # limbs or markers beyond the maximum

    def points_at(self, motion: Motion, frames: Sequence[int] | Ints) -> Floats:
        """Return world positions (F, P, 3) of all points at ``frames``; only these frames are computed."""
        rows, s = np.asarray(frames, dtype=int), motion.skeleton
        world, rotations = forward(s.parents, motion.translations[rows], motion.rotations[rows])
        if len(s.end_joints):
            world = np.concatenate((world, end_positions(world, rotations, s.end_joints, s.end_offsets)), axis=1)
        return self.add_carried_points(world, rotations)

    def add_carried_points(self, world: Floats, rotations: Floats) -> Floats:
        """Return all points (F, P, 3), given ``world`` positions of joints and end sites and joint rotations."""
        if not len(self.carriers):
            return world
        carried_points = world[:, self.carriers] + rotate(rotations[:, self.carriers], self.offsets)
        return np.concatenate((world, carried_points), axis=1)
