"""The error of a stored motion, as bounded by the tolerance of its file.

It is measured in millimetres on a figure of 1.7 m at the joints, the end sites and six points around each joint, 3 cm
from it in both directions of its axes. These points measure the rotation of the joint, which its position does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import OptionError, format_count
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.model import Motion, Skeleton
from keypose.rotations import to_matrix

ARM_MM = 30.0  # distance of the six points from their joint
POINTS = ("joint", "3 cm along +X", "3 cm along +Y", "3 cm along +Z", "3 cm along -X", "3 cm along -Y", "3 cm along -Z")
END_SITE = "end site"
MIN_RELATIVE_HEIGHT = 1e-9  # relative to the largest coordinate: below it, the height is rounding error
DEFAULT_MM_PER_UNIT = 1000.0
BLOCK_POSES = 1 << 14  # frames x (joints and end sites) compared at a time: about 10 MB


@dataclass(frozen=True)
class LargestError:
    """The largest error of a stored motion, with its frame and point.

    It is not a Score, which measures joints only and in which no error is bounded: it includes end sites and the points
    that measure rotations, and is what the tolerance of a file limits, also for a figure without height.
    """

    mm: float
    frame: int  # from 0
    joint: str  # of the point
    point: str  # one of POINTS, or END_SITE

    def __str__(self) -> str:
        where = self.joint if self.point == POINTS[0] else f"{self.joint} ({self.point})"
        return f"{self.mm:.3g} mm at frame {self.frame}, {where}"


def tolerance_mm_per_unit(motion: Motion) -> float:
    """Return the millimetres per file unit that a tolerance refers to for ``motion``.

    They are those of the figure scaled to 1.7 m, as in ``motion.mm_per_unit``. A figure without height (one joint,
    markers in a plane) cannot be scaled; its millimetres are real ones if the file states its unit. If it does not, the
    unit is assumed to be a metre, the largest one in use, so that the tolerance is valid for any unit.
    """
    height = motion.height
    coordinates = max(float(np.abs(motion.translations).max()), float(np.abs(motion.skeleton.offsets).max(initial=0.0)))
    if height > MIN_RELATIVE_HEIGHT * coordinates and 0 < (scale := REFERENCE_HEIGHT_MM / height) < np.inf:
        return scale
    return DEFAULT_MM_PER_UNIT if motion.metres_per_unit is None else 1000.0 * motion.metres_per_unit


def largest_error(original: Motion, decoded: Motion, *, mm_per_unit: float | None = None) -> LargestError:
    """Return the largest distance between a point of ``original`` and the same point of ``decoded``.

    Both have the same joints and frames. ``mm_per_unit`` is needed if ``original`` is only a span of the clip to which
    the tolerance refers; None: ``tolerance_mm_per_unit(original)``.
    """
    scale = tolerance_mm_per_unit(original) if mm_per_unit is None else mm_per_unit
    largest, frame, point = -1.0, 0, 0
    for start, stop in frame_blocks(original):
        errors = errors_mm(original, decoded, start, stop, mm_per_unit=scale)
        row, column = (int(i) for i in np.unravel_index(int(errors.argmax()), errors.shape))
        if errors[row, column] > largest:
            largest, frame, point = float(errors[row, column]), start + row, column
    return LargestError(largest, frame, *_name_point(original.skeleton, point))


def frame_errors_mm(original: Motion, decoded: Motion, *, mm_per_unit: float | None = None) -> Floats:
    """Return the largest distance in each frame (T,), mm."""
    scale = tolerance_mm_per_unit(original) if mm_per_unit is None else mm_per_unit
    block_errors = [
        errors_mm(original, decoded, *some, mm_per_unit=scale).max(axis=1) for some in frame_blocks(original)
    ]
    return np.concatenate(block_errors)


def frame_blocks(motion: Motion) -> Iterator[tuple[int, int]]:
    """Return the (start, stop) of the blocks of frames compared at a time, to limit memory."""
    length = max(1, BLOCK_POSES // (motion.n_joints + len(motion.skeleton.end_joints)))
    return ((start, min(start + length, motion.n_frames)) for start in range(0, motion.n_frames, length))


def errors_mm(original: Motion, decoded: Motion, start: int, stop: int, *, mm_per_unit: float) -> Floats:
    """Return the distances (N, 7 J + E), mm, of frames ``start`` to ``stop - 1``: 7 points per joint, end sites."""
    _check_comparable(original, decoded)
    original_points, decoded_points = (
        _points(motion, start, stop, ARM_MM / mm_per_unit) for motion in (original, decoded)
    )
    differences = decoded_points - original_points
    return np.asarray(mm_per_unit * np.sqrt(np.einsum("tpk,tpk->tp", differences, differences)))


def _points(motion: Motion, start: int, stop: int, arm: float) -> Floats:
    """Return the world positions (N, 7 J + E, 3) of all points; ``arm`` in file units."""
    s = motion.skeleton
    positions, world_rotations = kinematics.forward(
        s.parents, motion.translations[start:stop], motion.rotations[start:stop]
    )
    arms = arm * np.swapaxes(to_matrix(world_rotations), -1, -2)  # (N, J, 3, 3): world directions of the joint's axes
    at_joint = positions[:, :, None, :]
    joint_points = np.concatenate((at_joint, at_joint + arms, at_joint - arms), axis=2).reshape(len(positions), -1, 3)
    return np.concatenate(
        (joint_points, kinematics.end_positions(positions, world_rotations, s.end_joints, s.end_offsets)), axis=1
    )


def _name_point(skeleton: Skeleton, point: int) -> tuple[str, str]:
    """Return the names of the joint and the point of one column of the distances."""
    joint, point_index = divmod(point, len(POINTS))
    if joint < skeleton.n_joints:
        return skeleton.names[joint], POINTS[point_index]
    end = point - len(POINTS) * skeleton.n_joints
    return skeleton.names[int(skeleton.end_joints[end])], END_SITE


def _check_comparable(original: Motion, decoded: Motion) -> None:
    original_skeleton, decoded_skeleton = original.skeleton, decoded.skeleton
    if (
        original_skeleton.names != decoded_skeleton.names
        or (original_skeleton.parents != decoded_skeleton.parents).any()
    ):
        raise OptionError(f"{original.name!r} and {decoded.name!r}", expected="the same joints")
    if (
        len(original_skeleton.end_joints) != len(decoded_skeleton.end_joints)
        or (original_skeleton.end_joints != decoded_skeleton.end_joints).any()
    ):
        raise OptionError(f"{original.name!r} and {decoded.name!r}", expected="the same end sites")
    if original.n_frames != decoded.n_frames:
        raise OptionError(
            f"{original.name!r} has {format_count(original.n_frames, 'frame')}, {decoded.name!r} {decoded.n_frames}",
            expected="the same number",
        )
