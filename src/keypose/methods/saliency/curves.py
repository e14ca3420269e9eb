"""Curves -> saliency -> turning points of salient clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.features import gaussian
from keypose.methods.saliency.reading import Reading

ROUNDING = 64 * np.finfo(float).eps  # differences below this part of the greatest number mean nothing


def curve_saliency(values: Floats, reading: Reading) -> Floats:
    """S = |G(sigma) * x - G(2 sigma) * x| of each curve, (T, D)."""
    return saliency_between(values, reading, 0, len(values), float(np.abs(values).max()))


def saliency_between(values: Floats, reading: Reading, start: int, end: int, greatest: float) -> Floats:
    """The saliency of frames ``start`` to ``end``, 0 where it is no more than rounding of the ``greatest`` number.

    Without that a curve that stands still far from zero would be full of important frames.
    """
    low, high = max(0, start - reading.reach), min(len(values), end + reading.reach)
    around, sigma = values[low:high], reading.sigma_frames
    fine, coarse = (gaussian(around, s, min(reading.cut_sigmas, len(around) / s)) for s in (sigma, 2 * sigma))
    out = np.abs(fine - coarse)[start - low : end - low]
    out[out <= ROUNDING * greatest] = 0.0
    return out


class Before(NamedTuple):
    """What has to be known of the last row before a block, per column."""

    values: Floats  # (1, D)
    saliency: Floats  # (1, D)
    importance: Floats  # (1,)
    inside: Bools  # (1, D) is it in a cluster
    came: np.ndarray  # (D,) sign of the last step inside that cluster, 0 without one
    start: np.ndarray  # (D,) first frame of the cluster


class Turns(NamedTuple):
    """Extrema of curves inside salient clusters, one row each."""

    frames: np.ndarray
    columns: np.ndarray
    clusters: np.ndarray  # first frame of the cluster, with the column its name
    saliency: Floats  # of this curve
    importance: Floats  # of the frame

    def of(self, rows: np.ndarray) -> Turns:
        """Some of the rows."""
        return Turns(*(part[rows] for part in self))

    def chosen(self, reading: Reading) -> Turns:
        """The most salient one of each cluster (of equal ones the first), or all."""
        if reading.each_cluster == "all":
            return self
        order = np.lexsort((self.clusters, self.columns))  # stable: by frame within a cluster
        columns, clusters, salient = self.columns[order], self.clusters[order], self.saliency[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (columns[1:] != columns[:-1]) | (clusters[1:] != clusters[:-1])
        starts = np.flatnonzero(is_first)
        group = np.cumsum(is_first) - 1
        highest = np.flatnonzero(salient == np.maximum.reduceat(salient, starts)[group]) if len(order) else order
        _, best = np.unique(group[highest], return_index=True)
        return self.of(order[highest[best]])


def turning_points(
    values: Floats,
    saliency: Floats,
    mean: Floats,
    importance: Floats,
    reading: Reading,
    first: int = 0,
    longest: int | None = None,
    before: Before | None = None,
) -> tuple[Turns, Before]:
    """The extrema that lie, with the frames on both sides, inside a cluster: a run of frames with S > mean.

    ``first`` is the number of the first frame. A take can be given in blocks, each with what the one before
    returned; a block's last frame is judged with the next. Clusters are cut into pieces of ``longest`` frames.
    """
    inside = saliency > mean
    came = np.zeros(values.shape[1], np.int8)
    start = np.full(values.shape[1], first)
    if before is not None:
        values, saliency = np.concatenate((before.values, values)), np.concatenate((before.saliency, saliency))
        importance, inside = np.append(before.importance, importance), np.concatenate((before.inside, inside))
        came, start, first = before.came, before.start, first - 1

    frames = np.arange(first, first + len(values))
    steps = np.sign(values[1:] - values[:-1]).astype(np.int8)
    together = inside[1:] & inside[:-1]
    came = np.concatenate((came[None], steps * together))
    if reading.extremes == "flat":  # a step of zero keeps the direction it came in
        known = np.ones(inside.shape, bool)
        known[1:] = (steps != 0) | ~together
        latest = np.maximum.accumulate(np.where(known, np.arange(len(values))[:, None], 0), axis=0)
        came = np.take_along_axis(came, latest, axis=0)
    clusters = np.maximum.accumulate(np.where(inside, start, frames[:, None] + 1), axis=0)

    rows, columns = np.nonzero(together & (came[:-1] * steps < 0))
    found = clusters[rows, columns]
    if longest is not None:
        found = found + (frames[rows] - found) // longest * longest
    turns = Turns(frames[rows], columns, found, saliency[rows, columns], importance[rows])
    return turns, Before(values[-1:], saliency[-1:], importance[-1:], inside[-1:], came[-1], clusters[-1])


def frame_importance(saliency: Floats, mean: Floats, reading: Reading) -> Floats:
    """How much each frame matters (T,): by the curve that stands out most, or by all curves together."""
    if reading.rank == "joint":
        return np.asarray((saliency / np.where(mean > 0, mean, 1.0)).max(axis=1))
    return np.asarray(np.sqrt(np.einsum("td,td->t", saliency, saliency)))
