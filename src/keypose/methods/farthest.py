"""Keys by farthest-first traversal.

Tanuwijaya & Ohno, "A Simple and Efficient Method to Extract Keyposes from Mocap Data". The first key is the frame
farthest from the mean of all frames; each next one is the frame with the largest distance to the nearest of the mean
and the keys so far. Therefore the k keys are the first k of the k + 1 keys, and each further key takes one pass over
the frames.

Choices that the paper leaves open, and differences:
- The features are "root_matched", with weight 5 for the height of the root, as in the last experiments of the paper.
"unmatched" is the variant without root matching.
- Of frames that are equally far within rounding, the lowest is selected.
- The search ends when every frame equals a key or the mean; the paper would continue with copies. A motion without
  movement still has one key.
- Smoothing against noise, which the paper recommends, is an option of the features.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import OptionError, format_count
from keypose.methods.base import Method, resolve_max_keys
from keypose.model import Features, Ladder, Selection
from keypose.validation import check_int

BLOCK_FRAMES = 8192  # per block, so that temporaries stay in the cache
MAX_VISITS = 50_000_000  # of frames over all keys if max_keys is None: about a second
MIN_DEFAULT_KEYS = 100  # of long takes if max_keys is None
PRECISION = 1e-8  # relative precision of a square from the expanded form; less precise ones are computed again
TIE_TOLERANCE = 1e-12  # relative difference of squares that count as equal: rounding, which differs between machines
FAR_RADII = 10.0  # distance from the origin, in radii, beyond which the expanded form loses many digits


class FarthestSearch:
    """A farthest-first traversal that can be continued: ``more`` adds keys, with one pass over the frames for each.

    By |f - g|^2 = |f|^2 + |g|^2 - 2 f.g, a key needs one product of a matrix and a vector. Squares that are small
    enough to be affected by rounding, and those of candidates for the next key, are computed again from differences.
    Therefore the keys are exact, the lowest of equally far frames is selected, and a copy of a key has distance 0.
    """

    def __init__(self, features: Features) -> None:
        self._values = values = features.values
        self._mean = values.mean(axis=0)
        self._blocks = [slice(start, start + BLOCK_FRAMES) for start in range(0, len(values), BLOCK_FRAMES)]
        self._squares = np.concatenate([_squared_distances(values[block], self._mean) for block in self._blocks])
        self._is_exact = np.ones(len(values), bool)  # whether a square was computed from differences
        self._peaks = np.array([self._squares[block].max() for block in self._blocks])
        is_far = self._mean @ self._mean > FAR_RADII**2 * self._peaks.max()
        self._points = values - self._mean if is_far else values
        self._norms = np.einsum("td,td->t", self._points, self._points)
        rounding = 4 * (values.shape[1] + 3) * np.finfo(float).eps * float(self._norms.max())
        self._small = rounding / PRECISION
        self._keys: list[int] = []
        self._radii: list[float] = []
        self._next, self._radius = self._find_farthest()

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys so far, most important first."""
        return tuple(self._keys)

    @property
    def radius(self) -> float:
        """The largest distance of a frame to the nearest of the mean and the keys, in units of the features."""
        return self._radius

    def more(self, n: int = 1) -> tuple[int, ...]:
        """Add and return up to ``n`` keys, in order; fewer if every frame equals a key or the mean."""
        before = len(self._keys)
        for _ in range(check_int("n", n, min_value=1)):
            if self._keys and self._radius == 0:
                break
            self._visit(self._next)
            self._keys.append(self._next)
            self._next, radius = self._find_farthest()
            self._radius = min(self._radius, radius)  # it must not grow by rounding
            self._radii.append(self._radius)
        return tuple(self._keys[before:])

    def ladder(self) -> Ladder:
        """Return the ladder up to the keys so far; the cost is the radius."""
        if not self._keys:
            raise OptionError("no keys yet", hint="ask for some with more()")
        return Ladder.from_order("farthest", len(self._values), self._keys, self._radii)

    def selection(self) -> Selection:
        """Return the keys so far, ranked."""
        return self.ladder().at(len(self._keys))

    def __repr__(self) -> str:
        return (
            f"FarthestSearch({format_count(len(self._keys), 'key')} of "
            f"{format_count(len(self._values), 'frame')}, radius {self._radius:g})"
        )

    def _visit(self, key: int) -> None:
        """Update the squares with a new key."""
        self._squares[key] = 0.0
        product, norm = -2.0 * self._points[key], self._norms[key]
        for b, block in enumerate(self._blocks):
            new_squares = self._points[block] @ product
            new_squares += self._norms[block]
            new_squares += norm
            if block.start <= key < block.stop:
                new_squares[key - block.start] = np.inf
            if new_squares[new_squares.argmin()] < self._small:
                small = np.flatnonzero(new_squares < self._small)
                new_squares[small] = _squared_distances(self._values[block][small], self._values[key])
            squares = self._squares[block]
            self._is_exact[block] &= squares <= new_squares
            np.minimum(squares, new_squares, out=squares)
            self._peaks[b] = squares[squares.argmax()]  # faster than max()

    def _find_farthest(self) -> tuple[int, float]:
        """Return the frame with the largest square, the lowest of ties, and its distance."""
        max_square = self._peaks[self._peaks.argmax()]
        threshold = max_square * (1 - 4 * PRECISION)
        blocks = [self._blocks[b] for b in (self._peaks >= threshold).nonzero()[0]]
        rivals = np.concatenate([(self._squares[block] >= threshold).nonzero()[0] + block.start for block in blocks])
        if len(rivals) == 1 or max_square == 0:
            return int(rivals[0]), math.sqrt(max_square)
        inexact = rivals[~self._is_exact[rivals]]
        for start in range(0, len(inexact), BLOCK_FRAMES):
            frames = inexact[start : start + BLOCK_FRAMES]
            self._squares[frames] = self._exact_squares(frames)
            self._is_exact[frames] = True
        squares = self._squares[rivals]
        max_square = squares.max()
        return int(rivals[(squares >= max_square * (1 - TIE_TOLERANCE)).argmax()]), math.sqrt(max_square)

    def _exact_squares(self, frames: NDArray[np.intp]) -> Floats:
        """Return the squares of ``frames`` from differences; loops over frames or keys, whichever are fewer."""
        rows, keys = self._values[frames], self._values[self._keys]
        squares = _squared_distances(rows, self._mean)
        if len(rows) < len(keys):
            return np.minimum(squares, [_squared_distances(keys, row).min() for row in rows])
        for key in keys:
            np.minimum(squares, _squared_distances(rows, key), out=squares)
        return squares


def farthest(features: Features, max_keys: int | None = None) -> Ladder:
    """Return the keys: each is the frame farthest from the mean and all keys before it.

    The cost is the largest remaining distance of a frame to the nearest key or the mean. The default is every number of
    keys; for long takes as many as can be computed in some seconds, at least 100. O(keys frames columns).
    """
    n = features.n_frames
    search = FarthestSearch(features)
    search.more(resolve_max_keys(max_keys, n, default=max(MIN_DEFAULT_KEYS, MAX_VISITS // n)))
    return search.ladder()


def _squared_distances(points: Floats, point: Floats) -> Floats:
    offsets = points - point
    squares: Floats = np.einsum("td,td->t", offsets, offsets)
    return squares


METHOD = Method(
    name="farthest",
    summary="repeatedly selects the pose that is least similar to the keys so far",
    paper="Tanuwijaya & Ohno, A Simple and Efficient Method to Extract Keyposes from Mocap Data",
    ladder=farthest,
    feature_kind="root_matched",
    joints="major",
    declarations={},
)
