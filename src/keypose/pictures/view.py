"""Camera direction of a motion: the one in which most movement is visible, or a given one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from keypose.arrays import Floats, Frozen
from keypose.cache import cache_weakly
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.pictures.figure.paint import Sample, normalise, sample_motion
from keypose.validation import check_number

ViewName = Literal["best", "front", "left", "right", "back", "three-quarter"]
ANGLES = {"front": 0.0, "three-quarter": 40.0, "left": 90.0, "back": 180.0, "right": -90.0}  # degrees to the left
DIRECTION_NAMES = ("front", "front left", "left", "back left", "back", "back right", "right", "front right")
VIEWS = ("best", *ANGLES)
N_DIRECTIONS = 72
MIN_MEAN_FRONT = 0.3  # length of the mean of unit vectors below which there is no common front
ELEVATION = 9.0  # degrees above the horizon
# Weights in the score of a view, relative to movement within the body (1).
POSTURE_WEIGHT, TRAVEL_WEIGHT, FACE_WEIGHT, BACK_WEIGHT = 0.35, 0.9, 0.55, 0.25
MIN_MOVEMENT = 1e-3  # of the spread of poses: less movement does not affect the view
ANIMAL_POSTURE_WEIGHT = 2.0  # for bodies that are longer than tall


@dataclass(frozen=True, eq=False)
class View(Frozen):
    """An orthographic camera: unit vectors (3,) to the right, up and towards the viewer."""

    right: Floats
    up: Floats
    towards: Floats
    degrees: float  # from the figure's front to its left, 0 to 360
    elevation: float  # degrees above the horizon

    @property
    def description(self) -> str:
        """The direction as text, such as "its front left"."""
        return f"its {DIRECTION_NAMES[round(self.degrees / 45.0) % 8]}"

    def project(self, points: Floats) -> Floats:
        """Return points (..., 3) in camera axes: right, up, towards the viewer (..., 3)."""
        projected: Floats = points @ np.stack((self.right, self.up, self.towards), axis=1)
        return projected


def build_view(motion: Motion, view: str | float = "best", *, elevation: float = ELEVATION) -> View:
    """Return the view ``view``, a name or degrees from the figure's front to its left.

    ``best`` depends on poses of the whole motion, not on keys, so that it does not change with the keys: most movement
    is across the picture, the figure travels to the right, and its face is visible rather than its back.
    """
    if isinstance(view, str) and view not in VIEWS:
        raise OptionError(
            option="view", value=view, expected=f"one of {', '.join(VIEWS)} or degrees from the front to the left"
        )
    orientation = _measure_orientation(motion)
    front_azimuth = math.atan2(orientation.front[1], orientation.front[0])
    degrees = ANGLES.get(view, 0.0) if isinstance(view, str) else check_number("view", view)
    azimuth = orientation.best if view == "best" else front_azimuth + math.radians(degrees % 360.0)
    return _build_camera(orientation, azimuth, math.degrees(azimuth - front_azimuth) % 360.0, elevation)


@dataclass(frozen=True, eq=False)
class _Orientation(Frozen):
    """Directions of a motion that views are built from."""

    upward: Floats  # (3,)
    level: Floats  # (2, 3)
    front: Floats  # (2,) direction the figure faces, on the level axes
    best: float  # azimuth on the level axes, radians


@cache_weakly
def _measure_orientation(motion: Motion) -> _Orientation:
    sample = sample_motion(motion)
    level = _level_axes(sample.upward)
    fronts = sample.fronts
    level_fronts = None if fronts is None else normalise(fronts @ level.T)
    front = _find_front(level_fronts)
    return _Orientation(sample.upward, level, front, _find_best_azimuth(sample, level, front, level_fronts))


def _level_axes(upward: Floats) -> Floats:
    """Return two level axes (2, 3), the second to the left of the first as seen from above."""
    axis = int(np.abs(upward).argmax())
    ahead = np.eye(3)[(axis + 1) % 3]
    return np.stack((ahead, np.cross(upward, ahead)))


def _build_camera(orientation: _Orientation, azimuth: float, degrees: float, elevation: float) -> View:
    """Return the camera in direction ``azimuth`` (radians) of the level axes."""
    out = math.cos(azimuth) * orientation.level[0] + math.sin(azimuth) * orientation.level[1]
    tilt = math.radians(elevation)
    towards = math.cos(tilt) * out + math.sin(tilt) * orientation.upward
    right = np.cross(orientation.upward, out)
    return View(right, np.cross(towards, right), towards, degrees, elevation)


def _find_front(level_fronts: Floats | None) -> Floats:
    """Return the direction (2,) the figure faces on the level axes: the mean, or the first if it turns around."""
    if level_fronts is None:
        return np.array((1.0, 0.0))
    mean: Floats = level_fronts.mean(axis=0)
    chosen = mean if np.linalg.norm(mean) > MIN_MEAN_FRONT else level_fronts[0]
    return chosen if np.linalg.norm(chosen) > 0 else np.array((1.0, 0.0))


def _find_best_azimuth(sample: Sample, level: Floats, front: Floats, level_fronts: Floats | None) -> float:
    """Return the azimuth of the best view in radians."""
    angles = np.arange(N_DIRECTIONS) * (2 * np.pi / N_DIRECTIONS) + math.atan2(front[1], front[0])
    out = np.stack((np.cos(angles), np.sin(angles)), axis=1)  # (D, 2) towards the viewer
    right = np.stack((-out[:, 1], out[:, 0]), axis=1)
    flat = (sample.world - sample.world[:, :1]) @ level.T / sample.size
    centres = sample.world.mean(axis=1) @ level.T / sample.size
    centred = flat - flat.mean(axis=1, keepdims=True)
    deviations = centred - centred.mean(axis=0)
    score = _share(deviations, right, MIN_MOVEMENT * float((centred**2).sum()))
    score += (ANIMAL_POSTURE_WEIGHT if sample.is_animal else POSTURE_WEIGHT) * _share(centred, right)
    travel = centres[-1] - centres[0]
    # Limited to the travel of one height.
    score += TRAVEL_WEIGHT * (right @ travel) / max(1.0, float(np.linalg.norm(travel)))
    if level_fronts is not None and sample.is_animal:
        score += FACE_WEIGHT * (level_fronts @ right.T).mean(axis=0)  # from the side, head to the right
    elif level_fronts is not None:
        cosine = level_fronts @ out.T  # (F, D) of the angle between front and viewer
        score += FACE_WEIGHT * np.minimum(cosine, 0.75).mean(axis=0) - BACK_WEIGHT * (cosine < -0.5).mean(axis=0)
    return float(angles[int(np.argmax(np.round(score, 9)))])


def _share(flat: Floats, right: Floats, min_spread: float = 0.0) -> Floats:
    """Return the share of the spread of points (F, P, 2), at least ``min_spread``, along each direction (D, 2)."""
    spread = np.einsum("fpi,fpj->ij", flat, flat)
    total = max(float(np.trace(spread)), min_spread)
    share: Floats = np.einsum("di,ij,dj->d", right, spread, right) / (total if total > 0 else 1.0)
    return share
