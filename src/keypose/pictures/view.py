"""Where a motion is seen from: the direction that shows most of it, or the one that is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from keypose.arrays import Floats, Frozen
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.options import number
from keypose.pictures.figure.sample import Sample, sample_of, unit
from keypose.pictures.remember import remembered

ViewName = Literal["best", "front", "left", "right", "back", "three-quarter"]
ANGLES = {"front": 0.0, "three-quarter": 40.0, "left": 90.0, "back": 180.0, "right": -90.0}  # to the figure's left
AROUND = ("front", "front left", "left", "back left", "back", "back right", "right", "front right")
VIEWS = ("best", *ANGLES)
DIRECTIONS = 72
TURNS_ABOUT = 0.3  # mean of unit vectors below which there is no one front
ELEVATION = 9.0  # degrees above the horizon
# What counts when views are compared, beside what moves within the body (1).
STANDING, TRAVEL, FACE, BACK = 0.35, 0.9, 0.55, 0.25
LITTLE = 1e-3  # of the spread of poses: what moves less does not choose the view
ANIMAL = 2.0  # what standing counts for a body that is longer than it is tall


@dataclass(frozen=True, eq=False)
class View(Frozen):
    """A camera without perspective: unit vectors (3,) that point right, up and towards the viewer."""

    right: Floats
    up: Floats
    towards: Floats
    degrees: float  # from the figure's front to its left, 0 to 360
    elevation: float  # degrees above the horizon

    @property
    def said(self) -> str:
        """Where it is seen from, in words: its front left."""
        return f"its {AROUND[round(self.degrees / 45.0) % 8]}"

    def project(self, points: Floats) -> Floats:
        """Points (..., 3) as seen: right, up and towards the viewer (..., 3)."""
        seen: Floats = points @ np.stack((self.right, self.up, self.towards), axis=1)
        return seen


def view_of(motion: Motion, view: str | float = "best", *, elevation: float = ELEVATION) -> View:
    """The view of that name, or from so many degrees to the left of the figure's front.

    ``best`` is chosen by poses of the whole motion, not of some keys, so that it stays where it is when keys change:
    it shows what moves across the picture, the figure going to the right, and rather its face than its back.
    """
    if isinstance(view, str) and view not in VIEWS:
        raise OptionError(f"view={view!r}, expected one of {', '.join(VIEWS)} or degrees from the front to the left")
    scene = _scene_of(motion)
    ahead = math.atan2(scene.front[1], scene.front[0])
    degrees = ANGLES.get(view, 0.0) if isinstance(view, str) else number("view", view)
    azimuth = scene.best if view == "best" else ahead + math.radians(degrees % 360.0)
    return _view(scene, azimuth, math.degrees(azimuth - ahead) % 360.0, elevation)


@dataclass(frozen=True, eq=False)
class _Scene(Frozen):
    """What views of a motion need to know of it."""

    upward: Floats  # (3,)
    level: Floats  # (2, 3)
    front: Floats  # (2,) where the figure faces, on the level axes
    best: float  # azimuth on the level axes, radians


@remembered
def _scene_of(motion: Motion) -> _Scene:
    some = sample_of(motion)
    level = _level_axes(some.upward)
    fronts = some.fronts
    facing = None if fronts is None else unit(fronts @ level.T)
    front = _front(facing)
    return _Scene(some.upward, level, front, _best(some, level, front, facing))


def _level_axes(upward: Floats) -> Floats:
    """Two level axes (2, 3) such that turning from the first to the second is to the left, seen from above."""
    axis = int(np.abs(upward).argmax())
    ahead = np.eye(3)[(axis + 1) % 3]
    return np.stack((ahead, np.cross(upward, ahead)))


def _view(scene: _Scene, azimuth: float, degrees: float, elevation: float) -> View:
    """The camera in the direction ``azimuth`` of the level axes."""
    out = math.cos(azimuth) * scene.level[0] + math.sin(azimuth) * scene.level[1]
    tilt = math.radians(elevation)
    towards = math.cos(tilt) * out + math.sin(tilt) * scene.upward
    right = np.cross(scene.upward, out)
    return View(right, np.cross(towards, right), towards, degrees, elevation)


def _front(facing: Floats | None) -> Floats:
    """Where the figure faces (2,) on the level axes: on average, or at first if it turns about."""
    if facing is None:
        return np.array((1.0, 0.0))
    mean: Floats = facing.mean(axis=0)
    chosen = mean if np.linalg.norm(mean) > TURNS_ABOUT else facing[0]
    return chosen if np.linalg.norm(chosen) > 0 else np.array((1.0, 0.0))


def _best(some: Sample, level: Floats, front: Floats, facing: Floats | None) -> float:
    """The azimuth of the best view."""
    angles = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS) + math.atan2(front[1], front[0])
    out = np.stack((np.cos(angles), np.sin(angles)), axis=1)  # (D, 2) towards the viewer
    right = np.stack((-out[:, 1], out[:, 0]), axis=1)
    flat = (some.world - some.world[:, :1]) @ level.T / some.size
    middles = some.world.mean(axis=1) @ level.T / some.size
    within = flat - flat.mean(axis=1, keepdims=True)
    moving = within - within.mean(axis=0)
    score = _share(moving, right, LITTLE * float((within**2).sum()))
    score += (ANIMAL if some.is_animal else STANDING) * _share(within, right)
    travel = middles[-1] - middles[0]
    score += TRAVEL * (right @ travel) / max(1.0, float(np.linalg.norm(travel)))  # a height is as good as a mile
    if facing is not None and some.is_animal:
        score += FACE * (facing @ right.T).mean(axis=0)  # from the side, head to the right
    elif facing is not None:
        cosine = facing @ out.T  # (F, D) between where it looks and the viewer
        score += FACE * np.minimum(cosine, 0.75).mean(axis=0) - BACK * (cosine < -0.5).mean(axis=0)
    return float(angles[int(np.argmax(np.round(score, 9)))])


def _share(flat: Floats, right: Floats, least: float = 0.0) -> Floats:
    """Which part of the spread of points (F, P, 2), or of ``least``, is seen across each direction (D, 2)."""
    spread = np.einsum("fpi,fpj->ij", flat, flat)
    whole = max(float(np.trace(spread)), least)
    share: Floats = np.einsum("di,ij,dj->d", right, spread, right) / (whole if whole > 0 else 1.0)
    return share
