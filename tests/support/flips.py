"""Motions with flips, as of a faulty capture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import keypose as kp
from keypose.rotations import multiply


def turn_over(motion: kp.Motion, joint: str | int, *spans: tuple[int, int]) -> kp.Motion:
    """Return the motion with a joint turned over by 180 degrees in some spans of frames, start to stop."""
    rotations = motion.rotations.copy()
    index = motion.joint(joint) if isinstance(joint, str) else joint
    for start, stop in spans:
        rotations[start:stop, index] = multiply(rotations[start:stop, index], np.array([0.0, 1.0, 0.0, 0.0]))
    return replace(motion, rotations=rotations)
