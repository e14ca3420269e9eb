"""Poses of a motion projected by a camera, in heights of the figure, before layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.kinematics import heights_above
from keypose.model import Motion
from keypose.pictures.figure.build import build_body
from keypose.pictures.figure.paint import SLANT
from keypose.pictures.figure.sample import sample_motion
from keypose.pictures.figure.solids import Solids, build_solids
from keypose.pictures.motion_cache import cache_per_motion
from keypose.pictures.view import View

FLOOR_PERCENT = 20.0  # of poses reach lower, so that a dipping toe does not lower the floor
N_PATH_POINTS = 160


@dataclass(frozen=True, eq=False)
class ProjectedPoses(Frozen):
    """Poses at ``frames``, each above its own origin: right, up, towards the viewer, in heights.

    ``anchors`` are their positions on the floor, right and towards the viewer, from where the motion begins.
    """

    solids: Solids  # in heights
    frames: Ints  # (F,)
    projected: Floats  # (F, P, 3)
    flat: Floats  # (F, P, 2) on the floor: right, towards
    heights: Floats  # (F, P) above the floor
    boxes: Floats  # (F, 2, 2) min and max x, y of the figures
    anchors: Floats  # (F, 2)


def project_poses(motion: Motion, view: View, frames: Ints) -> ProjectedPoses:
    """Project the poses at ``frames``."""
    body, floor = build_body(motion), floor_height(motion)
    points = body.points_at(motion, frames)
    upward, level_towards = _level_axes(view)
    solids = build_solids(body)
    anchors = _anchors(points, motion)
    centred = (points - anchors[:, None]) / body.size
    flat = np.stack((centred @ view.right, centred @ level_towards), axis=-1)
    heights = (points @ upward - floor) / body.size
    tilt = np.array((level_towards @ view.towards, upward @ view.towards))  # cosine and sine of the elevation
    y = heights * tilt[0] - flat[..., 1] * tilt[1]
    near = heights * tilt[1] + flat[..., 1] * tilt[0]
    projected = np.stack((flat[..., 0], y, near), axis=-1)
    ground = _on_floor(anchors - _origin(motion), view) / body.size
    return ProjectedPoses(solids, frames, projected, flat, heights, solids.boxes(projected), ground)


@cache_per_motion
def floor_height(motion: Motion) -> float:
    """Return the floor height of the motion in file units, where its low poses touch."""
    body, sample = build_body(motion), sample_motion(motion)
    heights = heights_above(body.add_carried_points(sample.world, sample.rotations), motion.up) / body.size
    return body.size * float(np.percentile(build_solids(body).lowest(heights), FLOOR_PERCENT))


def floor_path(motion: Motion, view: View, first: int, last: int) -> tuple[Floats, Floats]:
    """Return frames (N,) from ``first`` to ``last`` and positions of the figure on the floor (N, 2), in heights."""
    body = build_body(motion)
    frames = np.unique(np.linspace(first, last, N_PATH_POINTS).round().astype(int))
    anchors = _anchors(body.points_at(motion, frames), motion)
    return frames.astype(float), _on_floor(anchors - _origin(motion), view) / body.size


def shadow_boxes(poses: ProjectedPoses, sine: float) -> Floats:
    """Return min and max x, y (F, 2, 2) of the shadows, y up, for an elevation of ``sine``."""
    on_floor = np.stack((poses.flat[..., 0] + SLANT * poses.heights, -poses.flat[..., 1]), axis=-1)
    return poses.solids.boxes(on_floor) * (1.0, sine)


def _level_axes(view: View) -> tuple[Floats, Floats]:
    """Return the up direction and the level direction towards the viewer."""
    tilt = np.radians(view.elevation)
    return (np.cos(tilt) * view.up + np.sin(tilt) * view.towards, np.cos(tilt) * view.towards - np.sin(tilt) * view.up)


def _on_floor(points: Floats, view: View) -> Floats:
    """Return points (N, 3) as right and towards the viewer (N, 2)."""
    return np.stack((points @ view.right, points @ _level_axes(view)[1]), axis=-1)


def _origin(motion: Motion) -> Floats:
    """Return a point (3,) of the motion as origin, since a file may place the motion far away."""
    first: Floats = sample_motion(motion).world[0].mean(axis=0)
    return first


def _anchors(points: Floats, motion: Motion) -> Floats:
    """Return the position of each pose (F, 3): its hips, else the mean of its points."""
    body_parts = motion.skeleton.anatomy.body_parts
    return points[:, body_parts.index("hips")] if "hips" in body_parts else points.mean(axis=1)
