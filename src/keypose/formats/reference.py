"""The artificial first frame: a T-pose that some exporters put before the movement.

The CMU files converted by cgspeed start with one: from it to the first captured frame at least one
joint jumps by 73 to 123 degrees, where real movement stays under about 20 degrees a frame at 120 fps.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.rotations import angle_between

LEAST_JUMP_DEG = 45.0  # some joint turns more than this between frame 0 and 1 ...
TYPICAL_JUMP_RATIO = 3.0  # ... and by this much more than it ever does in the frames that follow,
LOOK_AHEAD_FRAMES = 60
REST_JOINTS = 0.5  # and at least this part of the joints stands at rest or on whole degrees of one axis


def is_reference_pose(rotations: Floats) -> bool:
    """Whether frame 0 of ``rotations`` (T, J, 4) is a pose set up by hand that the movement jumps away from."""
    if len(rotations) < 3:
        return False
    ahead = rotations[: LOOK_AHEAD_FRAMES + 2]
    steps = np.rad2deg(angle_between(ahead[:-1], ahead[1:]))  # (T - 1, J)
    jump = steps[0].max()
    if jump < LEAST_JUMP_DEG or jump < TYPICAL_JUMP_RATIO * steps[1:].max():
        return False
    turned_about = np.abs(rotations[0, :, 1:]) > 1e-6
    return float(np.mean(turned_about.sum(axis=1) == 0)) >= REST_JOINTS


def frames_to_skip(rotations: Floats, mode: str) -> int:
    """0, or 1 where frame 0 is to be kept apart as the reference pose."""
    if mode not in ("auto", "keep", "drop"):
        raise OptionError(f"reference_pose={mode!r}, expected 'auto', 'keep' or 'drop'")
    if mode == "drop":
        return 1 if len(rotations) > 1 else 0
    return int(mode == "auto" and is_reference_pose(rotations))
