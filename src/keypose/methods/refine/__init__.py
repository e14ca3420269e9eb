"""Keys by curve refinement: K. Matsuda, K. Kondo, "Keyframes Extraction Method for Motion Capture Data" (2004).

The result is keys per joint: the curves of a joint, three Euler angles, are natural cubic splines through its own keys
(``unbake(per="joint", method="refine")``). The "interactive sequential drawing" of the paper, for each curve of
amplitude A, at 30 fps:
1. straight sections: a range below A/100 for at least five frames; two points at each end are keys;
2. fixed frames: first and last, the points of the sections, extrema with a prominence of at least 0.05 A, and a frame
   that differs by more than A/2 from both its neighbours, with them;
3. refinement: a natural cubic spline through the keys; in each span between keys the worst frame becomes a key if its
   error is above 0.13 times the range of the values strictly between the two keys, or times A/4 if that is greater;
   repeated until there is none. 0.13 is set by the user.
For each joint the union over its axes ("overlap"; fixed on any axis is fixed) is reduced: of two adjacent keys that
have no other beside them, neither fixed, the later remains; then, from left to right, of three keys on adjacent frames
the middle one is removed if it is not fixed.

Motion at another rate is resampled to 30 fps (every n-th frame, or interpolated linearly), and a key is the nearest
frame of the motion; first and last frame are always keys.

Choices that the paper leaves open, and differences:
- It fixes every local extremum, even the smallest ripple of noise. Here extrema have a minimum prominence; 0 is as
  printed.
- It does not define to what the threshold is relative; its curves are drawn by hand. Relative to the range between two
  keys alone, noise becomes keys where a curve is nearly still: 96 % of the frames overlap. Errors up to 0.05 A that are
  accepted everywhere leave smaller thresholds without effect. The range counts as at least ``min_range``, A/4, here.
- It does not define how long a straight section must be. Here sections are found from the left, each as long as
  possible, at least ``straight_s``, and at least the four frames of its points. All four points are fixed, as the
  reduction would otherwise bend the section. Inside a section no extremum is a key and no key is added.
- Rule 1 replaces adjacent keys by one "at the center of the frames". With whole runs, however long, a lower threshold
  leaves fewer keys and larger errors. Here the rule is for exactly two, which have no frame at their centre: the later
  one remains. Longer runs are left to rule 2.
- A column that varies by less than 1e-9 of the largest number of all columns is constant: its keys are the first and
  the last frame.
- The printed formula of "Ratio", Del : Lap, does not match its tables, which contain the share of frames removed.

Single joints may gain a key as the threshold rises: other keys of an axis meet those of the other axes in other runs.
The sum over 18 parts never does in the windows of the tests. With threshold 0 nearly every frame is a key before the
reduction, and rule 2 still removes every second frame of a run. Figures of all this are in benchmarks/papers.

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
from keypose.methods.refine.curve import (
    RATE,
    JointKeys,
    RefineOptions,
    Sampling,
    find_joint_keys,
    find_max_errors,
    find_min_amplitude,
    sample_features,
)
from keypose.model import Features, Ladder
from keypose.options import Option
from keypose.validation import check_number

__all__ = ["METHOD", "RefineRow", "RefineTable", "refine", "refine_table"]

MIN_STRAIGHT_FRAMES = 4  # two points at each end
MAX_RATIO = 1e6  # of the amplitude; no difference is larger, and larger ratios would overflow in products


def refine(
    features: Features,
    max_keys: int | None = None,
    *,
    threshold: float = 0.13,
    min_range: float = 0.25,
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
    options = _build_options(features, threshold, min_range, straight_range, straight_s, prominence, jump)
    n_keys = resolve_max_keys(max_keys, features.n_frames, min_keys=2)
    if features.n_frames == 1:
        return Ladder.from_order("refine", 1, [0], [0.0], natural=1)
    sampling = sample_features(features)
    joints = find_joint_keys(sampling.features, options)
    keys = np.zeros(features.n_frames, bool)
    keys[sampling.key_frames(np.any([joint.keys for joint in joints], axis=0))] = True
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
    min_range: float = 0.25,
    straight_range: float = 0.01,
    straight_s: float = 5 / 30,
    prominence: float = 0.05,
    jump: float = 0.5,
) -> RefineTable:
    """Return the paper's table: for each joint the keys of its axes, of their union, and after reduction, at 30 fps."""
    options = _build_options(features, threshold, min_range, straight_range, straight_s, prominence, jump)
    sampling = sample_features(features)
    return build_table(features, sampling, find_joint_keys(sampling.features, options))


