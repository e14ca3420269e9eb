"""Keys by curve refinement: K. Matsuda, K. Kondo, "Keyframes Extraction Method for Motion Capture Data" (2004).

The "interactive sequential drawing" of the paper, for each Euler curve of amplitude A (30 fps):
1. straight sections: a range below A/100 for at least five frames; two points at each end are keys;
2. fixed frames: first and last, the points of the sections, extrema with a prominence of at least 0.05 A, and a frame
   that differs by more than A/2 from both its neighbours, with them;
3. refinement: a natural cubic spline through the keys; in each span between keys the worst frame becomes a key if it is
  off by more than the greater of 0.13 times the span's range and 0.05 A; repeated. 0.13 is set by the user. For each
  joint the union over its axes ("overlap"; fixed on any axis is fixed) is reduced: a run of adjacent keys that are not
  fixed becomes its centre, then of three adjacent keys the middle one is removed if it is not fixed.

Choices that the paper leaves open, and differences:
- It fixes every local extremum, even the smallest ripple of noise. Here extrema have a minimum prominence.
- It does not define to what the threshold is relative; its curves are drawn by hand. Here it is relative to the range
of the values strictly between two keys, and errors up to 0.05 A are accepted everywhere.
- It does not define how long a straight section must be. Here sections are found from the left, each as long as
  possible, at least ``straight_s``, and at least the four frames of its points. All four points are fixed, as the
  reduction would otherwise bend the section. Inside a section no extremum is a key and no key is added.
- A run in rule 1 ends at a fixed frame. The alternative, whole runs without any fixed frame, leaves more keys.
- A column that varies by less than 1e-9 of the largest number of all columns is constant: its keys are the first and
the last frame.
- The printed formula of "Ratio", Del : Lap, does not match its tables, which contain the share of frames removed.

The keys of the whole body are the union over the joints; their number is the method's own number of keys. With some
twenty joints that is nearly every frame, because some joint always rotates. Therefore the ladder needs an order of the
keys, which the paper does not define: see ``rank_frames``. The order is by distances in units of the features, so it
depends on the weights of joints; the keys of each curve do not depend on its scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats
from keypose.methods.base import Method, resolve_max_keys
from keypose.methods.refine.curve import JointKeys, RefineOptions, find_joint_keys
from keypose.model import Features, Ladder
from keypose.validation import check_number

__all__ = ["METHOD", "RefineRow", "RefineTable", "refine", "refine_table"]

MIN_STRAIGHT_FRAMES = 4  # two points at each end
MAX_RATIO = 1e6  # of the amplitude; no difference is larger, and larger ratios would overflow in products


def refine(
    features: Features,
    max_keys: int | None = None,
    *,
    threshold: float = 0.13,
    min_error: float = 0.05,
    straight_range: float = 0.01,
    straight_s: float = 5 / 30,
    prominence: float = 0.05,
    jump: float = 0.5,
) -> Ladder:
    """Return the first and last frame, then the keys of the joints, then all other frames, most important first.

    The natural count is the number of the joints' keys (None if ``max_keys`` is below it). The cost of n keys is the
    largest distance from the straight line between its neighbours, over all curves, of any frame ranked after the n-th.
    O(T D log T): each round of refinement is linear, and their number grows like log T.
    """
    options = _build_options(features, threshold, min_error, straight_range, straight_s, prominence, jump)
    n_keys = resolve_max_keys(max_keys, features.n_frames, min_keys=2)
    if features.n_frames == 1:
        return Ladder.from_order("refine", 1, [0], [0.0], natural=1)
    keys = np.any([joint.keys for joint in find_joint_keys(features, options)], axis=0)
    order, distances = rank_frames(features.values, keys)
    remaining = np.maximum.accumulate(distances[::-1])[::-1]
    costs = np.append(remaining[2:], 0.0)
    natural = int(np.count_nonzero(keys))
    return Ladder.from_order(
        "refine",
        features.n_frames,
        order[:n_keys],
        costs[: n_keys - 1],
        min_keys=2,
        natural=natural if natural <= n_keys else None,
    )


def refine_table(
    features: Features,
    *,
    threshold: float = 0.13,
    min_error: float = 0.05,
    straight_range: float = 0.01,
    straight_s: float = 5 / 30,
    prominence: float = 0.05,
    jump: float = 0.5,
) -> RefineTable:
    """Return the paper's table: for each joint the keys of its axes, of their union, and after reduction."""
    options = _build_options(features, threshold, min_error, straight_range, straight_s, prominence, jump)
    return build_table(find_joint_keys(features, options))


