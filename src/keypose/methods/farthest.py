"""Keys by farthest-first traversal.

Tanuwijaya & Ohno, "A Simple and Efficient Method to Extract Keyposes from Mocap Data". The first key is the frame
farthest from the mean of all frames; each next one is the frame farthest from whatever is nearest to it, the mean or
a key. So the keys for k are the first k of those for k + 1, and one key more costs one pass over the frames.

Where the paper leaves a choice, or we differ:
- Roots match, with weight 5 on the height of the root, as in its last experiments: the recipe "root_matched".
  "unmatched" is the form without.
- Of frames equally far, to within rounding, the lowest one is taken.
- The search ends when every frame equals a key or the mean; the paper would go on with copies. The first key is
  taken even so: a motion without movement has one.
- Smoothing against noise, the paper's advice, is an option of the features.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.methods.base import Method, budget
from keypose.model import Features, Ladder, Selection
from keypose.options import whole

BLOCK_FRAMES = 8192  # visited at a time, so that what is made on the way stays in the cache
MOST_VISITS = 50_000_000  # of frames, over all keys, where nobody says how many keys: about a second
LEAST_KEYS = 100  # that a long take gets all the same
PRECISION = 1e-8  # of a square from the expanded form; whatever might be worse is computed again
EQUAL = 1e-12  # squares that differ by less of themselves tie: it is rounding, and machines round differently
FAR = 10.0  # radii from the origin at which the expanded form would lose many digits


class FarthestSearch:
    """The traversal so far; ``more`` adds keys at one pass over the frames each.

    |f - g|^2 = |f|^2 + |g|^2 - 2 f.g takes one product of matrix and vector a key. Squares so small that rounding
    would show in them, and those that rival for the next key, are computed again from differences: so the
    keys are the ones that differences give, ties go to the lowest frame, and a copy of a key has distance 0.
    """

    def __init__(self, features: Features) -> None:
        self._values = values = features.values
        self._mean = values.mean(axis=0)
        self._blocks = [slice(start, start + BLOCK_FRAMES) for start in range(0, len(values), BLOCK_FRAMES)]
        self._squares = np.concatenate([_squares(values[block], self._mean) for block in self._blocks])
        self._is_exact = np.ones(len(values), bool)  # whether a square comes from differences
        self._peaks = np.array([self._squares[block].max() for block in self._blocks])
        is_far = self._mean @ self._mean > FAR**2 * self._peaks.max()
        self._points = values - self._mean if is_far else values
        self._norms = np.einsum("td,td->t", self._points, self._points)
        rounding = 4 * (values.shape[1] + 3) * np.finfo(float).eps * float(self._norms.max())
        self._small = rounding / PRECISION
        self._keys: list[int] = []
        self._radii: list[float] = []
        self._next, self._radius = self._farthest()

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys so far, most important first."""
        return tuple(self._keys)

    @property
    def radius(self) -> float:
        """How far the farthest frame is from all of the mean and the keys, in units of the features."""
        return self._radius

    def more(self, n: int = 1) -> tuple[int, ...]:
        """Up to ``n`` keys more, in order; fewer when every frame equals a key or the mean."""
        before = len(self._keys)
        for _ in range(whole("n", n, least=1)):
            if self._keys and self._radius == 0:
                break
            self._visit(self._next)
            self._keys.append(self._next)
            self._next, radius = self._farthest()
            self._radius = min(self._radius, radius)  # rounding never makes it grow
            self._radii.append(self._radius)
        return tuple(self._keys[before:])

    def ladder(self) -> Ladder:
        """Every number of keys up to those so far; the cost is the radius that was left."""
        if not self._keys:
            raise OptionError("no keys yet: ask for some with more()")
        return Ladder.nested("farthest", len(self._values), self._keys, self._radii)

    def selection(self) -> Selection:
        """The keys so far, ranked."""
        return self.ladder().at(len(self._keys))

    def __repr__(self) -> str:
        return f"FarthestSearch({len(self._keys)} keys of {len(self._values)} frames, radius {self._radius:g})"

    def _visit(self, key: int) -> None:
        """Takes a new key into the squares."""
        self._squares[key] = 0.0
        product, norm = -2.0 * self._points[key], self._norms[key]
        for b, block in enumerate(self._blocks):
            found = self._points[block] @ product
            found += self._norms[block]
            found += norm
            if block.start <= key < block.stop:
                found[key - block.start] = np.inf
            if found[found.argmin()] < self._small:
                small = np.flatnonzero(found < self._small)
                found[small] = _squares(self._values[block][small], self._values[key])
            squares = self._squares[block]
            self._is_exact[block] &= squares <= found
            np.minimum(squares, found, out=squares)
            self._peaks[b] = squares[squares.argmax()]  # faster than max()

    def _farthest(self) -> tuple[int, float]:
        """The frame with the greatest square, the lowest of equals, and its distance."""
        greatest = self._peaks[self._peaks.argmax()]
        least = greatest * (1 - 4 * PRECISION)
        blocks = [self._blocks[b] for b in (self._peaks >= least).nonzero()[0]]
        rivals = np.concatenate([(self._squares[block] >= least).nonzero()[0] + block.start for block in blocks])
        if len(rivals) == 1 or greatest == 0:
            return int(rivals[0]), math.sqrt(greatest)
        inexact = rivals[~self._is_exact[rivals]]
        for start in range(0, len(inexact), BLOCK_FRAMES):
            frames = inexact[start : start + BLOCK_FRAMES]
            self._squares[frames] = self._from_differences(frames)
            self._is_exact[frames] = True
        squares = self._squares[rivals]
        greatest = squares.max()
        return int(rivals[(squares >= greatest * (1 - EQUAL)).argmax()]), math.sqrt(greatest)

    def _from_differences(self, frames: NDArray[np.intp]) -> Floats:
        """The squares of some frames, computed anew; the loop goes over whatever is fewer, frames or keys."""
        rows, keys = self._values[frames], self._values[self._keys]
        squares = _squares(rows, self._mean)
        if len(rows) < len(keys):
            return np.minimum(squares, [_squares(keys, row).min() for row in rows])
        for key in keys:
            np.minimum(squares, _squares(rows, key), out=squares)
        return squares


def farthest(features: Features, max_keys: int | None = None) -> Ladder:
    """Each key is the frame farthest from the mean and from all keys before it.

    The cost is the largest distance that is left: no frame is farther from its nearest key or from the mean. By
    default every number of keys; of long takes as many as some seconds allow, at least 100. O(keys frames columns).
    """
    n = features.n_frames
    search = FarthestSearch(features)
    search.more(budget(max_keys, n, default=max(LEAST_KEYS, MOST_VISITS // n)))
    return search.ladder()


def _squares(points: Floats, point: Floats) -> Floats:
    away = points - point
    squares: Floats = np.einsum("td,td->t", away, away)
    return squares


METHOD = Method(
    name="farthest",
    summary="each key is the pose least like the keys before it",
    paper="Tanuwijaya & Ohno, A Simple and Efficient Method to Extract Keyposes from Mocap Data",
    ladder=farthest,
    recipe="root_matched",
    joints="major",
    options_help={},
)
