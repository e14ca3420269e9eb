"""The pose in which the figure of a glTF file is bound to its joints, and in which its nodes rest."""

from __future__ import annotations

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY

SAMPLED_FRAMES = 64
SAME_PLACE_OF_HEIGHT = 1e-4  # a joint this near to its offset is meant to be there


def bind_pose(motion: Motion) -> Pose:
    """The reference pose if there is one, else the rest pose if that is one upright figure, else frame 0."""
    s = motion.skeleton
    if motion.reference_pose is not None:
        return motion.reference_pose
    if len(s.roots) > 1 or not kinematics.is_upright(s.rest_positions, motion.up):
        return Pose(motion.translations[0], motion.rotations[0])
    first = Pose(motion.translations[0], motion.rotations[0])
    sampled = motion.translations[:: max(1, motion.n_frames // SAMPLED_FRAMES)]
    usual = np.median(sampled, axis=0)
    # A file may place a joint by its channels, away from its offset; the figure's bones go where the joints are.
    away = np.abs(usual - s.offsets).max(axis=1, keepdims=True) > SAME_PLACE_OF_HEIGHT * motion.height
    translations = np.where(away, usual, s.offsets)
    translations[0] = first.translations[0]
    rest = Pose(translations, np.tile(IDENTITY, (s.n_joints, 1)))
    # It stands where frame 0 stands, and as high.
    axis, sign = kinematics.up_axis(motion.up)
    lift = _lowest(s, first, motion.up) - _lowest(s, rest, motion.up)
    translations[0, axis] += sign * lift
    return Pose(translations, rest.rotations)


def placed(skeleton: Skeleton, pose: Pose) -> tuple[Floats, Floats, Floats]:
    """World positions (J, 3), rotations (J, 4) and end sites (E, 3) of one pose."""
    world, turns = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    ends = kinematics.end_positions(world, turns, skeleton.end_joints, skeleton.end_offsets)
    return world[0], turns[0], ends[0]


def _lowest(skeleton: Skeleton, pose: Pose, up: kinematics.Up) -> float:
    world, _, ends = placed(skeleton, pose)
    return float(kinematics.heights_above(np.concatenate((world, ends)), up).min())
