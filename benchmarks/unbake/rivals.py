"""Two other ways to store a motion in few numbers: each curve reduced to keys of its own, and poses as sums of a few.

Both work on places and on Euler angles in each joint's best order (with quaternions, a number more for each turn, both
do worse), leave out what never changes, and weigh a turn by how far it reaches: the distance from its joint to the
farthest point that hangs on it. Both are asked for at most a number of stored values and answer with every frame.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from keypose.inbetween.channels import Channels, channels_of
from keypose.inbetween.fitted import basis
from keypose.model import Motion
from keypose.rotations import from_euler

LEAST_REACH_M = 0.03  # on a figure of 1.7 m: also turns that move no joint shall be kept
VALUES_PER_KEY = 4  # a frame, a value, two slopes


@dataclass(frozen=True)
class Columns:
    """The numbers of a motion that change, and how many mm each moves the body by."""

    motion: Motion
    channels: Channels
    values: np.ndarray  # (T, D) file units, radians
    moving: np.ndarray  # (C,) which of all numbers these are
    weights: np.ndarray  # (D,) mm per unit of each

    @staticmethod
    def of(motion: Motion) -> Columns:
        channels = channels_of(motion, "euler")
        every = np.concatenate((channels.translations, channels.rotations), axis=2).reshape(motion.n_frames, -1)
        moving = (every != every[0]).any(axis=0)
        turning = np.repeat(reaches(motion)[:, None], 3, axis=1)
        weights = motion.mm_per_unit * np.concatenate((np.ones_like(turning), turning), axis=1).ravel()
        return Columns(motion, channels, every[:, moving], moving, weights[moving])

    @property
    def still(self) -> int:
        """Numbers that never change."""
        return int((~self.moving).sum())

    def rebuilt(self, values: np.ndarray) -> Motion:
        """The motion with other numbers (T, D) in place of those that change."""
        every = np.concatenate((self.channels.translations, self.channels.rotations), axis=2)
        flat = every.reshape(len(every), -1)
        flat[:, self.moving] = values
        orders = self.channels.rotation_orders or ()
        turns = [from_euler(every[:, joint, 3:], order) for joint, order in enumerate(orders)]
        return replace(self.motion, translations=every[..., :3], rotations=np.stack(turns, axis=1))


def reaches(motion: Motion) -> np.ndarray:
    """(J,) from each joint to the farthest joint or end site below it at rest, in file units."""
    skeleton = motion.skeleton
    rest = skeleton.rest_positions
    least = LEAST_REACH_M * 1000 / motion.mm_per_unit
    far = np.full(skeleton.n_joints, least)
    for point, joint in [
        *enumerate(skeleton.parents.tolist()),
        *enumerate(skeleton.end_joints.tolist(), skeleton.n_joints),
    ]:
        above = joint
        while above >= 0:
            far[above] = max(far[above], float(np.linalg.norm(rest[point] - rest[above])))
            above = int(skeleton.parents[above])
    return far


# Each curve for itself


class Reductions:
    """Every curve of a motion, reduced key by key; the costs are known for any number of stored values.

    From a key on every frame, the key is removed whose removal costs least: the largest error of the cubic, fitted
    anew, that then spans its two neighbours. At last the whole curve becomes one number. All curves share one tolerance
    in mm, the smallest that the values allow.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.paths = [removals(curve) for curve in columns.values.T]
        # the tolerance from which on a key is not needed: never less than that of a key removed before it
        weighed = zip(columns.weights, self.paths, strict=True)
        self.tolerances = [weight * np.maximum.accumulate(np.append(path.costs, path.flat)) for weight, path in weighed]

    def stored(self, tolerance_mm: float) -> int:
        """How many numbers are stored at a tolerance."""
        frames = len(self.columns.values)
        removed = [int(np.searchsorted(each, tolerance_mm, side="right")) for each in self.tolerances]
        curves = [1 if count == frames - 1 else VALUES_PER_KEY * (frames - count) for count in removed]
        return sum(curves) + self.columns.still

    def within(self, stored_values: int) -> tuple[Motion, int]:
        """Every frame of the motion, and how many numbers it takes: at most ``stored_values``."""
        known = np.append(-1.0, np.unique(np.concatenate(self.tolerances)))
        if self.stored(known[-1]) > stored_values:
            raise ValueError(f"{stored_values} values, expected at least {self.stored(known[-1])}: one for each curve")
        low, high = -1, len(known) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.stored(known[middle]) <= stored_values else (middle, high)
        return self.at(known[high])

    def at(self, tolerance_mm: float) -> tuple[Motion, int]:
        """Every frame at a tolerance, and how many numbers it takes."""
        return self.columns.rebuilt(self.curves_at(tolerance_mm)), self.stored(tolerance_mm)

    def curves_at(self, tolerance_mm: float) -> np.ndarray:
        """The curves (T, D) at a tolerance."""
        curves = []
        for curve, path, tolerances in zip(self.columns.values.T, self.paths, self.tolerances, strict=True):
            count = int(np.searchsorted(tolerances, tolerance_mm, side="right"))
            if count > len(path.frames):
                curves.append(np.full(len(curve), (curve.min() + curve.max()) / 2))
            else:
                keys = np.setdiff1d(np.arange(len(curve)), path.frames[:count])
                curves.append(rebuilt_curve(curve, keys))
        return np.stack(curves, axis=1)


