"""References for a comparison that have no whole-pose keys: keys per curve, and principal poses."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import Channels, build_channels, hermite_basis
from keypose.errors import OptionError, format_count
from keypose.model import Motion
from keypose.rotations import from_euler

VALUES_PER_KEY = 4  # a frame, a value, two tangents
EXACT_GAP_FRAMES = 3  # frames between keys: with two tangents the cubic passes exactly through the two inner frames
CACHED_SPANS = 4096
MIN_REACH_MM = 30.0  # so that rotations that move no joint are stored, too


class PerCurve:
    """All curves of a motion, reduced key by key; the costs are known for any number of stored values.

    Starting with a key on every frame, the key with the lowest removal cost is removed: the largest error of the cubic
    that is then fitted between its neighbours. In the end the whole curve becomes one number. All curves share one
    tolerance in mm, the smallest that the number of values allows.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.paths = [remove_keys(curve) for curve in np.ascontiguousarray(columns.values.T)]
        # the tolerance above which a key is not needed; not below that of keys removed before it
        weighted_paths = zip(columns.weights, self.paths, strict=True)
        self.tolerances = [
            weight * np.maximum.accumulate(np.append(path.costs, path.flat)) for weight, path in weighted_paths
        ]

    def count_values(self, tolerance_mm: float) -> int:
        """Return how many numbers are stored at a tolerance: 4 per key, and 1 for a curve that is constant or flat
        within the tolerance."""
        frames = len(self.columns.values)
        n_removed = [int(np.searchsorted(each, tolerance_mm, side="right")) for each in self.tolerances]
        curves = [1 if count == frames - 1 else VALUES_PER_KEY * (frames - count) for count in n_removed]
        return sum(curves) + self.columns.n_still

    def rebuild_within(self, stored_values: int) -> tuple[Motion, int]:
        """Return the rebuilt motion and the number of stored values: at most ``stored_values``."""
        tolerances = np.append(-1.0, np.unique(np.concatenate([np.zeros(1), *self.tolerances])))
        if self.count_values(tolerances[-1]) > stored_values:
            min_values = self.count_values(tolerances[-1])
            raise OptionError(
                format_count(stored_values, "value"), expected=f"at least {min_values}: one for each curve"
            )
        low, high = -1, len(tolerances) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.count_values(tolerances[middle]) <= stored_values else (middle, high)
        return self.columns.rebuild(self.rebuild_curves(tolerances[high])), self.count_values(tolerances[high])

    def rebuild_curves(self, tolerance_mm: float) -> Floats:
        """Return the curves (T, D) at a tolerance."""
        curves = np.empty_like(self.columns.values)
        for column, (path, tolerances) in enumerate(zip(self.paths, self.tolerances, strict=True)):
            curve = self.columns.values[:, column]
            count = int(np.searchsorted(tolerances, tolerance_mm, side="right"))
            if count > len(path.frames):
                curves[:, column] = (curve.min() + curve.max()) / 2
            else:
                keys = np.setdiff1d(np.arange(len(curve)), path.frames[:count])
                curves[:, column] = rebuild_curve(curve, keys.astype(np.int32))
        return curves


@dataclass(frozen=True)
class Removals:
    """The frames of removed keys, in order of removal, and the cost of each removal."""

    frames: Ints
    costs: Floats
    flat: float  # cost of storing the whole curve as one number


def remove_keys(curve: Floats) -> Removals:
    """Remove keys from one curve (T,), the cheapest first, until only the two ends remain."""
    n = len(curve)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    latest = [0] * n  # an entry of the heap is valid if it is the latest one of its key
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
    """Return the largest error of the cubic fitted from key ``i`` to key ``j``."""
    return 0.0 if j - i <= EXACT_GAP_FRAMES else float(np.abs(_fit_error(curve, i, j)).max())


def rebuild_curve(curve: Floats, keys: Ints) -> Floats:
    """Return the fitted cubics through ``keys`` at every frame."""
    rebuilt = curve.copy()
    for i, j in zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True):
        if j - i > EXACT_GAP_FRAMES:
            rebuilt[i + 1 : j] -= _fit_error(curve, i, j)
    return rebuilt


def _fit_error(curve: Floats, i: int, j: int) -> Floats:
    """Return the residual of the fitted cubic at the inner frames: the chord's, minus its part in the tangent basis."""
    gap = j - i
    steps, basis = _tangent_basis(gap)
    first = curve[i]
    error = curve[i + 1 : j] - first - steps * ((curve[j] - first) / gap)
    rest: Floats = error - basis @ (basis.T @ error)
    return rest


