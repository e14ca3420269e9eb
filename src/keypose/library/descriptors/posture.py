"""What a body does, frame by frame, whoever it is and wherever it goes: the ground on which descriptors stand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.arrays import Floats, Frozen
from keypose.library.canonical import FPS, INDEX, Canonical

FEET = tuple(INDEX[f"{side}_{part}"] for side in ("left", "right") for part in ("foot", "toes"))
FLOOR_PERCENTILE = 5.0


@dataclass(frozen=True, eq=False)
class Posture(Frozen):
    """A body seen from its own hips and heading: X to its left, Y up, Z ahead; metres, seconds, radians."""

    positions: Floats  # (T, 17, 3) from the hips
    travel: Floats  # (T, 3) velocity of the hips
    turning: Floats  # (T,) change of heading per second, to the left
    heights: Floats  # (T,) of the hips above the clip's floor

    @cached_property
    def velocities(self) -> Floats:
        """(T, 17, 3) of the joints as the body sees them."""
        return per_second(self.positions)


def posture(body: Canonical) -> Posture:
    """The posture of each frame of ``body``."""
    p = body.positions
    floor = np.percentile(p[:, FEET, 1].min(axis=1), FLOOR_PERCENTILE)
    return Posture(
        positions=turned(p - p[:, :1], -body.heading[:, None]),
        travel=turned(per_second(body.root), -body.heading),
        turning=per_second(body.heading),
        heights=p[:, 0, 1] - floor,
    )


def turned(points: Floats, angles: Floats) -> Floats:
    """Points (..., 3) turned about Y by ``angles`` (...), to the left."""
    c, s = np.cos(angles), np.sin(angles)
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack((c * x + s * z, y, c * z - s * x), axis=-1)


def per_second(values: Floats) -> Floats:
    """How fast ``values`` (T, ...) change; 0 for a single frame."""
    return np.asarray(np.gradient(values, axis=0) * FPS) if len(values) > 1 else np.zeros_like(values)
