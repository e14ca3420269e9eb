"""The coordinate system of the viewer, and the conversion between it and that of a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Frozen, freeze, freeze_floats
from keypose.kinematics import Up, up_axis
from keypose.model import Motion

FLOOR_PERCENT = 5.0  # percent of poses may reach below the floor: a toe that dips does not lower it
SAMPLE_FRAMES = 1000  # evenly spread frames from which floor and path are estimated


@dataclass(frozen=True, eq=False)
class DisplaySpace(Frozen):
    """Metres on a figure of 1.7 m, right-handed, Y up, the floor at 0, the middle of the hips' path at X = Z = 0.

    A figure without height cannot be scaled: it keeps the metres of its file or, if unknown, the file's units.
    """

    rotation: Floats  # (3, 3) display directions from file directions
    metres_per_unit: float
    origin: Floats  # (3,) the point of the file that is the origin of the display

    def __post_init__(self) -> None:
        self._set_field("rotation", freeze_floats(self.rotation, (3, 3), "rotation of the display"))
        self._set_field("origin", freeze_floats(self.origin, (3,), "origin of the display"))

    def to_display(self, points: Floats) -> Floats:
        """Return ``points`` (..., 3), given in file units, in display metres."""
        return np.asarray((points - self.origin) @ (self.metres_per_unit * self.rotation.T))

    def to_file(self, point: ArrayLike) -> Floats:
        """Return a display point (..., 3) in file units."""
        return self.origin + self.offset_to_file(point)

    def offset_to_file(self, offset: ArrayLike) -> Floats:
        """Return a display offset (..., 3) in file units."""
        return np.asarray(np.asarray(offset, np.float64) @ self.rotation / self.metres_per_unit)

    def rotation_to_file(self, quaternion: ArrayLike) -> Floats:
        """Return a rotation (..., 4), wxyz, about display axes as one about file axes."""
        wxyz = np.asarray(quaternion, np.float64)
        return np.concatenate((wxyz[..., :1], wxyz[..., 1:] @ self.rotation), axis=-1)


def compute_display_space(motion: Motion) -> DisplaySpace:
    """Return the space in which ``motion`` and everything derived from it is shown."""
    rotation = rotation_to_y_up(motion.up)
    sample = _sample_frames(motion)
    points = np.concatenate((sample.world_positions(), sample.end_positions()), axis=1) @ rotation.T
    lowest = points[..., 1].min(axis=1)
    path = _hips_path(points, motion)
    middle = (path.min(axis=0) + path.max(axis=0)) / 2
    corner = np.array((middle[0], np.percentile(lowest, FLOOR_PERCENT), middle[2]))
    return DisplaySpace(freeze(rotation), _scale(motion), freeze(corner @ rotation))


def rotation_to_y_up(up: Up) -> Floats:
    """Return the rotation (3, 3) that brings ``up`` to Y and keeps handedness."""
    axis, sign = up_axis(up)
    rotation = np.roll(np.eye(3), 1 - axis, axis=0)  # a cycle of the axes
    return rotation if sign > 0 else np.diag((-1.0, -1.0, 1.0)) @ rotation


def _sample_frames(motion: Motion) -> Motion:
    """Return at most SAMPLE_FRAMES frames spread over the motion."""
    if motion.n_frames <= SAMPLE_FRAMES:
        return motion
    return motion.at_frames(np.linspace(0, motion.n_frames - 1, SAMPLE_FRAMES).round())


def _hips_path(points: Floats, motion: Motion) -> Floats:
    """Return the path (T, 3) of the figure: its hips, else the mean of its joints."""
    body_parts = motion.skeleton.anatomy.body_parts
    joints = points[:, : motion.n_joints]
    return joints[:, body_parts.index("hips")] if "hips" in body_parts else joints.mean(axis=1)


def _scale(motion: Motion) -> float:
    if motion.height > 0:
        return motion.mm_per_unit / 1000.0
    return 1.0 if motion.metres_per_unit is None else motion.metres_per_unit
