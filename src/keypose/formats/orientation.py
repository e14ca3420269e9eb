"""The up axis: estimated for files that do not state it, changed for formats that allow only one."""

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

# The rotation (wxyz) that brings each up axis to Y.
ROTATION_TO_Y_UP: dict[Up, tuple[float, float, float, float]] = {
    "X": (_HALF, 0.0, 0.0, _HALF),
    "Y": (1.0, 0.0, 0.0, 0.0),
    "Z": (_HALF, -_HALF, 0.0, 0.0),
    "-X": (_HALF, 0.0, 0.0, -_HALF),
    "-Y": (0.0, 1.0, 0.0, 0.0),
    "-Z": (_HALF, _HALF, 0.0, 0.0),
}

SAMPLED_FRAMES = 64
MIN_REST_HEIGHT_FRACTION = 0.6  # a rest pose stands if head over feet is this fraction of its largest extent
# Height of the lowest joint of a figure that stands on a floor at 0, as a fraction of the distance from feet to head:
# an ankle or toe is a little above the sole.
FLOOR_AT_ZERO = (-0.05, 0.12)


@np.errstate(over="ignore", invalid="ignore")  # too large numbers: the Motion will refuse them
def find_up(skeleton: Skeleton, translations: Floats, rotations: Floats, default: Up = "Y") -> Up:
    """Return the axis along which the head is over the feet in most frames; ``default`` if that is unknown.

    A person who swims or lies has the head beside the feet. If the rest pose stands along another axis than the
    movement, the axis of the movement counts only if the figure stands on a floor at 0 (an exporter then rotated the
    root, not the offsets), else that of the rest pose.
    """
    ends = skeleton.anatomy.vertical_pair()
    if ends is None:
        return default
    low, high = (np.array(joints) for joints in ends)
    step = max(1, len(translations) // SAMPLED_FRAMES)
    world, _ = kinematics.forward(skeleton.parents, translations[::step], rotations[::step])
    motion_up = kinematics.dominant_up(world[:, low].mean(axis=1), world[:, high].mean(axis=1))
    rest = skeleton.rest_positions
    size = np.linalg.norm(rest[high].mean(axis=0) - rest[low].mean(axis=0))
    is_clear = size >= MIN_REST_HEIGHT_FRACTION * np.ptp(rest, axis=0).max()
    rest_up = kinematics.dominant_up(rest[None, low].mean(axis=1), rest[None, high].mean(axis=1)) if is_clear else None
    if motion_up is None or rest_up is None:
        return motion_up or rest_up or default
    if motion_up == rest_up:
        return motion_up
    lowest = kinematics.heights_above(world, motion_up).min(axis=1) / size
    min_floor, max_floor = FLOOR_AT_ZERO
    on_floor = min_floor <= np.percentile(lowest, 5.0) and np.median(lowest) <= max_floor
    return motion_up if on_floor else rest_up


def rotate_to_y_up(motion: Motion) -> Motion:
    """Return the same motion with Y up. Roots without rotation channels (markers) are only moved."""
    rotation = np.array(ROTATION_TO_Y_UP[motion.up])
    s = motion.skeleton
    roots = np.array(s.roots)
    rotating_roots = np.array([j for j in s.roots if any(c.endswith("rotation") for c in s.channels[j])], dtype=int)

    def rotate_roots(translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        translations, rotations = translations.copy(), rotations.copy()
        translations[..., roots, :] = rotate(rotation, translations[..., roots, :])
        rotations[..., rotating_roots, :] = multiply(rotation, rotations[..., rotating_roots, :])
        return translations, rotations

    offsets = s.offsets.copy()
    offsets[roots] = rotate(rotation, offsets[roots])
    translations, rotations = rotate_roots(motion.translations, motion.rotations)
    pose = motion.reference_pose
    return replace(
        motion,
        skeleton=replace(s, offsets=offsets),
        translations=translations,
        rotations=rotations,
        up="Y",
        reference_pose=pose and Pose(*rotate_roots(pose.translations, pose.rotations)),
    )
