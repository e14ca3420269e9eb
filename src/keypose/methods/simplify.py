"""Whole-pose curve simplification: Lim & Thalmann, "Key-posture extraction out of human motion data", EMBC 2001.

The motion is a curve through the points of its poses. The first and last frame are keys; a segment between two keys is
split at the frame farthest from the line through them. Differences from the paper:

- The paper splits while a segment exceeds a tolerance. Here the segment with the largest distance is always split
  first, which gives every number of keys. The keys for a tolerance are the first ones with a cost within it, as both
  split the same segments.
- If both ends of a segment are the same point, the distance is to that point.
- Distances below the rounding of the numbers are 0, also that of the two ends. If all are 0, the paper stops; here the
longest segment is split in the middle, so that every number of keys is possible.

The cost can rise with one more key: a frame may be farther from its new line. O(n log n) distances if splits are
balanced, O(n^2) at worst.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, resolve_max_keys
from keypose.model import Features, Ladder

ROUNDING_RATIO = 8 * float(np.finfo(np.float64).eps)  # of a distance, relative to the farthest point from the origin

Segment = tuple[float, int, int, int, int]  # heap order: largest distance, then longest if all are 0, then earliest


def simplify(features: Features, max_keys: int | None = None) -> Ladder:
    """Return the first and last frame, then, one after another, the frame farthest from the line through its
    neighbouring keys.

    Of equally far frames the lowest is selected. The cost is the largest remaining distance, in units of the features.
    """
    values, n = features.values, features.n_frames
    count = resolve_max_keys(max_keys, n, min_keys=2)
    if n == 1:
        return Ladder.from_order("simplify", 1, [0], [0.0])
    rounding_error = ROUNDING_RATIO * float(np.sqrt(np.einsum("td,td->t", values, values).max()))
    segment = _find_split(values, 0, n - 1, rounding_error)
    order, costs, heap = [0, n - 1], [-segment[0]], [segment]
    while len(order) < count:
        _, _, first, last, split = heappop(heap)
        for a, b in ((first, split), (split, last)):
            if b - a > 1:
                heappush(heap, _find_split(values, a, b, rounding_error))
        order.append(split)
        costs.append(-heap[0][0] if heap else 0.0)
    return Ladder.from_order("simplify", n, order, np.abs(costs), min_keys=2)


def _find_split(values: Floats, first: int, last: int, rounding_error: float) -> Segment:
    """Return the segment between two keys with the frame farthest from the line through them."""
    if last - first < 2:
        return 0.0, 0, first, last, first
    offsets = values[first + 1 : last] - values[first]
    along = values[last] - values[first]
    square = float(along @ along)
    if square > rounding_error**2:
        # For precision, the component along the line is subtracted from each point, not from its squared length.
        offsets -= np.multiply.outer(offsets @ along / square, along)
    squares = np.einsum("td,td->t", offsets, offsets)
    farthest = int(squares.argmax())
    distance = float(np.sqrt(squares[farthest]))
    if distance > rounding_error:
        return -distance, 0, first, last, first + 1 + farthest
    return 0.0, first - last, first, last, (first + last) // 2


METHOD = Method(
    name="simplify",
    summary="splits the motion at the pose farthest from the line between two keys",
    paper="Lim & Thalmann, Key-posture extraction out of human motion data, EMBC 2001",
    ladder=simplify,
    feature_kind="world",
    joints="all",
    declarations={},
)
