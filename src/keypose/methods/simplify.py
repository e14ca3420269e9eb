"""Whole-pose curve simplification: Lim & Thalmann, "Key-posture extraction out of human motion data", EMBC 2001.

The motion is one curve through the points of its poses. First and last frame are keys; a segment between two keys
is split at the frame farthest from the line through them. Where we read the paper differently:

- The paper splits while a segment is farther off than a tolerance. Here the segment that is farthest off is always
  split first, which gives every number of keys. The keys for a tolerance are the first ones whose cost is within it:
  the two ways split the same segments.
- If both ends of a segment are the same point, distance is meant to that point: there is no line.
- Distances below the rounding of the numbers themselves count as 0, also that of the two ends. Where all do, the
  paper stops; here the longest segment is split in its middle, so that every number of keys is there.

One more key can cost more: a split may uncover a frame that is farther from its new line. O(n log n) distances where
splits are balanced, O(n^2) at worst.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, budget
from keypose.model import Features, Ladder

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a distance, as a part of the farthest point from the origin

Segment = tuple[float, int, int, int, int]  # first in the heap: farthest off, then longest if none is, then earliest


def simplify(features: Features, max_keys: int | None = None) -> Ladder:
    """First and last frame, then always the frame farthest from the line through the keys beside it.

    Of equal distances the lowest frame is taken. The cost is the largest distance left, in units of the features.
    """
    values, n = features.values, features.n_frames
    count = budget(max_keys, n, least=2)
    if n == 1:
        return Ladder.nested("simplify", 1, [0], [0.0])
    nothing = ROUNDING * float(np.sqrt(np.einsum("td,td->t", values, values).max()))
    whole = _segment(values, 0, n - 1, nothing)
    order, costs, heap = [0, n - 1], [-whole[0]], [whole]
    while len(order) < count:
        _, _, first, last, split = heappop(heap)
        for a, b in ((first, split), (split, last)):
            if b - a > 1:
                heappush(heap, _segment(values, a, b, nothing))
        order.append(split)
        costs.append(-heap[0][0] if heap else 0.0)
    return Ladder.nested("simplify", n, order, np.abs(costs), least=2)


def _segment(values: Floats, first: int, last: int, nothing: float) -> Segment:
    """The frames between two keys, to be split where they are farthest from the line through the keys."""
    if last - first < 2:
        return 0.0, 0, first, last, first
    off = values[first + 1 : last] - values[first]
    along = values[last] - values[first]
    square = float(along @ along)
    if square > nothing**2:
        # Taking the part along the line away from each point, not from its squared length, keeps the digits.
        off -= np.multiply.outer(off @ along / square, along)
    squares = np.einsum("td,td->t", off, off)
    farthest = int(squares.argmax())
    distance = float(np.sqrt(squares[farthest]))
    if distance > nothing:
        return -distance, 0, first, last, first + 1 + farthest
    return 0.0, first - last, first, last, (first + last) // 2


METHOD = Method(
    name="simplify",
    summary="split where the poses are farthest from the line between keys",
    paper="Lim & Thalmann, Key-posture extraction out of human motion data, EMBC 2001",
    ladder=simplify,
    recipe="world",
    joints="all",
    options_help={},
)
