"""The direction in which a figure looks: a point in front of its face that moves with the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, freeze_floats
from keypose.kinematics import end_positions
from keypose.model import Motion
from keypose.pictures.figure.human import gaze_direction
from keypose.pictures.figure.sample import sample_motion

DISTANCE_HEIGHTS = 0.1  # from the head joint to the point, in heights of the figure


@dataclass(frozen=True, eq=False)
class Face(Frozen):
    """A point straight ahead of the head joint, in the direction in which the figure looks."""

    head: int  # index of the joint
    offset: Floats  # (3,) in the frame of the joint, file units

    def __post_init__(self) -> None:
        self._set_field("offset", freeze_floats(self.offset, (3,), "offset of the face"))

    def world_positions(self, motion: Motion) -> Floats:
        """Return the point (T, 1, 3) in the world of ``motion``, which has the same skeleton; file units."""
        positions, rotations = motion.world_positions(), motion.world_rotations()
        return end_positions(positions, rotations, np.array([self.head], np.int32), self.offset[None])


def find_face(motion: Motion) -> Face | None:
    """Return the face of the figure of ``motion``; None if no head or no direction is recognised."""
    sample = sample_motion(motion)
    ahead = gaze_direction(sample)
    return None if ahead is None else Face(sample.joints["head"], DISTANCE_HEIGHTS * sample.size * ahead)
