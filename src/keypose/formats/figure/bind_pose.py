"""The bind pose of the figure in glTF, USD and Blender files, which is also the rest pose of its joints."""

from __future__ import annotations

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY

SAMPLED_FRAMES = 64
SAME_POSITION_OF_HEIGHT = 1e-4  # a joint nearer to its offset counts as being there


def bind_pose(motion: Motion) -> Pose:
    """Return the reference pose if there is one, else the rest pose if that is one upright figure, else frame 0."""
    s = motion.skeleton
    if motion.reference_pose is not None:
        return motion.reference_pose
    if len(s.roots) > 1 or not kinematics.is_upright(s.rest_positions, motion.up):
        return Pose(motion.translations[0], motion.rotations[0])
    first = Pose(motion.translations[0], motion.rotations[0])
    sampled = motion.translations[:: max(1, motion.n_frames // SAMPLED_FRAMES)]
    median = np.median(sampled, axis=0)
    # Position channels may place a joint away from its offset; the figure's bones go where the joints are.
    is_displaced = np.abs(median - s.offsets).max(axis=1, keepdims=True) > SAME_POSITION_OF_HEIGHT * motion.height
    translations = np.where(is_displaced, median, s.offsets)
    translations[0] = first.translations[0]
    rest = Pose(translations, np.tile(IDENTITY, (s.n_joints, 1)))
    # It stands where frame 0 stands, at the same height.
    axis, sign = kinematics.up_axis(motion.up)
    lift = _min_height(s, first, motion.up) - _min_height(s, rest, motion.up)
    translations[0, axis] += sign * lift
    return Pose(translations, rest.rotations)


def world_pose(skeleton: Skeleton, pose: Pose) -> tuple[Floats, Floats, Floats]:
    """Return world positions (J, 3), rotations (J, 4) and end sites (E, 3) of one pose."""
    world, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    ends = kinematics.end_positions(world, rotations, skeleton.end_joints, skeleton.end_offsets)
    return world[0], rotations[0], ends[0]


def _min_height(skeleton: Skeleton, pose: Pose, up: kinematics.Up) -> float:
    world, _, ends = world_pose(skeleton, pose)
    return float(kinematics.heights_above(np.concatenate((world, ends)), up).min())