def _build_options(
    features: Features,
    threshold: float,
    min_error: float,
    straight_range: float,
    straight_s: float,
    prominence: float,
    jump: float,
) -> RefineOptions:
    """Return the checked options, with times in frames."""
    frames = min(check_number("straight_s", straight_s, min_value=0) * features.fps, features.n_frames + 1.0)
    return RefineOptions(
        threshold=min(check_number("threshold", threshold, min_value=0), MAX_RATIO),
        min_error=min(check_number("min_error", min_error, min_value=0), MAX_RATIO),
        straight_range=min(check_number("straight_range", straight_range, min_value=0), MAX_RATIO),
        straight_frames=max(MIN_STRAIGHT_FRAMES, math.ceil(frames - 1e-9)),
        prominence=min(check_number("prominence", prominence, min_value=0), MAX_RATIO),
        jump=min(check_number("jump", jump, min_value=0), MAX_RATIO),
    )


METHOD = Method(
    name="refine",
    summary="adds keys until a spline through the keys follows each curve",
    paper='K. Matsuda, K. Kondo, "Keyframes Extraction Method for Motion Capture Data", 2004',
    ladder=refine,
    feature_kind="euler",
    joints="body",
    options_help={
        "threshold": "error above which a key is added, as a fraction of the range between two keys",
        "min_error": "error up to which no key is added, as a fraction of the curve's amplitude",
        "straight_range": "maximum range of a straight section, as a fraction of the amplitude; 0: there are none",
        "straight_s": "minimum duration of a straight section in seconds",
        "prominence": "prominence from which an extremum is always a key, as a fraction of the amplitude",
        "jump": "difference from both neighbours above which a frame is always a key, as a fraction of the amplitude",
    },
    has_own_count=True,
)


class RefineRow(NamedTuple):
    """The row of one joint."""

    joint: str
    frames: int
    keys_per_axis: tuple[int, ...]  # the paper's H/P/B; the axes in the order of the features
    overlap: int  # the union over the axes: the paper's "Lap"
    keys: int  # after reduction: the paper's "Del"

    @property
    def removed_ratio(self) -> float:
        """The share of the frames that are no keys, 0 to 1: the paper's "Ratio"."""
        return 1 - self.keys / self.frames


