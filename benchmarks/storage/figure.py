"""The points on which the promise is made, straight from their definition and apart from the package's own measure.

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
    """A motion's joints in the world, joint by joint: (J, T, 3) and (J, T, 3, 3), in millimetres."""

    parents: tuple[int, ...]
    ends: tuple[Array, ...]  # (E, 3) of each joint, mm
    places: Array
    turns: Array

    @staticmethod
    def of(motion: kp.Motion) -> Figure:
        skeleton, mm = motion.skeleton, motion.mm_per_unit
        parents = tuple(skeleton.parents.tolist())
        ends = tuple(mm * skeleton.end_offsets[skeleton.end_joints == j] for j in range(len(parents)))
        places, turns = _forward(parents, mm * by_joint(motion.translations), matrices(by_joint(motion.rotations)))
        return Figure(parents, ends, places, turns)

    def errors_mm(self, other: Figure) -> Array:
        """The largest error of each frame (T,)."""
        each = [
            point_errors_mm(other.places[j] - self.places[j], other.turns[j] - self.turns[j], self.ends[j])
            for j in range(len(self.parents))
        ]
        return np.maximum.reduce(each)


def largest_error_mm(motion: kp.Motion, other: kp.Motion) -> float:
    """How far any point of ``other`` is from where it was, in mm on a figure of 1.7 m as tall as ``motion``'s."""
    mm = motion.mm_per_unit
    was = Figure.of(motion)
    places, turns = _forward(was.parents, mm * by_joint(other.translations), matrices(by_joint(other.rotations)))
    return float(was.errors_mm(Figure(was.parents, was.ends, places, turns)).max())


def point_errors_mm(moved: Array, turned: Array, ends: Array) -> Array:
    """(T,) of one joint that is off by ``moved`` (T, 3) and whose matrix is off by ``turned`` (T, 3, 3).

    Off each axis the two points are at moved +- 30 turned[:, :, axis]; the farther one counts.
    """
    columns = SHELL_MM * np.swapaxes(turned, -1, -2)
    squares = np.einsum("tac,tac->ta", columns, columns) + 2 * np.abs(np.einsum("tac,tc->ta", columns, moved))
    worst = squares.max(axis=1) + np.einsum("tc,tc->t", moved, moved)  # never below the joint's own
    for end in ends:
        off = moved + turned @ end
        worst = np.maximum(worst, np.einsum("tc,tc->t", off, off))
    return np.sqrt(worst)


def by_joint(values: Array) -> Array:
    """(T, J, ...) -> (J, T, ...)."""
    return np.ascontiguousarray(np.swapaxes(values, 0, 1))


def matrices(turns: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4) wxyz."""
    w, x, y, z = np.moveaxis(turns, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def carried(places: Array, turns: Array, translations: Array, local: Array) -> tuple[Array, Array]:
    """A child in the world: parent's places (T, 3) and turns (T, 3, 3), child's own."""
    return places + np.einsum("tij,tj->ti", turns, translations), turns @ local


def _forward(parents: tuple[int, ...], translations: Array, local: Array) -> tuple[Array, Array]:
    places, turns = translations.copy(), local.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            places[j], turns[j] = carried(places[parent], turns[parent], translations[j], local[j])
    return places, turns