def _build_options(
    features: Features,
    threshold: float,
    min_range: float,
    straight_range: float,
    straight_s: float,
    prominence: float,
    jump: float,
) -> RefineOptions:
    """Return the checked options, with times in frames at 30 fps."""
    n_frames = features.n_frames * max(1.0, RATE / features.fps)
    frames = min(check_number("straight_s", straight_s, min_value=0) * RATE, n_frames + 1.0)
    return RefineOptions(
        threshold=min(check_number("threshold", threshold, min_value=0), MAX_RATIO),
        min_range=min(check_number("min_range", min_range, min_value=0), MAX_RATIO),
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
    declarations={
        "threshold": Option(
            "error above which a key is added, as a fraction of the range between two keys", min_value=0.0
        ),
        "min_range": Option(
            "minimum range between two keys that counts, as a fraction of the amplitude", min_value=0.0
        ),
        "straight_range": Option(
            "maximum range of a straight section, as a fraction of the amplitude; 0: there are none", min_value=0.0
        ),
        "straight_s": Option("minimum duration of a straight section in seconds", min_value=0.0),
        "prominence": Option(
            "prominence from which an extremum is always a key, as a fraction of the amplitude", min_value=0.0
        ),
        "jump": Option(
            "difference from both neighbours above which a frame is always a key, as a fraction of the amplitude",
            min_value=0.0,
        ),
    },
    has_own_count=True,
)


class RefineRow(NamedTuple):
    """The row of one joint; the paper's counts are of frames at 30 fps."""

    joint: str
    n_frames: int  # the paper's "F"
    keys_per_axis: tuple[int, ...]  # the paper's H/P/B; the axes in the order of the features
    overlap: int  # the union over the axes: the paper's "Lap"
    keys: int  # after reduction: the paper's "Del"
    key_frames: tuple[int, ...]  # the nearest frames of the motion
    # The largest error of the natural spline through these, over all frames of the motion, as a share of the amplitude
    # of each axis; None for an axis that does not turn.
    max_error_ratios: tuple[float | None, ...]

    @property
    def removed_ratio(self) -> float:
        """The share of the frames that are no keys, 0 to 1: the paper's "Ratio"."""
        return 1 - self.keys / self.n_frames

    @property
    def max_error_ratio(self) -> float:
        """The largest of ``max_error_ratios``; 0 if the joint does not turn."""
        return max((ratio for ratio in self.max_error_ratios if ratio is not None), default=0.0)


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
        return float(np.mean([row.overlap / row.n_frames for row in self.rows]))

    @property
    def mean_removed_ratio(self) -> float:
        """The mean share of the frames, 0 to 1, that are no keys."""
        return float(np.mean([row.removed_ratio for row in self.rows]))

    @property
    def max_error_ratios(self) -> tuple[float, ...]:
        """The largest error of each curve that changes, as a share of its amplitude."""
        return tuple(ratio for row in self.rows for ratio in row.max_error_ratios if ratio is not None)

    @property
    def median_error_ratio(self) -> float:
        """The median of ``max_error_ratios``; 0 if no curve changes."""
        return float(np.median(self.max_error_ratios or (0.0,)))

    @property
    def p90_error_ratio(self) -> float:
        """The value that 90 % of ``max_error_ratios`` do not exceed; 0 if no curve changes."""
        return float(np.percentile(self.max_error_ratios or (0.0,), 90.0))

    def columns(self) -> dict[str, list[str]]:
        """Return the cells of each column as text: a row for each joint, then the means."""
        axes = "/".join(f"{mean:.1f}" for mean in self.mean_keys_per_axis)
        return {
            "joint": [*(row.joint for row in self.rows), "mean"],
            "frames": [*(str(row.n_frames) for row in self.rows), ""],
            "keys per axis": [*("/".join(map(str, row.keys_per_axis)) for row in self.rows), axes],
            "overlap": [*(str(row.overlap) for row in self.rows), f"{self.mean_overlap:.1f}"],
            "keys": [*(str(row.keys) for row in self.rows), f"{self.mean_keys:.1f}"],
            "removed": [*(f"{row.removed_ratio:.1%}" for row in self.rows), f"{self.mean_removed_ratio:.1%}"],
            "max error": [*(f"{row.max_error_ratio:.1%}" for row in self.rows), ""],
        }

    def describe_errors(self) -> str:
        """Return a sentence on the errors of all curves."""
        return (
            f"largest error of a curve, as a share of its amplitude: median {self.median_error_ratio:.1%}, "
            f"at most {self.p90_error_ratio:.1%} for 90 % of the curves"
        )

    def __repr__(self) -> str:
        columns = [[heading, *cells] for heading, cells in self.columns().items()]
        widths = [max(map(len, cells)) for cells in columns]
        rows = (
            "  ".join([name.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells, widths[1:], strict=True))])
            for name, *cells in zip(*columns, strict=True)
        )
        return "\n".join([*(row.rstrip() for row in rows), self.describe_errors()])


def build_table(features: Features, sampling: Sampling, joints: Sequence[JointKeys]) -> RefineTable:
    """Return the table of ``joints``, whose keys were found on the ``sampling`` of ``features``."""
    min_amplitude = find_min_amplitude(features.values)
    rows = []
    for joint in joints:
        key_frames = sampling.key_frames(joint.keys)
        rows.append(
            RefineRow(
                joint.joint,
                len(joint.keys),
                tuple(np.count_nonzero(joint.axis_keys, axis=1).tolist()),
                int(np.count_nonzero(joint.overlap)),
                int(np.count_nonzero(joint.keys)),
                tuple(key_frames.tolist()),
                find_max_errors(features.values[:, list(features.joints[joint.joint])], key_frames, min_amplitude),
            )
        )
    return RefineTable(tuple(rows))


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
