"""Reference poses: an artificial first frame (T-pose, N-pose) that some exporters write before the movement.

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

MIN_JUMP_DEG = 45.0  # of the joint that jumps most
MIN_JOINT_JUMP_DEG = 5.0  # of each joint that counts as jumping
JUMP_RATIO = 1.5  # the jump of such a joint over its largest later step
LOOK_AHEAD_FRAMES = 60
MIN_JUMPING_FRACTION = 0.5  # of the joints that move at all
MIN_SINGLE_AXIS_FRACTION = 0.75  # of the joints that move at all


def is_reference_pose(rotations: Floats) -> bool:
    """Return whether frame 0 of ``rotations`` (T, J, 4) is an artificial pose that the movement jumps away from."""
    if len(rotations) < 3:
        return False
    ahead = rotations[: LOOK_AHEAD_FRAMES + 2]
    steps = np.rad2deg(angle_between(ahead[:-1], ahead[1:]))  # (T - 1, J)
    first, later = steps[0], steps[1:].max(axis=0)
    moves = later > 1e-3
    if first.max() < MIN_JUMP_DEG or not moves.any():
        return False
    jumps = (first > MIN_JOINT_JUMP_DEG) & (first > JUMP_RATIO * later)
    is_single_axis = (np.abs(rotations[0, :, 1:]) > 1e-6).sum(axis=1) <= 1
    return bool(
        jumps[moves].mean() >= MIN_JUMPING_FRACTION and is_single_axis[moves].mean() >= MIN_SINGLE_AXIS_FRACTION
    )


def frames_to_skip(rotations: Floats, mode: str) -> int:
    """Return 1 if frame 0 is the reference pose and no frame of the movement, else 0; ``mode`` as in ``load``."""
    if mode not in ("auto", "keep", "drop"):
        raise OptionError(f"reference_pose={mode!r}, expected 'auto', 'keep' or 'drop'")
    if mode == "drop":
        return 1 if len(rotations) > 1 else 0
    return int(mode == "auto" and is_reference_pose(rotations))


def split_reference_pose(motion: Motion, mode: str) -> Motion:
    """Split frame 0 off as the reference pose if ``mode`` demands it and the file stated no reference pose."""
    is_requested = mode != "auto" and motion.reference_pose is None
    if is_requested and frames_to_skip(motion.rotations, mode):
        return replace(motion[1:], reference_pose=motion[0])
    return motion


def prepend_pose(motion: Motion, pose: Pose) -> Motion:
    """Return the motion with ``pose`` as an extra first frame."""
    return replace(
        motion,
        translations=np.concatenate((pose.translations[None], motion.translations)),
        rotations=np.concatenate((pose.rotations[None], motion.rotations)),
        first_frame=motion.first_frame - 1,
    )
