"""The motion of a body relative to its own hips and heading: the input of all descriptors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.arrays import Floats, Frozen
from keypose.library.canonical import FPS, INDEX, CanonicalBody

FEET = tuple(INDEX[f"{side}_{part}"] for side in ("left", "right") for part in ("foot", "toes"))
FLOOR_PERCENTILE = 5.0


@dataclass(frozen=True, eq=False)
class Posture(Frozen):
    """A body in the frame of its hips and heading: X to its left, Y up, Z ahead; metres, seconds, radians."""

    positions: Floats  # (T, 17, 3) from the hips
    travel: Floats  # (T, 3) velocity of the hips
    turning: Floats  # (T,) change of heading per second, to the left
    heights: Floats  # (T,) of the hips above the clip's floor

    @cached_property
    def velocities(self) -> Floats:
        """Velocities of the joints in the body's frame, (T, 17, 3)."""
        return per_second(self.positions)


def posture(body: CanonicalBody) -> Posture:
    """Return the posture of each frame of ``body``."""
    p = body.positions
    floor = np.percentile(p[:, FEET, 1].min(axis=1), FLOOR_PERCENTILE)
    return Posture(
        positions=rotate_about_y(p - p[:, :1], -body.heading[:, None]),
        travel=rotate_about_y(per_second(body.root), -body.heading),
        turning=per_second(body.heading),
        heights=p[:, 0, 1] - floor,
    )


def rotate_about_y(points: Floats, angles: Floats) -> Floats:
    """Return points (..., 3) rotated about Y by ``angles`` (...), to the left."""
    c, s = np.cos(angles), np.sin(angles)
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack((c * x + s * z, y, c * z - s * x), axis=-1)


def per_second(values: Floats) -> Floats:
    """Return the rate of change of ``values`` (T, ...); 0 for a single frame."""
    return np.asarray(np.gradient(values, axis=0) * FPS) if len(values) > 1 else np.zeros_like(values)
