"""The numbers of keys at which methods are compared: those of the table, and more for a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CURVE_POINTS = 12
MAX_CURVE_KEYS = 1000  # more keys add little to the curve and take long to select


class Budget(NamedTuple):
    """A number of keys, and the percentage of frames that it removes."""

    series: str  # "table" or "curve"
    removed_percent: float
    keys: int


def build_budgets(n_frames: int, removed_percent: Sequence[float], *, curves: bool) -> tuple[Budget, ...]:
    """Return the budgets of the table in order, then the others of the curve, from few keys to many."""
    table = [Budget("table", percent, count_keys(n_frames, percent)) for percent in removed_percent]
    table_counts = {budget.keys for budget in table}
    grid = [keys for keys in curve_keys(n_frames) if keys not in table_counts] if curves else []
    return (*table, *(Budget("curve", percent_removed(n_frames, keys), keys) for keys in grid))


def count_keys(n_frames: int, removed_percent: float) -> int:
    """Return how many keys remain when this percentage of frames is removed: at least two, if there are two frames."""
    return min(n_frames, max(2, round(n_frames * (1 - removed_percent / 100))))


def percent_removed(n_frames: int, keys: int) -> float:
    """Return the percentage of frames that are not keys."""
    return 100.0 * (n_frames - keys) / n_frames


def curve_keys(n_frames: int) -> list[int]:
    """Return numbers of keys from 1 % to 25 % of the frames, evenly spaced on a logarithmic scale.

    With more keys, fitted curves pass through nearly every frame.
    """
    min_keys = max(2, n_frames // 100)
    max_keys = max(min_keys, min(n_frames // 4, MAX_CURVE_KEYS))
    counts = np.geomspace(min_keys, max_keys, CURVE_POINTS).round().astype(int)
    return sorted({min(keys, n_frames) for keys in counts.tolist()})
