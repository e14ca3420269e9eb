"""Which way is up: found for files that do not say, turned for formats that have only one way."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import multiply, rotate

_HALF = math.sqrt(0.5)

# The turn (wxyz) that brings each up axis to Y.
UPRIGHT: dict[Up, tuple[float, float, float, float]] = {
    "X": (_HALF, 0.0, 0.0, _HALF),
    "Y": (1.0, 0.0, 0.0, 0.0),
    "Z": (_HALF, -_HALF, 0.0, 0.0),
    "-X": (_HALF, 0.0, 0.0, -_HALF),
    "-Y": (0.0, 1.0, 0.0, 0.0),
    "-Z": (_HALF, _HALF, 0.0, 0.0),
}

SAMPLED_FRAMES = 64
CLEAR_REST = 0.6  # a rest pose stands if its head is this part of its greatest extent above its feet
# The lowest joint of a figure that stands on a floor at 0, over the distance from feet to head: an ankle or
# toe is a little above the sole.
FLOOR_AT_ZERO = (-0.05, 0.12)


@np.errstate(over="ignore", invalid="ignore")  # numbers beyond all measure: the Motion will refuse them
def find_up(skeleton: Skeleton, translations: Floats, rotations: Floats, default: Up = "Y") -> Up:
    """The axis along which the head is over the feet in most frames; ``default`` where that cannot be told.

    Someone who swims or lies has the head beside the feet. So where the rest pose stands along another
    axis than the movement, the movement is believed only if it stands on a floor at 0 (an exporter then
    turned the root, not the offsets), else the rest pose.
    """
    ends = skeleton.anatomy.vertical_pair()
    if ends is None:
        return default
    low, high = (np.array(joints) for joints in ends)
    step = max(1, len(translations) // SAMPLED_FRAMES)
    world, _ = kinematics.forward(skeleton.parents, translations[::step], rotations[::step])
    moving = kinematics.dominant_up(world[:, low].mean(axis=1), world[:, high].mean(axis=1))
    rest = skeleton.rest_positions
    size = np.linalg.norm(rest[high].mean(axis=0) - rest[low].mean(axis=0))
    clear = size >= CLEAR_REST * np.ptp(rest, axis=0).max()
    drawn = kinematics.dominant_up(rest[None, low].mean(axis=1), rest[None, high].mean(axis=1)) if clear else None
    if moving is None or drawn is None:
        return moving or drawn or default
    if moving == drawn:
        return moving
    lowest = kinematics.heights_above(world, moving).min(axis=1) / size
    least, greatest = FLOOR_AT_ZERO
    on_floor = least <= np.percentile(lowest, 5.0) and np.median(lowest) <= greatest
    return moving if on_floor else drawn


def turned_upright(motion: Motion) -> Motion:
    """The same movement with Y up. Roots that cannot turn (markers) are only moved."""
    upright = np.array(UPRIGHT[motion.up])
    s = motion.skeleton
    roots = np.array(s.roots)
    turning = np.array([j for j in s.roots if any(c.endswith("rotation") for c in s.channels[j])], dtype=int)

    def turned(translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        translations, rotations = translations.copy(), rotations.copy()
        translations[..., roots, :] = rotate(upright, translations[..., roots, :])
        rotations[..., turning, :] = multiply(upright, rotations[..., turning, :])
        return translations, rotations

    offsets = s.offsets.copy()
    offsets[roots] = rotate(upright, offsets[roots])
    translations, rotations = turned(motion.translations, motion.rotations)
    pose = motion.reference_pose
    return replace(
        motion,
        skeleton=replace(s, offsets=offsets),
        translations=translations,
        rotations=rotations,
        up="Y",
        reference_pose=pose and Pose(*turned(pose.translations, pose.rotations)),
    )