@lru_cache(maxsize=CACHED_SPANS)
def _tangent_basis(gap: int) -> tuple[Floats, Floats]:
    """Return frames since the first key (gap - 1,), and an orthonormal basis of the curves of two tangents."""
    _, a, b = hermite_basis(gap)
    return np.arange(1.0, gap), np.linalg.qr(np.stack((a, b), axis=1))[0]


class PrincipalPoses:
    """The principal poses of a motion, weighted by how many mm each number moves the body."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.mean = columns.values.mean(axis=0)
        weighted = (columns.values - self.mean) * columns.weights
        self.amounts, self.sizes, self.poses = np.linalg.svd(weighted, full_matrices=False)

    def count_values(self, rank: int) -> int:
        """Return the stored values of ``rank`` poses: poses, coefficients per frame, the mean, constant numbers."""
        frames, width = self.columns.values.shape
        return int(rank * (frames + width) + width + self.columns.n_still)

    def rebuild_within(self, stored_values: int) -> tuple[Motion, int]:
        """Return the motion rebuilt from as many poses as fit into ``stored_values``, and the count of its numbers."""
        if self.count_values(0) > stored_values:
            raise OptionError(
                format_count(stored_values, "value"), expected=f"at least {self.count_values(0)}: the mean pose"
            )
        frames, width = self.columns.values.shape
        rank = min((stored_values - self.count_values(0)) // (frames + width), len(self.sizes))
        shares = self.amounts[:, :rank] * self.sizes[:rank]
        values = self.mean + shares @ self.poses[:rank] / self.columns.weights
        return self.columns.rebuild(values), self.count_values(rank)


@dataclass(frozen=True)
class Columns:
    """The numbers of a motion that change, and how many mm each moves the body.

    They are translations, and Euler angles in the best order of each joint: with quaternions, which have one number
    more, both references have larger errors. The weight of a rotation is the distance from its joint to the farthest
    descendant.
    """

    motion: Motion
    channels: Channels
    values: Floats  # (T, D) file units, radians
    is_moving: Bools  # (C,) mask over all numbers
    weights: Floats  # (D,) mm per unit of each

    @staticmethod
    def build(motion: Motion) -> Columns:
        """Return the columns of a motion; the figure must have a height."""
        channels = build_channels(motion, "euler")
        every = np.concatenate((channels.translations, channels.rotations), axis=2).reshape(motion.n_frames, -1)
        is_moving = (every != every[0]).any(axis=0)
        rotation_weights = np.repeat(compute_reaches_mm(motion)[:, None], 3, axis=1)
        weights = np.concatenate((np.full_like(rotation_weights, motion.mm_per_unit), rotation_weights), axis=1).ravel()
        return Columns(motion, channels, every[:, is_moving], is_moving, weights[is_moving])

    @property
    def n_still(self) -> int:
        """Return how many numbers never change: each is stored once."""
        return int((~self.is_moving).sum())

    def rebuild(self, values: Floats) -> Motion:
        """Return the motion with other numbers (T, D) in place of those that change."""
        every = np.concatenate((self.channels.translations, self.channels.rotations), axis=2)
        every.reshape(len(every), -1)[:, self.is_moving] = values
        orders = self.channels.rotation_orders or ()
        rotations = [from_euler(every[:, joint, 3:], order) for joint, order in enumerate(orders)]
        translations = np.ascontiguousarray(every[..., :3])
        return replace(self.motion, translations=freeze(translations), rotations=freeze(np.stack(rotations, axis=1)))


def compute_reaches_mm(motion: Motion) -> Floats:
    """Return the distance (J,) from each joint to its farthest descendant joint or end site in the rest pose."""
    skeleton = motion.skeleton
    rest_positions = motion.mm_per_unit * skeleton.rest_positions
    reaches = np.full(skeleton.n_joints, MIN_REACH_MM)
    parents = skeleton.parents.tolist()
    for point, joint in enumerate((*parents, *skeleton.end_joints.tolist())):
        ancestors = []
        while joint >= 0:
            ancestors.append(joint)
            joint = parents[joint]
        if ancestors:
            reaches[ancestors] = np.maximum(
                reaches[ancestors], np.linalg.norm(rest_positions[point] - rest_positions[ancestors], axis=1)
            )
    return reaches