@dataclass(frozen=True)
class Removals:
    """The frames at which keys are removed, in this order, and the cost of each removal."""

    frames: np.ndarray
    costs: np.ndarray
    flat: float  # what it costs to store the whole curve as one number


def removals(curve: np.ndarray) -> Removals:
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
    return Removals(np.array(frames, int), np.array(costs), float(np.ptp(curve)) / 2)


def span_error(curve: np.ndarray, i: int, j: int) -> float:
    """The largest error of the cubic fitted from key ``i`` to key ``j``."""
    return float(np.abs(_left(curve, i, j)).max())


def rebuilt_curve(curve: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The fitted cubics through ``keys`` at every frame."""
    rebuilt = curve.copy()
    for i, j in zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True):
        if j - i > 2:
            rebuilt[i + 1 : j] -= _left(curve, i, j)
    return rebuilt


def _left(curve: np.ndarray, i: int, j: int) -> np.ndarray:
    """What the fitted cubic leaves of the inner frames: what the chord leaves, without what two slopes reach of it."""
    gap = j - i
    steps, across = _off_slopes(gap)
    first = curve[i]
    left = curve[i + 1 : j] - first - steps * ((curve[j] - first) / gap)
    return left - across @ (across.T @ left)


@cache
def _off_slopes(gap: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps from the first key (gap - 1,), and an orthonormal basis of what two slopes reach."""
    _, a, b = basis(gap)
    if gap == 2:
        return np.array([1.0]), np.ones((1, 1))  # one frame: a slope reaches it
    return np.arange(1.0, gap), np.linalg.qr(np.stack((a, b), axis=1))[0]


# Poses as sums of a few


def pca(columns: Columns, stored_values: int) -> tuple[Motion, int]:
    """The motion from as many principal poses as fit into ``stored_values``, and how many numbers these are."""
    frames, width = columns.values.shape
    rank = (stored_values - columns.still - width) // (frames + width)
    if rank < 0:
        raise ValueError(f"{stored_values} values, expected at least {width + columns.still}: the mean pose")
    rank = min(rank, frames, width)
    mean = columns.values.mean(axis=0)
    u, sizes, vt = np.linalg.svd((columns.values - mean) * columns.weights, full_matrices=False)
    values = mean + (u[:, :rank] * sizes[:rank]) @ vt[:rank] / columns.weights
    return columns.rebuilt(values), rank * (frames + width) + width + columns.still
