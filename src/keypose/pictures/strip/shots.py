"""Poses of a motion as one camera sees them, in heights of the figure, before they are given a place in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.kinematics import heights_above
from keypose.model import Motion
from keypose.pictures.figure.build import body_of
from keypose.pictures.figure.paint import SLANT
from keypose.pictures.figure.sample import sample_of
from keypose.pictures.figure.solids import Solids, solids_of
from keypose.pictures.remember import remembered
from keypose.pictures.view import View

FLOOR_PERCENT = 20.0  # of poses reach lower: a toe that dips does not lower the floor
PATH_POINTS = 160


@dataclass(frozen=True, eq=False)
class Shots(Frozen):
    """Poses at ``frames``, each standing over the origin of its own: right, up, towards, in heights.

    ``anchors`` say where on the floor they stand, right and towards the viewer, from where the motion begins.
    """

    solids: Solids  # in heights
    frames: Ints  # (F,)
    seen: Floats  # (F, P, 3)
    flat: Floats  # (F, P, 2) on the floor: right, towards
    heights: Floats  # (F, P) above the floor
    boxes: Floats  # (F, 2, 2) least and greatest x, y of the figures
    anchors: Floats  # (F, 2)


def shots_of(motion: Motion, view: View, frames: Ints) -> Shots:
    """The poses at ``frames``."""
    body, floor = body_of(motion), floor_of(motion)
    points = body.points_at(motion, frames)
    upward, out = _level(view)
    solids = solids_of(body)
    anchors = _anchors(points, motion)
    centred = (points - anchors[:, None]) / body.size
    flat = np.stack((centred @ view.right, centred @ out), axis=-1)
    heights = (points @ upward - floor) / body.size
    tilt = np.array((out @ view.towards, upward @ view.towards))  # cosine and sine of the elevation
    y = heights * tilt[0] - flat[..., 1] * tilt[1]
    near = heights * tilt[1] + flat[..., 1] * tilt[0]
    seen = np.stack((flat[..., 0], y, near), axis=-1)
    ground = _on_floor(anchors - _origin(motion), view) / body.size
    return Shots(solids, frames, seen, flat, heights, solids.boxes(seen), ground)


@remembered
def floor_of(motion: Motion) -> float:
    """The height of the motion's floor in file units: where its low poses touch."""
    body, some = body_of(motion), sample_of(motion)
    heights = heights_above(body.with_carried(some.world, some.turns), motion.up) / body.size
    return body.size * float(np.percentile(solids_of(body).lowest(heights), FLOOR_PERCENT))


def path_of(motion: Motion, view: View, first: int, last: int) -> tuple[Floats, Floats]:
    """Frames (N,) from ``first`` to ``last`` and where on the floor the figure is then (N, 2), in heights."""
    body = body_of(motion)
    frames = np.unique(np.linspace(first, last, PATH_POINTS).round().astype(int))
    anchors = _anchors(body.points_at(motion, frames), motion)
    return frames.astype(float), _on_floor(anchors - _origin(motion), view) / body.size


def shadow_boxes(shots: Shots, sine: float) -> Floats:
    """Least and greatest x, y (F, 2, 2) of the shadows, y up, seen from an elevation of that ``sine``."""
    on_floor = np.stack((shots.flat[..., 0] + SLANT * shots.heights, -shots.flat[..., 1]), axis=-1)
    return shots.solids.boxes(on_floor) * (1.0, sine)


def _level(view: View) -> tuple[Floats, Floats]:
    """The way up and the level direction towards the viewer."""
    tilt = np.radians(view.elevation)
    return (np.cos(tilt) * view.up + np.sin(tilt) * view.towards, np.cos(tilt) * view.towards - np.sin(tilt) * view.up)


def _on_floor(points: Floats, view: View) -> Floats:
    """Points (N, 3) as right and towards the viewer (N, 2)."""
    return np.stack((points @ view.right, points @ _level(view)[1]), axis=-1)


def _origin(motion: Motion) -> Floats:
    """A place near the motion (3,): places are told from there, since a file may have its own far away."""
    first: Floats = sample_of(motion).world[0].mean(axis=0)
    return first


def _anchors(points: Floats, motion: Motion) -> Floats:
    """Where each pose is (F, 3): its hips, else the middle of its points."""
    parts = motion.skeleton.anatomy.parts
    return points[:, parts.index("hips")] if "hips" in parts else points.mean(axis=1)
