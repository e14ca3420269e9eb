"""How much each number of a pose matters, by trying: every point, every number, dense least squares."""

from __future__ import annotations

import numpy as np

import naive_storage_error

STEP = 1e-5  # radians or file units


def points_mm(clip, values: list[float], mm_per_unit: float) -> np.ndarray:
    """All points of a pose of the slow twin's clip, one after another."""
    places, turns = clip.frame(values)
    found = naive_storage_error.points(clip.skeleton, np.array([places]), np.array([turns]), 30.0 / mm_per_unit)
    return mm_per_unit * np.concatenate([point for *_, point in found])


def curvatures(clip, values: list[float], mm_per_unit: float) -> list[float]:
    """Of each track: the squares of how the points move with its number while all later numbers hold against it."""
    changes = []
    for k in range(len(values)):
        there, back = ([*values[:k], values[k] + sign * STEP, *values[k + 1 :]] for sign in (1, -1))
        changes.append((points_mm(clip, there, mm_per_unit) - points_mm(clip, back, mm_per_unit)) / (2 * STEP))
    found = []
    for k, change in enumerate(changes):
        later = np.array(changes[k + 1 :]).reshape(-1, len(change)).T
        made_up_for = later @ np.linalg.lstsq(later, change, rcond=1e-6)[0] if later.size else 0.0
        found.append(float(np.sum((change - made_up_for) ** 2)))
    return found
