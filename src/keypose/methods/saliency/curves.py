"""Saliency of curves, and extrema in salient clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.features import gaussian_filter
from keypose.methods.saliency.options import SaliencyOptions

ROUNDING_RATIO = 64 * np.finfo(float).eps  # relative to the largest number: smaller differences are rounding


def curve_saliency(values: Floats, options: SaliencyOptions) -> Floats:
    """Return S = |G(sigma) * x - G(2 sigma) * x| of each curve, (T, D)."""
    return range_saliency(values, options, 0, len(values), float(np.abs(values).max()))


def range_saliency(values: Floats, options: SaliencyOptions, start: int, end: int, magnitude: float) -> Floats:
    """Return the saliency of frames ``start`` to ``end``, 0 where it is only rounding of numbers up to ``magnitude``.

    Otherwise a constant curve far from zero would have many important frames.
    """
    low, high = max(0, start - options.reach), min(len(values), end + options.reach)
    window, sigma = values[low:high], options.sigma_frames
    fine, coarse = (gaussian_filter(window, s, min(options.cut_sigmas, len(window) / s)) for s in (sigma, 2 * sigma))
    result = np.abs(fine - coarse)[start - low : end - low]
    result[result <= ROUNDING_RATIO * magnitude] = 0.0
    return result


class BlockState(NamedTuple):
    """The state after the last row of a block, per column."""

    values: Floats  # (1, D)
    saliency: Floats  # (1, D)
    importance: Floats  # (1,)
    in_cluster: Bools  # (1, D) whether it is in a cluster
    direction: np.ndarray  # (D,) sign of the last step inside that cluster, 0 without one
    cluster_starts: np.ndarray  # (D,) first frame of the cluster


class Extrema(NamedTuple):
    """Extrema of curves inside salient clusters, one row each."""

    frames: np.ndarray
    columns: np.ndarray
    clusters: np.ndarray  # first frame of the cluster; identifies it together with the column
    saliency: Floats  # of this curve
    importance: Floats  # of the frame

    def take(self, index: np.ndarray) -> Extrema:
        """Return the rows at ``index``."""
        return Extrema(*(part[index] for part in self))

    def select(self, options: SaliencyOptions) -> Extrema:
        """Return the most salient extremum of each cluster (the first of ties), or all, by ``keys_per_cluster``."""
        if options.keys_per_cluster == "all":
            return self
        order = np.lexsort((self.clusters, self.columns))  # stable: by frame within a cluster
        columns, clusters, salient = self.columns[order], self.clusters[order], self.saliency[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (columns[1:] != columns[:-1]) | (clusters[1:] != clusters[:-1])
        starts = np.flatnonzero(is_first)
        group = np.cumsum(is_first) - 1
        highest = np.flatnonzero(salient == np.maximum.reduceat(salient, starts)[group]) if len(order) else order
        _, best = np.unique(group[highest], return_index=True)
        return self.take(order[highest[best]])


def find_extrema(
    values: Floats,
    saliency: Floats,
    mean: Floats,
    importance: Floats,
    options: SaliencyOptions,
    first: int = 0,
    max_cluster_frames: int | None = None,
    state: BlockState | None = None,
) -> tuple[Extrema, BlockState]:
    """Return the extrema that lie, with both neighbours, inside a cluster (a run with S > mean), and the state.

    ``first`` is the number of the first frame. A take can be passed in blocks, each with the ``state`` returned for the
    one before; a block's last frame is evaluated with the next block. Clusters are split every ``max_cluster_frames``.
    """
    in_cluster = saliency > mean
    direction = np.zeros(values.shape[1], np.int8)
    cluster_starts = np.full(values.shape[1], first)
    if state is not None:
        values, saliency = np.concatenate((state.values, values)), np.concatenate((state.saliency, saliency))
        importance, in_cluster = np.append(state.importance, importance), np.concatenate((state.in_cluster, in_cluster))
        direction, cluster_starts, first = state.direction, state.cluster_starts, first - 1

    frames = np.arange(first, first + len(values))
    steps = np.sign(values[1:] - values[:-1]).astype(np.int8)
    is_same_cluster = in_cluster[1:] & in_cluster[:-1]
    direction = np.concatenate((direction[None], steps * is_same_cluster))
    if options.extremes == "flat":  # a step of zero keeps the direction before it
        has_direction = np.ones(in_cluster.shape, bool)
        has_direction[1:] = (steps != 0) | ~is_same_cluster
        latest = np.maximum.accumulate(np.where(has_direction, np.arange(len(values))[:, None], 0), axis=0)
        direction = np.take_along_axis(direction, latest, axis=0)
    clusters = np.maximum.accumulate(np.where(in_cluster, cluster_starts, frames[:, None] + 1), axis=0)

    rows, columns = np.nonzero(is_same_cluster & (direction[:-1] * steps < 0))
    extremum_clusters = clusters[rows, columns]
    if max_cluster_frames is not None:
        extremum_clusters = (
            extremum_clusters + (frames[rows] - extremum_clusters) // max_cluster_frames * max_cluster_frames
        )
    extrema = Extrema(frames[rows], columns, extremum_clusters, saliency[rows, columns], importance[rows])
    return extrema, BlockState(
        values[-1:], saliency[-1:], importance[-1:], in_cluster[-1:], direction[-1], clusters[-1]
    )


def frame_importance(saliency: Floats, mean: Floats, options: SaliencyOptions) -> Floats:
    """Return the importance of each frame (T,): by the most salient curve, or by all curves together."""
    if options.rank == "joint":
        return np.asarray((saliency / np.where(mean > 0, mean, 1.0)).max(axis=1))
    return np.asarray(np.sqrt(np.einsum("td,td->t", saliency, saliency)))
