"""At how many keys ways are compared: those of the table, and those between them that draw a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CURVE_POINTS = 12
MOST_FOR_CURVE = 1000  # keys: beyond them curves say little, and choosing takes long


class Budget(NamedTuple):
    """A number of keys and what it leaves out."""

    part: str  # "table" or "curve"
    removed_percent: float
    keys: int


def budgets_of(n_frames: int, removed_percent: Sequence[float], *, curves: bool) -> tuple[Budget, ...]:
    """Those of the table in their order, then those of the curve that the table has not, from few keys to many."""
    table = [Budget("table", percent, keys_left(n_frames, percent)) for percent in removed_percent]
    known = {budget.keys for budget in table}
    grid = [keys for keys in curve_keys(n_frames) if keys not in known] if curves else []
    return (*table, *(Budget("curve", removed(n_frames, keys), keys) for keys in grid))


def keys_left(n_frames: int, removed_percent: float) -> int:
    """How many keys are left when so many percent of the frames are removed: at least two, of a clip that has them."""
    return min(n_frames, max(2, round(n_frames * (1 - removed_percent / 100))))


def removed(n_frames: int, keys: int) -> float:
    """The percentage of the frames that are no keys."""
    return 100.0 * (n_frames - keys) / n_frames


def curve_keys(n_frames: int) -> list[int]:
    """Numbers of keys from one frame in a hundred to one in four, evenly on a logarithmic scale.

    With more keys than that, fitted curves go through nearly every frame.
    """
    least = max(2, n_frames // 100)
    most = max(least, min(n_frames // 4, MOST_FOR_CURVE))
    spaced = np.geomspace(least, most, CURVE_POINTS).round().astype(int)
    return sorted({min(keys, n_frames) for keys in spaced.tolist()})
