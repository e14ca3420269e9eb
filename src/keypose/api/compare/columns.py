"""The numbers that references without whole-pose keys store: those of a motion that change, with weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, freeze
from keypose.curves.channels import Channels, build_channels
from keypose.model import Motion
from keypose.rotations import from_euler

MIN_REACH_MM = 30.0  # so that rotations that move no joint are stored too


@dataclass(frozen=True)
class Columns:
    """The numbers of a motion that change, and how many mm each moves the body.

    Translations, and Euler angles in each joint's best order: with quaternions, which take one number more, both
    references do worse. The weight of a rotation is the distance from its joint to the farthest descendant.
    """

    motion: Motion
    channels: Channels
    values: Floats  # (T, D) file units, radians
    moving: Bools  # (C,) mask over all numbers
    weights: Floats  # (D,) mm per unit of each

    @staticmethod
    def build(motion: Motion) -> Columns:
        """Return the columns of a motion, whose figure must have a height."""
        channels = build_channels(motion, "euler")
        every = np.concatenate((channels.translations, channels.rotations), axis=2).reshape(motion.n_frames, -1)
        moving = (every != every[0]).any(axis=0)
        rotation_weights = np.repeat(compute_reaches_mm(motion)[:, None], 3, axis=1)
        weights = np.concatenate((np.full_like(rotation_weights, motion.mm_per_unit), rotation_weights), axis=1).ravel()
        return Columns(motion, channels, every[:, moving], moving, weights[moving])

    @property
    def n_still(self) -> int:
        """Return how many numbers never change: each is stored once."""
        return int((~self.moving).sum())

    def rebuild(self, values: Floats) -> Motion:
        """Return the motion with other numbers (T, D) in place of those that change."""
        every = np.concatenate((self.channels.translations, self.channels.rotations), axis=2)
        every.reshape(len(every), -1)[:, self.moving] = values
        orders = self.channels.rotation_orders or ()
        rotations = [from_euler(every[:, joint, 3:], order) for joint, order in enumerate(orders)]
        translations = np.ascontiguousarray(every[..., :3])
        return replace(self.motion, translations=freeze(translations), rotations=freeze(np.stack(rotations, axis=1)))


def compute_reaches_mm(motion: Motion) -> Floats:
    """Return the distance (J,) from each joint to its farthest descendant joint or end site in the rest pose."""
    skeleton = motion.skeleton
    rest_positions = motion.mm_per_unit * skeleton.rest_positions
    reaches = np.full(skeleton.n_joints, MIN_REACH_MM)
    parents = skeleton.parents.tolist()
    for point, joint in enumerate((*parents, *skeleton.end_joints.tolist())):
        ancestors = []
        while joint >= 0:
            ancestors.append(joint)
            joint = parents[joint]
        if ancestors:
            reaches[ancestors] = np.maximum(
                reaches[ancestors], np.linalg.norm(rest_positions[point] - rest_positions[ancestors], axis=1)
            )
    return reaches
