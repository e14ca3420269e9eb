"""The points on which the error is measured, implemented independently of the package.

All joints, all end sites, and the six points 3 cm off each joint along its own axes, on a figure of 1.7 m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import keypose as kp

Array = NDArray[np.float64]
SHELL_MM = 30.0


@dataclass(frozen=True)
class Figure:
    """World positions (J, T, 3) in millimetres and rotation matrices (J, T, 3, 3) of the joints of a motion."""

    parents: tuple[int, ...]
    ends: tuple[Array, ...]  # (E, 3) of each joint, mm
    world_positions: Array
    world_rotations: Array

    @staticmethod
    def build(motion: kp.Motion) -> Figure:
        skeleton, mm = motion.skeleton, motion.mm_per_unit
        parents = tuple(skeleton.parents.tolist())
        ends = tuple(mm * skeleton.end_offsets[skeleton.end_joints == j] for j in range(len(parents)))
        positions, rotations = _forward_kinematics(
            parents, mm * joints_first(motion.translations), rotation_matrices(joints_first(motion.rotations))
        )
        return Figure(parents, ends, positions, rotations)

    def errors_mm(self, other: Figure) -> Array:
        """Return the largest error of each frame (T,)."""
        joint_errors = [
            point_errors_mm(
                other.world_positions[j] - self.world_positions[j],
                other.world_rotations[j] - self.world_rotations[j],
                self.ends[j],
            )
            for j in range(len(self.parents))
        ]
        return np.maximum.reduce(joint_errors)


def largest_error_mm(motion: kp.Motion, other: kp.Motion) -> float:
    """Return the largest distance of any point of ``other`` from ``motion``, in mm on a figure scaled to 1.7 m."""
    mm = motion.mm_per_unit
    original = Figure.build(motion)
    positions, rotations = _forward_kinematics(
        original.parents, mm * joints_first(other.translations), rotation_matrices(joints_first(other.rotations))
    )
    return float(original.errors_mm(Figure(original.parents, original.ends, positions, rotations)).max())


def point_errors_mm(position_errors: Array, rotation_errors: Array, ends: Array) -> Array:
    """Return the largest point error (T,) of a joint with errors of position (T, 3) and rotation matrix (T, 3, 3).

    The errors of the two points on each axis are position_errors +- 30 rotation_errors[:, :, axis]; the larger one is
    used.
    """
    columns = SHELL_MM * np.swapaxes(rotation_errors, -1, -2)
    squares = np.einsum("tac,tac->ta", columns, columns) + 2 * np.abs(np.einsum("tac,tc->ta", columns, position_errors))
    max_squares = squares.max(axis=1) + np.einsum(
        "tc,tc->t", position_errors, position_errors
    )  # not below the error of the joint itself
    for end in ends:
        off = position_errors + rotation_errors @ end
        max_squares = np.maximum(max_squares, np.einsum("tc,tc->t", off, off))
    return np.sqrt(max_squares)


def joints_first(values: Array) -> Array:
    """Swap frames and joints: (T, J, ...) -> (J, T, ...)."""
    return np.ascontiguousarray(np.swapaxes(values, 0, 1))


def rotation_matrices(quaternions: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4) wxyz."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def apply_parent(
    parent_positions: Array, parent_rotations: Array, translations: Array, local_rotations: Array
) -> tuple[Array, Array]:
    """Return world positions (T, 3) and rotations (T, 3, 3) of a child from those of its parent and its local ones."""
    return parent_positions + np.einsum(
        "tij,tj->ti", parent_rotations, translations
    ), parent_rotations @ local_rotations


def _forward_kinematics(parents: tuple[int, ...], translations: Array, local_rotations: Array) -> tuple[Array, Array]:
    positions, rotations = translations.copy(), local_rotations.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            positions[j], rotations[j] = apply_parent(
                positions[parent], rotations[parent], translations[j], local_rotations[j]
            )
    return positions, rotations
