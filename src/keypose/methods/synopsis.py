"""Keys by splitting at the most unusual pose: Action Synopsis of Assa, Caspi & Cohen-Or, without dimension reduction.

Compared in figure 2 of Tanuwijaya & Ohno. The frames between neighbouring keys are a segment. The frame farthest from
the mean pose of its segment, over all segments, becomes the next key and splits the segment. Therefore the k keys are
the first k of the k + 1 keys.

Choices that the papers leave open:
- The first and the last frame are keys from the start.
- The mean is over the whole segment, its two keys included; the frames strictly between them can be chosen.
- Of equally far frames, in one segment or several, the lowest is selected. If only copies of the mean remain, splitting
continues in that order, so that every number of keys is possible.
- Distances are those of the features themselves; Assa et al. measure in a space of few dimensions.
- As printed (``candidates="all"``) the method selects keys close together: the frame after a pose far from the mean is
nearly as far. Therefore the default (``"extreme"``) first selects frames that are farther than both their neighbours;
the number of these is the natural number of keys, and then all frames are candidates.
"""

from __future__ import annotations

import heapq
import math
from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.methods.base import Method, resolve_max_keys
from keypose.model import Features, Ladder
from keypose.options import Option
from keypose.validation import check_choice

MAX_VISITS = 25_000_000  # of frames over all keys if max_keys is None: about two seconds at worst
SIGNIFICANT_BITS = 40  # of a square; the others are rounding error
MIN_DEFAULT_KEYS = 100  # of long takes if max_keys is None

# Whether the frame is no extreme, minus its squared distance, the frame, the first and last frame of its segment. The
# smallest split is applied next.
Split = tuple[bool, float, int, int, int]


def synopsis(
    features: Features, max_keys: int | None = None, *, candidates: Literal["all", "extreme"] = "extreme"
) -> Ladder:
    """Return the first and last frame, then, one after another, the frame farthest from the mean of its segment between
    keys.

    The cost is the distance of the next frame; it can rise, because part of a segment may be farther from its own mean
    than the whole was. The default is every number of keys; for long takes as many as can be computed in some seconds,
    at least 100. O(frames columns log frames) if splits fall near the middle, O(keys frames columns) at worst.
    """
    prefer_extremes = check_choice("candidates", candidates, ("all", "extreme")) == "extreme"
    n = features.n_frames
    if n == 1:
        return Ladder.from_order("synopsis", 1, [0], [0.0], natural=1 if prefer_extremes else None)
    n_keys = resolve_max_keys(max_keys, n, default=max(MIN_DEFAULT_KEYS, MAX_VISITS // n), min_keys=2)
    order, costs, natural = [0, n - 1], [], None
    splits = _find_split(features.values, 0, n - 1, prefer_extremes)
    while True:
        no_extreme_left = not splits or splits[0][0]
        if prefer_extremes and natural is None and no_extreme_left:
            natural = len(order)
        costs.append(math.sqrt(-splits[0][1]) if splits else 0.0)
        if len(order) == n_keys:
            return Ladder.from_order("synopsis", n, order, costs, min_keys=2, natural=natural)
        _, _, frame, first, last = heapq.heappop(splits)
        order.append(frame)
        for split in _find_split(features.values, first, frame, prefer_extremes) + _find_split(
            features.values, frame, last, prefer_extremes
        ):
            heapq.heappush(splits, split)


def _find_split(values: Floats, first: int, last: int, prefer_extremes: bool) -> list[Split]:
    """Return the split of a segment in a list; empty if there is no frame between its keys."""
    if last - first < 2:
        return []
    squares = _squared_distances_from_mean(values[first : last + 1])
    inside = squares[1:-1]
    farthest, is_extreme = int(inside.argmax()), False
    if prefer_extremes:
        peaks = np.flatnonzero((inside > squares[:-2]) & (inside > squares[2:]))
        if peaks.size:
            farthest, is_extreme = int(peaks[inside[peaks].argmax()]), True
    return [(not is_extreme, -float(inside[farthest]), first + 1 + farthest, first, last)]


def _squared_distances_from_mean(values: Floats) -> Floats:
    """Return the squared distance of each frame from the mean of all.

    Both are computed relative to the first frame, so that no precision is lost far from the origin and copies of one
    pose have distance 0. The last bits, which are rounding errors, are dropped, so that equal distances are exactly
    equal.
    """
    offsets = values - values[0]
    offsets -= np.add.reduce(offsets) / len(offsets)
    fraction, exponent = np.frexp(np.einsum("td,td->t", offsets, offsets))
    squares: Floats = np.ldexp(np.round(np.ldexp(fraction, SIGNIFICANT_BITS)), exponent - SIGNIFICANT_BITS)
    return squares


METHOD = Method(
    name="synopsis",
    summary="splits the motion at the pose farthest from the mean of its segment",
    paper="Assa, Caspi & Cohen-Or, Action Synopsis: Pose Selection and Illustration, 2005",
    ladder=synopsis,
    feature_kind="root_matched",
    joints="major",
    declarations={
        "candidates": Option(
            "frames that can split a segment: any (all), or first the local maxima of the distance (extreme)"
        ),
    },
    has_own_count=True,
)
