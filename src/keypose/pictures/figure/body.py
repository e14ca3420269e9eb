"""The body: solid parts around the points of a skeleton."""

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
# core: neck and waist, between larger solids and painted behind them
Kind = Literal["limb", "trunk", "core", "hand", "foot", "head", "nose", "marker"]


@dataclass(frozen=True)
class Part:
    """The hull of balls: one is a ball, two a tapered limb, more a trunk, a hand or a foot."""

    points: tuple[int, ...]  # of the body
    radii: tuple[float, ...]  # file units
    side: Side
    kind: Kind


@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """What is drawn of a skeleton. Its points are the joints, the end sites, then points that joints carry along."""

    parts: tuple[Part, ...]
    carriers: Ints  # (V,) joints that carry the points beyond joints and end sites
    offsets: Floats  # (V, 3) where, in the frame of that joint, file units
    size: float  # about the height of the figure, file units; never 0
    left_out: int  # limbs or markers beyond what a picture can show

    def points_at(self, motion: Motion, frames: Sequence[int] | Ints) -> Floats:
        """World positions (F, P, 3) of all points at ``frames``; only these frames are computed."""
        rows, s = np.asarray(frames, dtype=int), motion.skeleton
        world, turns = forward(s.parents, motion.translations[rows], motion.rotations[rows])
        if len(s.end_joints):
            world = np.concatenate((world, end_positions(world, turns, s.end_joints, s.end_offsets)), axis=1)
        return self.with_carried(world, turns)

    def with_carried(self, world: Floats, turns: Floats) -> Floats:
        """All points (F, P, 3), where those of joints and end sites ``world`` and how joints are turned are known."""
        if not len(self.carriers):
            return world
        carried = world[:, self.carriers] + rotate(turns[:, self.carriers], self.offsets)
        return np.concatenate((world, carried), axis=1)
