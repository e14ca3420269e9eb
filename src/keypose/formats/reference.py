"""The artificial first frame: a pose set up by hand that some exporters put before the movement.

The CMU files converted by cgspeed start with a T-pose, from which some joint jumps by more than 70 degrees
to the first captured frame; Xsens writes its N-pose or T-pose there. Such a frame differs from captured
movement in two ways: most joints jump at once and farther than they do in the next half second, and most
joints are turned about one axis only, or not at all, which a tracked joint never is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import Motion, Pose
from keypose.rotations import angle_between

LEAST_JUMP_DEG = 45.0  # by some joint
LEAST_JOINT_JUMP_DEG = 5.0  # by a joint that counts as jumping,
JUMP_RATIO = 1.5  # which is this much more than it does in any later step
LOOK_AHEAD_FRAMES = 60
JUMPING_JOINTS = 0.5  # part of the joints that move at all
PLAIN_JOINTS = 0.75  # part of the joints that move at all


def is_reference_pose(rotations: Floats) -> bool:
    """Whether frame 0 of ``rotations`` (T, J, 4) is a pose set up by hand that the movement jumps away from."""
    if len(rotations) < 3:
        return False
    ahead = rotations[: LOOK_AHEAD_FRAMES + 2]
    steps = np.rad2deg(angle_between(ahead[:-1], ahead[1:]))  # (T - 1, J)
    first, later = steps[0], steps[1:].max(axis=0)
    moving = later > 1e-3
    if first.max() < LEAST_JUMP_DEG or not moving.any():
        return False
    jumping = (first > LEAST_JOINT_JUMP_DEG) & (first > JUMP_RATIO * later)
    plain = (np.abs(rotations[0, :, 1:]) > 1e-6).sum(axis=1) <= 1
    return bool(jumping[moving].mean() >= JUMPING_JOINTS and plain[moving].mean() >= PLAIN_JOINTS)


def frames_to_skip(rotations: Floats, mode: str) -> int:
    """0, or 1 where frame 0 is to be kept apart as the reference pose."""
    if mode not in ("auto", "keep", "drop"):
        raise OptionError(f"reference_pose={mode!r}, expected 'auto', 'keep' or 'drop'")
    if mode == "drop":
        return 1 if len(rotations) > 1 else 0
    return int(mode == "auto" and is_reference_pose(rotations))


def with_pose_apart(motion: Motion, mode: str) -> Motion:
    """A motion of a file that says itself what its reference pose is: only who insists takes frame 0 for one."""
    insists = mode != "auto" and motion.reference_pose is None
    if insists and frames_to_skip(motion.rotations, mode):
        return replace(motion[1:], reference_pose=motion[0])
    return motion


def with_first_pose(motion: Motion, pose: Pose) -> Motion:
    """The motion with ``pose`` as an extra first frame again."""
    return replace(
        motion,
        translations=np.concatenate((pose.translations[None], motion.translations)),
        rotations=np.concatenate((pose.rotations[None], motion.rotations)),
        first_frame=motion.first_frame - 1,
    )
