"""Reference of the curvatures: finite differences of every point by every number, dense least squares."""

from __future__ import annotations

import numpy as np

from reference import naive_storage_error

STEP = 1e-5  # radians or file units


def points_mm(clip, values: list[float], mm_per_unit: float) -> np.ndarray:
    """Return the coordinates of all points of a pose, concatenated."""
    translations, rotations = clip.frame(values)
    points = naive_storage_error.points(
        clip.skeleton, np.array([translations]), np.array([rotations]), 30.0 / mm_per_unit
    )
    return mm_per_unit * np.concatenate([point for *_, point in points])


def curvatures(clip, values: list[float], mm_per_unit: float) -> list[float]:
    """Return for each track the squared movement of the points by its number, after compensation by all later numbers."""
    changes = []
    for k in range(len(values)):
        forward, backward = ([*values[:k], values[k] + sign * STEP, *values[k + 1 :]] for sign in (1, -1))
        changes.append((points_mm(clip, forward, mm_per_unit) - points_mm(clip, backward, mm_per_unit)) / (2 * STEP))
    result = []
    for k, change in enumerate(changes):
        later = np.array(changes[k + 1 :]).reshape(-1, len(change)).T
        compensated = later @ np.linalg.lstsq(later, change, rcond=1e-6)[0] if later.size else 0.0
        result.append(float(np.sum((change - compensated) ** 2)))
    return result