@dataclass(frozen=True, repr=False)
class RefineTable:
    """The paper's table of one motion; ``print`` formats it."""

    rows: tuple[RefineRow, ...]

    @property
    def mean_keys_per_axis(self) -> tuple[float, ...]:
        """The mean over the joints that have such an axis."""
        axes = max(len(row.keys_per_axis) for row in self.rows)
        counts_by_axis = (
            [row.keys_per_axis[a] for row in self.rows if a < len(row.keys_per_axis)] for a in range(axes)
        )
        return tuple(float(np.mean(counts)) for counts in counts_by_axis)

    @property
    def mean_overlap(self) -> float:
        """The mean number of keys before reduction."""
        return float(np.mean([row.overlap for row in self.rows]))

    @property
    def mean_keys(self) -> float:
        """The mean number of keys after reduction."""
        return float(np.mean([row.keys for row in self.rows]))

    @property
    def mean_overlap_ratio(self) -> float:
        """The mean share of the frames, 0 to 1, that are keys before reduction."""
        return float(np.mean([row.overlap / row.frames for row in self.rows]))

    @property
    def mean_removed_ratio(self) -> float:
        """The mean share of the frames, 0 to 1, that are no keys."""
        return float(np.mean([row.removed_ratio for row in self.rows]))

    def __repr__(self) -> str:
        lines = [("joint", "frames", "keys per axis", "overlap", "keys", "removed")]
        for row in self.rows:
            axes = "/".join(map(str, row.keys_per_axis))
            lines.append(
                (row.joint, str(row.frames), axes, str(row.overlap), str(row.keys), f"{row.removed_ratio:.1%}")
            )
        axes = "/".join(f"{mean:.1f}" for mean in self.mean_keys_per_axis)
        means = (f"{self.mean_overlap:.1f}", f"{self.mean_keys:.1f}", f"{self.mean_removed_ratio:.1%}")
        lines.append(("mean", "", axes, *means))
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([name.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for name, *cells in lines
        )


def build_table(joints: Sequence[JointKeys]) -> RefineTable:
    """Return the table of ``joints``."""
    return RefineTable(
        tuple(
            RefineRow(
                joint.joint,
                len(joint.keys),
                tuple(np.count_nonzero(joint.axis_keys, axis=1).tolist()),
                int(np.count_nonzero(joint.overlap)),
                int(np.count_nonzero(joint.keys)),
            )
            for joint in joints
        )
    )


class Ranking(NamedTuple):
    """Frames by importance, and their distances."""

    order: NDArray[np.intp]  # first, last, then the others
    distances: Floats  # of each frame in that order, from the straight line when it was ranked


def rank_frames(values: Floats, keys: Bools) -> Ranking:
    """Rank all frames of ``values`` (T, D), with the keys (T,), which include first and last, before all others.

    From coarse to fine: each round ranks, in every span between neighbouring frames ranked so far, the key farthest
    from the straight line between its ends (on the curve with the largest distance; ties: the earliest), until no key
    is left; then the other frames in the same way. The importance is that distance, but not above that of the ends of
    the span. To limit the time to O(T D log T), a span is halved if all distances are 0, and in every round after the
    first ``2 log2 T``.
    """
    frames = len(values)
    curves = np.ascontiguousarray(values.T)
    distances, importance, level = np.zeros(frames), np.zeros(frames), np.zeros(frames, np.intp)
    is_taken = np.zeros(frames, bool)
    is_taken[[0, -1]] = True
    importance[[0, -1]] = np.inf
    last_level = 0
    for candidates in (keys, np.ones(frames, bool)):
        halve_from = last_level + 2 * frames.bit_length()
        while True:
            remaining = np.flatnonzero(candidates & ~is_taken)
            if not len(remaining):
                break
            last_level += 1
            taken_frames = np.flatnonzero(is_taken)
            span = np.cumsum(is_taken)[remaining] - 1
            distance = _distances_from_line(curves, remaining, taken_frames[span], taken_frames[span + 1])
            first = np.flatnonzero(np.diff(span, prepend=-1))
            count = np.diff(first, append=len(remaining))
            worst = np.maximum.reduceat(distance, first)
            highest = np.flatnonzero(distance == np.repeat(worst, count))
            chosen = highest[np.diff(span[highest], prepend=-1) > 0]
            is_halved = (worst == 0) | (last_level > halve_from)
            chosen[is_halved] = (first + count // 2)[is_halved]
            new = remaining[chosen]
            ends = span[chosen]
            distances[new] = distance[chosen]
            importance[new] = np.minimum(
                distances[new], np.minimum(importance[taken_frames[ends]], importance[taken_frames[ends + 1]])
            )
            level[new] = last_level
            is_taken[new] = True
    order = np.lexsort((np.arange(frames), level, -importance, ~keys))
    return Ranking(order, distances[order])


def _distances_from_line(
    curves: Floats, frames: NDArray[np.intp], left: NDArray[np.intp], right: NDArray[np.intp]
) -> Floats:
    """Return the largest distance over all curves (D, T) of each frame from the line between ``left`` and ``right``."""
    fraction = (frames - left) / (right - left)
    distances = np.zeros(len(frames))
    for curve in curves:
        start = curve[left]
        np.maximum(distances, np.abs(curve[frames] - start - fraction * (curve[right] - start)), out=distances)
    return distances
