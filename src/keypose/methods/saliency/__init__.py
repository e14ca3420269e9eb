"""Curve saliency, by Bulut & Capin.

Per curve ``S = |G(sigma) * x - G(2 sigma) * x|``, two Gaussian averages. Frames with ``S > mean(S)`` form clusters;
each gives its most salient extremum of the value, none if it is monotone; first and last frame come in addition.
Keys are the union over the curves, thinned: the most important first, none too close to one that is accepted.

Where the paper leaves it open or we read it differently:
- it names no sigma: 7 frames at 120 a second; each window is cut at 2 of its own sigmas and, at the ends of
  the clip, what is inside counts alone;
- an extremum must have both neighbours inside its cluster; a cluster with several gives the most salient one (the
  paper speaks of clusters with one; ``each_cluster="all"`` takes every one);
- its formulas allow equal neighbours. We ask for a rise before and a fall after, or the other way round, and let
  a flat top count once, as its last frame; ``extremes="strict"`` wants a lone highest or lowest frame. On the reference
  clips both are the same;
- "delete the least important among close ones" becomes: accept in descending importance, with a least distance of 10
  frames at 120 a second. The importance of a frame is the largest S/mean(S) among the joint's curves;
- it treats one joint. Several joints (whole body): the union over all, importance ``sqrt(sum S^2)``, distance 20.
  By default all joints of the body: the curves of the nine major ones would leave out shoulders and thighs.

A constant curve has no keys, nor has one that differs from a constant by rounding only.

Honest limits. ref: curve simplification, with time as one more dimension of the curve, is about 24 % better at equal
count on one joint (``benchmarks/papers``). Whole-body keys at the natural count have a smaller mean error than uniform
ones on every clip of the tests, those of one joint on most; well below the natural count uniform keys are better, since
the most important keys crowd the liveliest part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.methods.base import Method, budget
from keypose.methods.saliency.curves import Turns, curve_saliency, frame_importance, turning_points
from keypose.methods.saliency.keys import acceptance_order
from keypose.methods.saliency.reading import CUT_SIGMAS, OPTIONS_HELP, SIGMA_S, Reading, reading_of
from keypose.methods.saliency.streaming import StreamingSaliency
from keypose.model import Features, Ladder

__all__ = ["METHOD", "SaliencyCounts", "StreamingSaliency", "saliency", "saliency_counts"]


def saliency(
    features: Features,
    max_keys: int | None = None,
    *,
    sigma_s: float = SIGMA_S,
    cut_sigmas: float = CUT_SIGMAS,
    least_gap_s: float | None = None,
    rank: str = "auto",
    each_cluster: str = "one",
    extremes: str = "flat",
) -> Ladder:
    """Keys by curve saliency, most important first. The method's own count is ``natural`` (if within ``max_keys``).

    Fewer keys are the first ones accepted. More keys than its own: any frame at the same least distance by
    importance, then with half the distance, a quarter, ...; so they fill the gaps and do not crowd the peaks.

    The cost of n keys is the importance of the next one, at most that of those before it: a number without unit for one
    joint (saliency over its mean), in units of the features for several. O(T log T) in the frames.
    """
    reading = reading_of(
        features.fps, len(features.joints), sigma_s, cut_sigmas, least_gap_s, rank, each_cluster, extremes
    )
    limit = budget(max_keys, features.n_frames, least=2)
    turns, importance = _found(features, reading)
    order, natural = acceptance_order(turns.frames, importance, reading.gap_frames, limit + 1)
    if features.n_frames == 1:
        return Ladder.nested("saliency", 1, [0], [0.0], natural=1)
    left = np.append(importance[order[2:]], np.zeros(max(0, limit + 1 - len(order))))
    costs = np.minimum.accumulate(left)
    own = natural if natural <= limit else None
    return Ladder.nested("saliency", features.n_frames, order[:limit], costs, least=2, natural=own)


class SaliencyCounts(NamedTuple):
    """How many keys each step leaves, first and last frame always among them: the paper's tables."""

    per_column: tuple[int, ...]  # of each curve, in the order of the features' columns
    union: int
    final: int  # after thinning


def saliency_counts(
    features: Features,
    *,
    sigma_s: float = SIGMA_S,
    cut_sigmas: float = CUT_SIGMAS,
    least_gap_s: float | None = None,
    rank: str = "auto",
    each_cluster: str = "one",
    extremes: str = "flat",
) -> SaliencyCounts:
    """The counts of keys per curve, of their union and after thinning, with the options of ``saliency``."""
    reading = reading_of(
        features.fps, len(features.joints), sigma_s, cut_sigmas, least_gap_s, rank, each_cluster, extremes
    )
    turns, importance = _found(features, reading)
    ends = min(2, features.n_frames)
    per_column = np.bincount(turns.columns, minlength=len(features.columns)) + ends
    _, final = acceptance_order(turns.frames, importance, reading.gap_frames, ends)
    return SaliencyCounts(tuple(per_column.tolist()), len(np.unique(turns.frames)) + ends, final)


def _found(features: Features, reading: Reading) -> tuple[Turns, np.ndarray]:
    """The candidates of every curve, and how important each frame is (T,)."""
    salience = curve_saliency(features.values, reading)
    mean = salience.mean(axis=0)
    importance = frame_importance(salience, mean, reading)
    turns, _ = turning_points(features.values, salience, mean, importance, reading)
    return turns.chosen(reading), importance


METHOD = Method(
    name="saliency",
    summary="extrema of curves where a fine and a coarse average differ most",
    paper="Bulut & Capin, Key Frame Extraction from Motion Capture Data by Curve Saliency, 2007",
    ladder=saliency,
    recipe="euler",
    joints="body",
    options_help=OPTIONS_HELP,
    has_own_count=True,
)
