"""Parts of a body as arrays, and their extents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.pictures.figure.body import Body, Kind, Part
from keypose.pictures.figure.hulls import ABSENT

# Depth offsets in heights for painting: a hand in front of what it touches, a neck behind the chest.
DEPTH_BIAS: dict[Kind, float] = {"trunk": -0.012, "core": -0.05, "nose": 0.03, "hand": 0.012}
STRIPED_KINDS: tuple[Kind, ...] = ("limb", "hand", "foot", "marker")


@dataclass(frozen=True, eq=False)
class Solids(Frozen):
    """Parts of a body, padded to the same number of balls; in heights of the figure."""

    points: Ints  # (N, C)
    radii: Floats  # (N, C), ABSENT beyond the balls of a part
    counts: Ints  # (N,) number of balls
    bias: Floats  # (N,) towards the viewer
    styles: tuple[tuple[str, bool], ...]  # side, and whether it is striped

    @property
    def ball_radii(self) -> Floats:
        """Radii (N, C), 0 for absent balls."""
        return np.maximum(self.radii, 0.0)

    def boxes(self, points_2d: Floats) -> Floats:
        """Return min and max x and y (F, 2, 2) of figures with points ``points_2d`` (F, P, 2 or more)."""
        centres, radii = points_2d[:, self.points, :2], self.ball_radii[..., None]
        return np.stack(((centres - radii).min(axis=(1, 2)), (centres + radii).max(axis=(1, 2))), axis=1)

    def lowest(self, heights: Floats) -> Floats:
        """Return the lowest height (F,) of figures whose points have ``heights`` (F, P)."""
        low: Floats = (heights[:, self.points] - self.ball_radii).min(axis=(1, 2))
        return low


def build_solids(body: Body) -> Solids:
    """Return the parts of ``body`` in heights."""
    max_balls = max(len(part.points) for part in body.parts)
    return Solids(
        points=np.array([_pad(part.points, max_balls, part.points[0]) for part in body.parts], np.int32),
        radii=np.array([_pad([r / body.size for r in part.radii], max_balls, ABSENT) for part in body.parts]),
        counts=np.array([len(part.points) for part in body.parts], np.int32),
        bias=np.array([DEPTH_BIAS.get(part.kind, 0.0) for part in body.parts]),
        styles=tuple((part.side, _is_striped(part)) for part in body.parts),
    )


def _pad(values: list[float] | tuple[int, ...], length: int, filler: float) -> list[float]:
    return [*values, *[filler] * (length - len(values))]


def _is_striped(part: Part) -> bool:
    return part.side == "right" and part.kind in STRIPED_KINDS
