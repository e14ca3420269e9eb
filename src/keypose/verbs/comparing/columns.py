"""What ways that have no whole poses as keys store: the numbers of a motion that change, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, give_away
from keypose.inbetween.channels import Channels, channels_of
from keypose.model import Motion
from keypose.rotations import from_euler

LEAST_REACH_MM = 30.0  # also turns that move no joint shall be kept


@dataclass(frozen=True)
class Columns:
    """The numbers of a motion that change, and how many mm each moves the body by.

    Places, and Euler angles in each joint's best order: with quaternions, a number more for each turn, both references
    do worse. A turn weighs by how far it reaches: from its joint to the farthest point that hangs on it.
    """

    motion: Motion
    channels: Channels
    values: Floats  # (T, D) file units, radians
    moving: Bools  # (C,) which of all numbers these are
    weights: Floats  # (D,) mm per unit of each

    @staticmethod
    def of(motion: Motion) -> Columns:
        """The columns of a motion whose figure has a height."""
        channels = channels_of(motion, "euler")
        every = np.concatenate((channels.translations, channels.rotations), axis=2).reshape(motion.n_frames, -1)
        moving = (every != every[0]).any(axis=0)
        turning = np.repeat(reaches_mm(motion)[:, None], 3, axis=1)
        weights = np.concatenate((np.full_like(turning, motion.mm_per_unit), turning), axis=1).ravel()
        return Columns(motion, channels, every[:, moving], moving, weights[moving])

    @property
    def still(self) -> int:
        """Numbers that never change: each is stored once."""
        return int((~self.moving).sum())

    def rebuilt(self, values: Floats) -> Motion:
        """The motion with other numbers (T, D) in place of those that change."""
        every = np.concatenate((self.channels.translations, self.channels.rotations), axis=2)
        every.reshape(len(every), -1)[:, self.moving] = values
        orders = self.channels.rotation_orders or ()
        turns = [from_euler(every[:, joint, 3:], order) for joint, order in enumerate(orders)]
        places = np.ascontiguousarray(every[..., :3])
        return replace(self.motion, translations=give_away(places), rotations=give_away(np.stack(turns, axis=1)))


def reaches_mm(motion: Motion) -> Floats:
    """(J,) from each joint to the farthest joint or end site below it at rest."""
    skeleton = motion.skeleton
    rest = motion.mm_per_unit * skeleton.rest_positions
    far = np.full(skeleton.n_joints, LEAST_REACH_MM)
    parents = skeleton.parents.tolist()
    for point, joint in enumerate((*parents, *skeleton.end_joints.tolist())):
        above = []
        while joint >= 0:
            above.append(joint)
            joint = parents[joint]
        if above:
            far[above] = np.maximum(far[above], np.linalg.norm(rest[point] - rest[above], axis=1))
    return far
