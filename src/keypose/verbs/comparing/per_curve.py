"""A reference: each curve reduced to keys of its own, as animation programs do when they simplify curves."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.inbetween.fitted import basis
from keypose.model import Motion
from keypose.verbs.comparing.columns import Columns

VALUES_PER_KEY = 4  # a frame, a value, two slopes
REACHED = 3  # frames from key to key: two slopes lead the cubic through the two frames between
SPANS_KEPT = 4096


class PerCurve:
    """Every curve of a motion, reduced key by key; the costs are known for any number of stored values.

    From a key on every frame, the key is removed whose removal costs least: the largest error of the cubic, fitted
    anew, that then spans its two neighbours. At last the whole curve becomes one number. All curves share one tolerance
    in mm, the smallest that the values allow.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.paths = [removals(curve) for curve in np.ascontiguousarray(columns.values.T)]
        # the tolerance from which on a key is not needed: never less than that of a key removed before it
        weighed = zip(columns.weights, self.paths, strict=True)
        self.tolerances = [weight * np.maximum.accumulate(np.append(path.costs, path.flat)) for weight, path in weighed]

    def stored(self, tolerance_mm: float) -> int:
        """How many numbers are stored at a tolerance: 4 for each key, 1 for a curve that is flat or never changes."""
        frames = len(self.columns.values)
        removed = [int(np.searchsorted(each, tolerance_mm, side="right")) for each in self.tolerances]
        curves = [1 if count == frames - 1 else VALUES_PER_KEY * (frames - count) for count in removed]
        return sum(curves) + self.columns.still

    def within(self, stored_values: int) -> tuple[Motion, int]:
        """Every frame of the motion, and how many numbers it takes: at most ``stored_values``."""
        known = np.append(-1.0, np.unique(np.concatenate([np.zeros(1), *self.tolerances])))
        if self.stored(known[-1]) > stored_values:
            least = self.stored(known[-1])
            raise OptionError(f"{stored_values} values, expected at least {least}: one for each curve")
        low, high = -1, len(known) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.stored(known[middle]) <= stored_values else (middle, high)
        return self.columns.rebuilt(self.curves_at(known[high])), self.stored(known[high])

    def curves_at(self, tolerance_mm: float) -> Floats:
        """The curves (T, D) at a tolerance."""
        curves = np.empty_like(self.columns.values)
        for column, (path, tolerances) in enumerate(zip(self.paths, self.tolerances, strict=True)):
            curve = self.columns.values[:, column]
            count = int(np.searchsorted(tolerances, tolerance_mm, side="right"))
            if count > len(path.frames):
                curves[:, column] = (curve.min() + curve.max()) / 2
            else:
                keys = np.setdiff1d(np.arange(len(curve)), path.frames[:count])
                curves[:, column] = rebuilt_curve(curve, keys.astype(np.int32))
        return curves


@dataclass(frozen=True)
class Removals:
    """The frames at which keys are removed, in this order, and the cost of each removal."""

    frames: Ints
    costs: Floats
    flat: float  # what it costs to store the whole curve as one number


def removals(curve: Floats) -> Removals:
    """Removes keys from one curve (T,), the cheapest first, until the two ends are left."""
    n = len(curve)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    latest = [0] * n  # an entry of the heap counts if it is the latest of its key
    heap = [(span_error(curve, k - 1, k + 1), k, 0) for k in range(1, n - 1)]
    heapq.heapify(heap)
    frames, costs = [], []
    while heap:
        cost, key, age = heapq.heappop(heap)
        if age != latest[key]:
            continue
        frames.append(key)
        costs.append(cost)
        latest[key] = -1
        i, j = before[key], after[key]
        after[i], before[j] = j, i
        for near in (i, j):
            if 0 < near < n - 1:
                latest[near] += 1
                heapq.heappush(heap, (span_error(curve, before[near], after[near]), near, latest[near]))
    return Removals(np.array(frames, np.int32), np.array(costs, float), float(np.ptp(curve)) / 2)


def span_error(curve: Floats, i: int, j: int) -> float:
    """The largest error of the cubic fitted from key ``i`` to key ``j``."""
    return 0.0 if j - i <= REACHED else float(np.abs(_left(curve, i, j)).max())


def rebuilt_curve(curve: Floats, keys: Ints) -> Floats:
    """The fitted cubics through ``keys`` at every frame."""
    rebuilt = curve.copy()
    for i, j in zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True):
        if j - i > REACHED:
            rebuilt[i + 1 : j] -= _left(curve, i, j)
    return rebuilt


def _left(curve: Floats, i: int, j: int) -> Floats:
    """What the fitted cubic leaves of the inner frames: what the chord leaves, without what two slopes reach of it."""
    gap = j - i
    steps, across = _off_slopes(gap)
    first = curve[i]
    left = curve[i + 1 : j] - first - steps * ((curve[j] - first) / gap)
    rest: Floats = left - across @ (across.T @ left)
    return rest


@lru_cache(maxsize=SPANS_KEPT)
def _off_slopes(gap: int) -> tuple[Floats, Floats]:
    """Steps from the first key (gap - 1,), and an orthonormal basis of what two slopes reach."""
    _, a, b = basis(gap)
    return np.arange(1.0, gap), np.linalg.qr(np.stack((a, b), axis=1))[0]
