"""Frame decimation: Li, Okuda & Takahashi, "Embedded Key Frame Extraction for CG Animation by Frame Decimation",
ICME 2005, on Euler curves; Togawa & Okuda, "Position-Based Keyframe Selection for Human Motion Animation", 2005,
on positions (the default; ``features="euler"`` gives the former).

Every frame is a key at first. Again and again the key goes whose removal costs least: the summed error of the frames
between its two neighbours once these are joined by linear interpolation in time. Where we read the papers differently:

- The papers sum weighted errors of curves; here the error of a frame is the distance of whole poses, in which joint
  weights count. ``error="squared"`` sums squares, which is the same for poses as for curves.
- First and last frame always stay.
- Of equal costs the key with the shorter joined span goes first, then the lowest frame; a held pose is thinned evenly.
  Errors below the rounding of the numbers themselves count as 0.

O(n log n) distances where spans grow evenly, which summed errors and the rule for equal ones see to.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, budget
from keypose.model import Features, Ladder
from keypose.options import one_of

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a distance, as a part of the farthest point from the origin


def decimate(
    features: Features, max_keys: int | None = None, *, error: Literal["distance", "squared"] = "distance"
) -> Ladder:
    """The keys that are left when those that cost least are removed one by one; last removed, most important.

    The cost is the error summed over all frames, of squared errors the root of that, in units of the features.
    """
    squared = one_of("error", error, ("distance", "squared")) == "squared"
    n = features.n_frames
    count = budget(max_keys, n, least=2)
    if n == 1:
        return Ladder.nested("decimate", 1, [0], [0.0])
    spans = _Spans(features.values, squared)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    own = [0.0] * n  # the error of the span that ends at each key
    heap = [(cost, 2, key) for key, cost in enumerate(spans.of_single_frames(), start=1)]
    heapify(heap)
    removed, costs, total = [], [0.0], 0.0
    while heap:
        cost, length, key = heappop(heap)
        left, right = before[key], after[key]
        if right - left != length:
            continue  # gone, or a neighbour went since: spans only grow, so the length tells
        total += cost - own[key] - own[right]
        after[left], before[right], own[right] = right, left, cost
        before[key] = after[key] = key
        removed.append(key)
        costs.append(max(total, 0.0))
        for beside in (left, right):
            if 0 < beside < n - 1:
                a, c = before[beside], after[beside]
                heappush(heap, (spans.error(a, c), c - a, beside))
    order = [0, n - 1, *reversed(removed)]
    undone = np.sqrt(costs[::-1]) if squared else np.array(costs[::-1])
    return Ladder.nested("decimate", n, order[:count], undone[: count - 1], least=2)


class _Spans:
    """Errors of the frames between two keys against linear interpolation in time."""

    def __init__(self, values: Floats, squared: bool) -> None:
        self.values = values
        self.squared = squared
        farthest = float(np.einsum("td,td->t", values, values).max())
        self.nothing = ROUNDING**2 * farthest if squared else ROUNDING * float(np.sqrt(farthest))
        self.steps = np.arange(1.0, len(values))

    def error(self, first: int, last: int) -> float:
        """Summed over the frames strictly between."""
        start, length = self.values[first], last - first
        off = self.values[first + 1 : last] - start
        off -= np.multiply.outer(self.steps[: length - 1] / length, self.values[last] - start)
        squares = np.einsum("td,td->t", off, off)
        total = float((squares if self.squared else np.sqrt(squares)).sum())
        return total if total > self.nothing * (length - 1) else 0.0

    def of_single_frames(self) -> list[float]:
        """The error of each frame between its two neighbours."""
        off = self.values[1:-1] - self.values[:-2]
        chord = self.values[2:] - self.values[:-2]
        chord *= 0.5
        off -= chord
        squares = np.einsum("td,td->t", off, off)
        errors = squares if self.squared else np.sqrt(squares)
        errors[errors <= self.nothing] = 0.0
        return [float(error) for error in errors]


METHOD = Method(
    name="decimate",
    summary="remove the frame whose removal costs least, again and again",
    paper="Togawa & Okuda, Position-Based Keyframe Selection for Human Motion Animation, 2005",
    ladder=decimate,
    recipe="world",
    joints="all",
    options_help={"error": "distance (of whole poses) or squared: what is summed over the frames of a span"},
)
