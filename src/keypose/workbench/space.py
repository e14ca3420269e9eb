"""The space in which pages show figures, and the one way between it and that of a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Frozen, frozen_floats, give_away
from keypose.kinematics import Up, up_axis
from keypose.model import Motion

FLOOR_PERCENT = 5.0  # of poses reach lower: a toe that dips does not lower the floor
LOOKED_AT = 1000  # frames, evenly spread, in which floor and path are looked for


@dataclass(frozen=True, eq=False)
class PageSpace(Frozen):
    """Metres on a figure of 1.7 m, right-handed, Y up, the floor at 0, the middle of the hips' path at X = Z = 0.

    A figure without height, of which nothing can be told in mm, has the metres of its file or, without such, its units.
    """

    turn: Floats  # (3, 3) directions of the page from those of the file
    metres_per_unit: float
    origin: Floats  # (3,) the place in the file that is the page's origin

    def __post_init__(self) -> None:
        self._put("turn", frozen_floats(self.turn, (3, 3), "turn of the page"))
        self._put("origin", frozen_floats(self.origin, (3,), "origin of the page"))

    def places(self, points: Floats) -> Floats:
        """Places (..., 3) of the file, file units, on the page."""
        return np.asarray((points - self.origin) @ (self.metres_per_unit * self.turn.T))

    def file_place(self, place: ArrayLike) -> Floats:
        """A place (..., 3) of the page, in file units."""
        return self.origin + self.file_way(place)

    def file_way(self, way: ArrayLike) -> Floats:
        """A way (..., 3) on the page, in file units."""
        return np.asarray(np.asarray(way, np.float64) @ self.turn / self.metres_per_unit)

    def file_turn(self, quaternion: ArrayLike) -> Floats:
        """A turn (..., 4) about directions of the page, wxyz, as one about those of the file."""
        given = np.asarray(quaternion, np.float64)
        return np.concatenate((given[..., :1], given[..., 1:] @ self.turn), axis=-1)


def page_space(motion: Motion) -> PageSpace:
    """The space in which ``motion`` and all that is made of it is shown."""
    turn = turn_to_y(motion.up)
    some = _some(motion)
    points = np.concatenate((some.world_positions(), some.end_positions()), axis=1) @ turn.T
    lowest = points[..., 1].min(axis=1)
    path = _hips(points, motion)
    middle = (path.min(axis=0) + path.max(axis=0)) / 2
    corner = np.array((middle[0], np.percentile(lowest, FLOOR_PERCENT), middle[2]))
    return PageSpace(give_away(turn), _scale(motion), give_away(corner @ turn))


def turn_to_y(up: Up) -> Floats:
    """The turn (3, 3) that brings ``up`` to Y, handedness kept."""
    axis, sign = up_axis(up)
    turn = np.roll(np.eye(3), 1 - axis, axis=0)  # a cycle of the axes
    return turn if sign > 0 else np.diag((-1.0, -1.0, 1.0)) @ turn


def _some(motion: Motion) -> Motion:
    """Frames spread over the motion, few enough to be quick."""
    if motion.n_frames <= LOOKED_AT:
        return motion
    return motion.at_frames(np.linspace(0, motion.n_frames - 1, LOOKED_AT).round())


def _hips(points: Floats, motion: Motion) -> Floats:
    """Where the figure is (T, 3): its hips, else the middle of its joints."""
    parts = motion.skeleton.anatomy.parts
    joints = points[:, : motion.n_joints]
    return joints[:, parts.index("hips")] if "hips" in parts else joints.mean(axis=1)


def _scale(motion: Motion) -> float:
    if motion.height > 0:
        return motion.mm_per_unit / 1000.0
    return 1.0 if motion.metres_per_unit is None else motion.metres_per_unit
