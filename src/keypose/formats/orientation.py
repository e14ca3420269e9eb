"""The up axis and the reference pose of files that do not state them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import angle_between, multiply, rotate

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
# A rest pose is upright if the height of the head over the feet is this fraction of its largest extent.
MIN_REST_HEIGHT_FRACTION = 0.6
# Maximum height of the lowest joint of a figure on a floor at 0, as a fraction of the distance from feet to head: an
# ankle or toe is slightly above the sole.
FLOOR_AT_ZERO = (-0.05, 0.12)

MIN_JUMP_DEG = 45.0  # of the joint with the largest jump
MIN_JOINT_JUMP_DEG = 5.0  # minimum jump of a jumping joint
JUMP_RATIO = 1.5  # the jump of such a joint over its largest later step
LOOK_AHEAD_FRAMES = 60
MIN_JUMPING_FRACTION = 0.5  # of the joints that move at all
MIN_SINGLE_AXIS_FRACTION = 0.75  # of the joints that move at all
NATURAL_HEIGHT_M = 1.7

# Common units in metres; 0.05644 is that of the CMU recordings.
COMMON_UNITS_M = (1.0, 0.01, 0.001, 0.05644, 0.0254, 0.3048)
MAX_RATIO = 1.5  # maximum ratio of the height to the natural height, or its inverse, for a common unit to be accepted
_POSSIBLE_M = (1e-9, 1e9)


@np.errstate(over="ignore", invalid="ignore")  # Motion refuses numbers that are too large
def find_up(skeleton: Skeleton, translations: Floats, rotations: Floats, default: Up = "Y") -> Up:
    """Return the axis along which the head is above the feet in most frames; ``default`` if that is unknown.

    When a person swims or lies, the head is beside the feet. If the rest pose is upright along another axis than the
    movement, the axis of the movement is used only if the figure is on a floor at 0 (an exporter has then rotated the
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


def is_reference_pose(rotations: Floats) -> bool:
    """Return whether frame 0 of ``rotations`` (T, J, 4) is an artificial pose from which the movement jumps away."""
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
    """Return 1 if frame 0 is the reference pose and not part of the movement, else 0; ``mode`` as in ``load``."""
    if mode not in ("auto", "keep", "drop"):
        raise OptionError(option="reference_pose", value=mode, expected="'auto', 'keep' or 'drop'")
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


def metres_per_unit(motion: Motion) -> float:
    """Return the unit that the file states, else the common unit in which the figure is nearest to 1.7 m tall.

    If it is about as tall in no common unit, return the unit in which it is 1.7 m tall.
    """
    if motion.metres_per_unit is not None:
        return motion.metres_per_unit
    height = motion.height
    min_height, max_height = (NATURAL_HEIGHT_M / unit for unit in reversed(_POSSIBLE_M))
    if not min_height < height < max_height:
        return 1.0
    log_errors = [abs(np.log(height * unit / NATURAL_HEIGHT_M)) for unit in COMMON_UNITS_M]
    best = int(np.argmin(log_errors))
    if log_errors[best] <= np.log(MAX_RATIO):
        return COMMON_UNITS_M[best]
    return NATURAL_HEIGHT_M / height


def unique_names(source: Source, names: list[str]) -> tuple[str, ...]:
    """Return joint names with a number appended to repeated ones; warn about these."""
    unique, renamed = number_duplicates(names)
    if renamed:
        others = f" and {len(renamed) - 5} others" if len(renamed) > 5 else ""
        source.warn(
            f"joint names are used more than once; numbered: {', '.join(renamed[:5])}{others}",
            code="repeated_name",
            value=renamed[0],
        )
    return unique


def number_duplicates(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names with a number appended to repeated ones, as Blender does it, and the new names."""
    used: set[str] = set()
    numbers: dict[str, int] = {}  # the last number used for each name, for speed with thousands of equal names
    unique: list[str] = []
    renamed: list[str] = []
    for name in names:
        candidate, number = name, numbers.get(name, 0)
        while candidate in used:
            number += 1
            candidate = f"{name}.{number:03d}"
        if candidate != name:
            numbers[name] = number
            renamed.append(candidate)
        used.add(candidate)
        unique.append(candidate)
    return tuple(unique), renamed
