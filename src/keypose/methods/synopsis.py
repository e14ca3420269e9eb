"""Keys by splitting at the most unusual pose: Action Synopsis of Assa, Caspi & Cohen-Or, without dimension reduction.

The rival of Tanuwijaya & Ohno's figure 2. Between neighbouring keys lies a segment; of all segments the frame
farthest from the mean pose of its own segment becomes the next key and splits it. So the keys for k are the first k
of those for k + 1.

What the papers leave open, as we read it:
- The first and the last frame are keys from the start.
- The mean is over the whole segment, its two keys included; the frames strictly between them can be chosen.
- Of frames equally far, in one segment or several, the lowest one is taken. Where only copies of the mean are left
  the splitting goes on in that order, so that every number of keys can be had.
- Distances are those of the features themselves; Assa et al. measure in a space of few dimensions.
- Read to the letter (``candidates="all"``) the method crowds its keys: beside a pose far from the mean the next
  frame is nearly as far, and wins again. So by default (``"extreme"``) it takes first the frames that are farther
  than both their neighbours; when no segment has one left, that is its natural number of keys, and it goes on with all.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, budget
from keypose.model import Features, Ladder
from keypose.options import one_of

MOST_VISITS = 25_000_000  # of frames, over all keys, where nobody says how many keys: about two seconds at worst
DIGITS = 40  # binary ones of a square that count
LEAST_KEYS = 100  # that a long take gets all the same

# No extreme, minus the squared distance, the frame, first and last frame of its segment: the least is split next.
Split = tuple[bool, float, int, int, int]


def synopsis(features: Features, max_keys: int | None = None, *, candidates: str = "extreme") -> Ladder:
    """First and last frame, then again and again the frame farthest from the mean of its segment between keys.

    The cost is the distance of the frame that would be next; it can rise, because a part of a segment may reach
    farther from its own mean than the whole did, and is left so. By default every number of keys, of long takes
    as many as some seconds allow, at least 100. O(frames columns log frames) where splits fall near the middle,
    O(keys frames columns) at worst.
    """
    extremes = one_of("candidates", candidates, ("all", "extreme")) == "extreme"
    n = features.n_frames
    if n == 1:
        return Ladder.nested("synopsis", 1, [0], [0.0], natural=1 if extremes else None)
    most = budget(max_keys, n, default=max(LEAST_KEYS, MOST_VISITS // n), least=2)
    order, costs, natural = [0, n - 1], [], None
    splits = _splits(features.values, 0, n - 1, extremes)
    while True:
        no_extreme_left = not splits or splits[0][0]
        if extremes and natural is None and no_extreme_left:
            natural = len(order)
        costs.append(math.sqrt(-splits[0][1]) if splits else 0.0)
        if len(order) == most:
            return Ladder.nested("synopsis", n, order, costs, least=2, natural=natural)
        _, _, frame, first, last = heapq.heappop(splits)
        order.append(frame)
        for split in _splits(features.values, first, frame, extremes) + _splits(features.values, frame, last, extremes):
            heapq.heappush(splits, split)


def _splits(values: Floats, first: int, last: int, extremes: bool) -> list[Split]:
    """Where a segment would be split, if it has frames between its keys."""
    if last - first < 2:
        return []
    squares = _from_mean(values[first : last + 1])
    inside = squares[1:-1]
    farthest, is_extreme = int(inside.argmax()), False
    if extremes:
        higher = np.flatnonzero((inside > squares[:-2]) & (inside > squares[2:]))
        if higher.size:
            farthest, is_extreme = int(higher[inside[higher].argmax()]), True
    return [(not is_extreme, -float(inside[farthest]), first + 1 + farthest, first, last)]


def _from_mean(values: Floats) -> Floats:
    """The squared distance of each frame from the mean of all.

    Both are taken from the first frame on: no digits are lost far from the origin, and copies of one pose have
    distance 0. The last digits, which are rounding, are left out, so that what is equal ties.
    """
    away = values - values[0]
    away -= np.add.reduce(away) / len(away)
    fraction, exponent = np.frexp(np.einsum("td,td->t", away, away))
    squares: Floats = np.ldexp(np.round(np.ldexp(fraction, DIGITS)), exponent - DIGITS)
    return squares


METHOD = Method(
    name="synopsis",
    summary="splits the motion at the pose farthest from the mean of its segment",
    paper="Assa, Caspi & Cohen-Or, Action Synopsis: Pose Selection and Illustration, 2005",
    ladder=synopsis,
    recipe="root_matched",
    joints="major",
    options_help={
        "candidates": "all: any frame of a segment; extreme: first those farther from its mean than both neighbours"
    },
    has_own_count=True,
)
