"""Curve saliency, by Bulut & Capin.

Per curve ``S = |G(sigma) * x - G(2 sigma) * x|``, two Gaussian averages. Frames with ``S > mean(S)`` form clusters;
each yields its most salient extremum of the value, or none if the curve is monotone there; the first and last frame are
added. Keys are the union over the curves, thinned: accepted in the order of importance, unless too close to an accepted
key.

Choices that the paper leaves open, and differences:
- it does not state sigma: here it is 7 frames at 120 fps; each window is truncated at 2 sigmas and, at the ends of the
clip, normalised to the frames inside;
- an extremum must have both neighbours inside its cluster; a cluster with several yields the most salient one (the
paper only describes clusters with one; ``keys_per_cluster="all"`` yields all);
- its formulas allow equal neighbours. Here an extremum has a rise before and a fall after it, or the reverse, and the
  extremum of a flat top is its last frame; ``extremes="strict"`` requires a single highest or lowest frame. Both give
  the same keys on the reference clips;
- "delete the least important among close ones" becomes: accept in descending importance, with a minimum distance of 10
  frames at 120 fps. The importance of a frame is the largest S/mean(S) among the joint's curves;
- it treats one joint. Several joints (whole body): the union over all, importance ``sqrt(sum S^2)``, distance 20. The
  default is all joints of the body: the nine major ones do not include shoulders and thighs.

A curve that is constant within rounding has no keys.

Limitations: at an equal count on one joint, curve simplification with time as one more dimension of the curve has a
smaller error, that of saliency is 15 % larger; decimation is better by 20 % (``benchmarks/papers``). Whole-body keys at
the natural count have a smaller mean error than uniform ones on every clip of the tests, those of one joint on most;
well below the natural count uniform keys are better, since the most important keys crowd where there is most movement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.methods.base import Method, resolve_max_keys
from keypose.methods.saliency.curves import (
    CUT_SIGMAS,
    DECLARATIONS,
    SIGMA_S,
    Extrema,
    Extremes,
    KeysPerCluster,
    Rank,
    SaliencyOptions,
    build_options,
    curve_saliency,
    find_extrema,
    frame_importance,
    order_keys,
)
from keypose.methods.saliency.streaming import StreamingSaliency
from keypose.model import Features, Ladder

__all__ = ["METHOD", "SaliencyCounts", "StreamingSaliency", "saliency", "saliency_counts"]


def saliency(
    features: Features,
    max_keys: int | None = None,
    *,
    sigma_s: float = SIGMA_S,
    cut_sigmas: float = CUT_SIGMAS,
    min_gap_s: float | None = None,
    rank: Rank = "auto",
    keys_per_cluster: KeysPerCluster = "one",
    extremes: Extremes = "flat",
) -> Ladder:
    """Return keys by curve saliency, most important first. ``natural`` is the method's own number of keys if it is at
    most ``max_keys``.

    Fewer keys are the first accepted ones. Beyond the method's own number any frame is accepted by importance at the
    same minimum distance, then at half the distance, a quarter, and so on, so that further keys fill the gaps between
    the peaks.

    The cost of n keys is the importance of the next one, at most that of those before it: dimensionless for one joint
    (saliency over its mean), in units of the features for several. O(T log T) in the frames.
    """
    options = build_options(
        features.fps, len(features.joints), sigma_s, cut_sigmas, min_gap_s, rank, keys_per_cluster, extremes
    )
    limit = resolve_max_keys(max_keys, features.n_frames, min_keys=2)
    extrema, importance = _find_candidates(features, options)
    order, natural = order_keys(extrema.frames, importance, options.min_gap_frames, limit + 1)
    if features.n_frames == 1:
        return Ladder.from_order("saliency", 1, [0], [0.0], natural=1)
    next_importance = np.append(importance[order[2:]], np.zeros(max(0, limit + 1 - len(order))))
    costs = np.minimum.accumulate(next_importance)
    natural_count = natural if natural <= limit else None
    return Ladder.from_order("saliency", features.n_frames, order[:limit], costs, min_keys=2, natural=natural_count)


class SaliencyCounts(NamedTuple):
    """Numbers of keys after each step, first and last frame included, as in the paper's tables."""

    per_column: tuple[int, ...]  # of each curve, in the order of the features' columns
    union: int
    final: int  # after thinning


def saliency_counts(
    features: Features,
    *,
    sigma_s: float = SIGMA_S,
    cut_sigmas: float = CUT_SIGMAS,
    min_gap_s: float | None = None,
    rank: Rank = "auto",
    keys_per_cluster: KeysPerCluster = "one",
    extremes: Extremes = "flat",
) -> SaliencyCounts:
    """Return the numbers of keys per curve, of their union and after thinning, with the options of ``saliency``."""
    options = build_options(
        features.fps, len(features.joints), sigma_s, cut_sigmas, min_gap_s, rank, keys_per_cluster, extremes
    )
    extrema, importance = _find_candidates(features, options)
    ends = min(2, features.n_frames)
    per_column = np.bincount(extrema.columns, minlength=len(features.columns)) + ends
    _, final = order_keys(extrema.frames, importance, options.min_gap_frames, ends)
    return SaliencyCounts(tuple(per_column.tolist()), len(np.unique(extrema.frames)) + ends, final)


def _find_candidates(features: Features, options: SaliencyOptions) -> tuple[Extrema, np.ndarray]:
    """Return the candidates of every curve and the importance of each frame (T,)."""
    salience = curve_saliency(features.values, options)
    mean = salience.mean(axis=0)
    importance = frame_importance(salience, mean, options)
    extrema = find_extrema(features.values, salience, mean, importance, options)
    return extrema.select(options), importance


METHOD = Method(
    name="saliency",
    summary="selects extrema of curves where a fine and a coarse average differ most",
    paper="Bulut & Capin, Key Frame Extraction from Motion Capture Data by Curve Saliency, 2007",
    ladder=saliency,
    feature_kind="euler",
    joints="body",
    declarations=DECLARATIONS,
    has_own_count=True,
)
