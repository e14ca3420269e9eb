"""Where a figure looks: a point before its face, which its head carries along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, frozen_floats
from keypose.kinematics import end_positions
from keypose.model import Motion
from keypose.pictures.figure.human import looking
from keypose.pictures.figure.sample import sample_of

AHEAD = 0.1  # heights of the figure from the head's joint to the point


@dataclass(frozen=True, eq=False)
class Face(Frozen):
    """A point straight ahead of the joint of a head, in the direction in which it looks."""

    head: int  # the joint
    offset: Floats  # (3,) in the frame of the joint, file units

    def __post_init__(self) -> None:
        self._put("offset", frozen_floats(self.offset, (3,), "offset of the face"))

    def places(self, motion: Motion) -> Floats:
        """Where it is (T, 1, 3) in the world of ``motion``, which has the same skeleton; file units."""
        positions, turns = motion.world_positions(), motion.world_rotations()
        return end_positions(positions, turns, np.array([self.head], np.int32), self.offset[None])


def face_of(motion: Motion) -> Face | None:
    """The face of the figure of ``motion``; None where no head is recognised, or not where it looks."""
    some = sample_of(motion)
    ahead = looking(some)
    return None if ahead is None else Face(some.joints["head"], AHEAD * some.size * ahead)
