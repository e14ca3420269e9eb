"""The parts of a body in arrays, and what space they take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.pictures.figure.body import Body, Kind, Part
from keypose.pictures.figure.hulls import NOWHERE

# How much nearer than it is a part is painted, in heights: a hand before what it touches, a neck behind the chest.
BIAS: dict[Kind, float] = {"trunk": -0.012, "core": -0.05, "nose": 0.03, "hand": 0.012}
STRIPED: tuple[Kind, ...] = ("limb", "hand", "foot", "marker")


@dataclass(frozen=True, eq=False)
class Solids(Frozen):
    """The parts of a body, each padded to as many balls as the largest has; in heights of the figure."""

    points: Ints  # (N, C)
    radii: Floats  # (N, C), NOWHERE where a part has fewer balls
    counts: Ints  # (N,) of balls
    bias: Floats  # (N,) towards the viewer
    looks: tuple[tuple[str, bool], ...]  # side, and whether it wears the stripe of the right side

    @property
    def there(self) -> Floats:
        """Radii (N, C), 0 where there is no ball."""
        return np.maximum(self.radii, 0.0)

    def boxes(self, seen: Floats) -> Floats:
        """Least and greatest x and y (F, 2, 2) of figures whose points are ``seen`` (F, P, 2 or more)."""
        centres, radii = seen[:, self.points, :2], self.there[..., None]
        return np.stack(((centres - radii).min(axis=(1, 2)), (centres + radii).max(axis=(1, 2))), axis=1)

    def lowest(self, heights: Floats) -> Floats:
        """The height (F,) of the lowest place of figures whose points have ``heights`` (F, P)."""
        low: Floats = (heights[:, self.points] - self.there).min(axis=(1, 2))
        return low


def solids_of(body: Body) -> Solids:
    """The parts of ``body``, in heights."""
    most = max(len(part.points) for part in body.parts)
    return Solids(
        points=np.array([_padded(part.points, most, part.points[0]) for part in body.parts], np.int32),
        radii=np.array([_padded([r / body.size for r in part.radii], most, NOWHERE) for part in body.parts]),
        counts=np.array([len(part.points) for part in body.parts], np.int32),
        bias=np.array([BIAS.get(part.kind, 0.0) for part in body.parts]),
        looks=tuple((part.side, _is_striped(part)) for part in body.parts),
    )


def _padded(values: list[float] | tuple[int, ...], length: int, filler: float) -> list[float]:
    return [*values, *[filler] * (length - len(values))]


def _is_striped(part: Part) -> bool:
    return part.side == "right" and part.kind in STRIPED
