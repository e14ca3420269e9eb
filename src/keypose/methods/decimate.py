"""Frame decimation: Li, Okuda & Takahashi, "Embedded Key Frame Extraction for CG Animation by Frame Decimation",
ICME 2005, on Euler curves; Togawa & Okuda, "Position-Based Keyframe Selection for Human Motion Animation", 2005,
on positions (the default; ``features="euler"`` gives the former).

At first every frame is a key. Then the key with the lowest removal cost is removed, again and again. The cost is the
sum of the errors of the frames between its two neighbours under linear interpolation in time. Differences from the
papers:

- The papers sum weighted errors of curves; here the error of a frame is the distance of whole poses, weighted by joint.
``error="squared"`` sums squares, which is the same for poses as for curves.
- The first and last frame are always keys.
- Of equal costs the key with the shorter merged span is removed first, then the lowest frame, so that a constant pose
is thinned evenly. Errors below the rounding of the numbers count as 0.

O(n log n) distances if spans grow evenly, which summed errors and the tie rule ensure.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, resolve_max_keys
from keypose.model import Features, Ladder
from keypose.options import Option
from keypose.validation import check_choice

ROUNDING_RATIO = 8 * float(np.finfo(np.float64).eps)  # of a distance, relative to the farthest point from the origin


def decimate(
    features: Features, max_keys: int | None = None, *, error: Literal["distance", "squared"] = "distance"
) -> Ladder:
    """Return the keys that remain when the cheapest ones are removed one by one; the last removed is most important.

    The cost is the error summed over all frames (for squared errors its root), in units of the features.
    """
    is_squared = check_choice("error", error, ("distance", "squared")) == "squared"
    n = features.n_frames
    count = resolve_max_keys(max_keys, n, min_keys=2)
    if n == 1:
        return Ladder.from_order("decimate", 1, [0], [0.0])
    spans = _Spans(features.values, is_squared)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    span_errors = [0.0] * n  # the error of the span that ends at each key
    heap = [(cost, 2, key) for key, cost in enumerate(spans.single_frame_errors(), start=1)]
    heapify(heap)
    removed, costs, total = [], [0.0], 0.0
    while heap:
        cost, length, key = heappop(heap)
        left, right = before[key], after[key]
        if right - left != length:
            continue  # removed, or out of date: spans only grow, so another length means that the span has changed
        total += cost - span_errors[key] - span_errors[right]
        after[left], before[right], span_errors[right] = right, left, cost
        before[key] = after[key] = key
        removed.append(key)
        costs.append(max(total, 0.0))
        for neighbour in (left, right):
            if 0 < neighbour < n - 1:
                a, c = before[neighbour], after[neighbour]
                heappush(heap, (spans.span_error(a, c), c - a, neighbour))
    order = [0, n - 1, *reversed(removed)]
    remaining_costs = np.sqrt(costs[::-1]) if is_squared else np.array(costs[::-1])
    return Ladder.from_order("decimate", n, order[:count], remaining_costs[: count - 1], min_keys=2)


class _Spans:
    """Errors of the frames between two keys under linear interpolation in time."""

    def __init__(self, values: Floats, is_squared: bool) -> None:
        self.values = values
        self.is_squared = is_squared
        farthest = float(np.einsum("td,td->t", values, values).max())
        self.rounding_error = ROUNDING_RATIO**2 * farthest if is_squared else ROUNDING_RATIO * float(np.sqrt(farthest))
        self.steps = np.arange(1.0, len(values))

    def span_error(self, first: int, last: int) -> float:
        """Return the error summed over the frames strictly between two keys."""
        start, length = self.values[first], last - first
        offsets = self.values[first + 1 : last] - start
        offsets -= np.multiply.outer(self.steps[: length - 1] / length, self.values[last] - start)
        squares = np.einsum("td,td->t", offsets, offsets)
        total = float((squares if self.is_squared else np.sqrt(squares)).sum())
        return total if total > self.rounding_error * (length - 1) else 0.0

    def single_frame_errors(self) -> list[float]:
        """Return the error of each inner frame between its two neighbours."""
        offsets = self.values[1:-1] - self.values[:-2]
        chord = self.values[2:] - self.values[:-2]
        chord *= 0.5
        offsets -= chord
        squares = np.einsum("td,td->t", offsets, offsets)
        errors = squares if self.is_squared else np.sqrt(squares)
        errors[errors <= self.rounding_error] = 0.0
        return [float(error) for error in errors]


METHOD = Method(
    name="decimate",
    summary="repeatedly removes the key whose removal has the lowest cost",
    paper="Togawa & Okuda, Position-Based Keyframe Selection for Human Motion Animation, 2005",
    ladder=decimate,
    feature_kind="world",
    joints="all",
    declarations={
        "error": Option(
            "sum over the frames of a span: distances of whole poses (distance) or their squares (squared)"
        ),
    },
)
