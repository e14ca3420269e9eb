"""Saliency of curves, extrema in salient clusters, and their order as keys; options of both methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints
from keypose.features import gaussian_filter
from keypose.model import Features
from keypose.options import Option
from keypose.validation import check_choice, check_number

FRAME_S = 1 / 120  # the clips of the paper have 120 fps; its numbers of frames are converted to times
SIGMA_S = 7 * FRAME_S
CUT_SIGMAS = 2.0
MIN_GAP_S = {"joint": 10 * FRAME_S, "body": 20 * FRAME_S}
MAX_FRAMES = 1e9  # upper limit of options in frames, more than any take has

Rank: TypeAlias = Literal["auto", "joint", "body"]
KeysPerCluster: TypeAlias = Literal["one", "all"]
Extremes: TypeAlias = Literal["flat", "strict"]

DECLARATIONS = {
    "sigma_s": Option("sigma of the finer Gaussian in seconds; the coarser one has twice that sigma", above=0.0),
    "cut_sigmas": Option("number of its own sigmas at which each Gaussian is truncated", above=0.0),
    "min_gap_s": Option(
        "minimum time between two keys in seconds; default 10/120 for one joint, 20/120 for several", min_value=0.0
    ),
    "rank": Option("importance: largest S/mean(S) of a curve (joint), root of the sum of S squared (body) or auto"),
    "keys_per_cluster": Option(
        "keys of a salient range of one curve: its most salient extremum (one) or every extremum (all)"
    ),
    "extremes": Option(
        "an extremum that lasts several frames counts, as its last frame (flat), or does not count (strict)"
    ),
}

ROUNDING_RATIO = 64 * np.finfo(float).eps  # relative to the largest number: smaller differences are rounding
Frames = NDArray[np.int64]


@dataclass(frozen=True)
class SaliencyOptions:
    """Checked options of one take, in frames."""

    sigma_frames: float
    cut_sigmas: float
    min_gap_frames: int  # minimum distance of two keys
    rank: str  # "joint" or "body"
    keys_per_cluster: str  # "one" or "all"
    extremes: str  # "flat" or "strict"

    @property
    def reach(self) -> int:
        """Frames of the coarser window on either side."""
        return int(min(2 * self.cut_sigmas * self.sigma_frames, MAX_FRAMES) + 1e-9)


def build_options(
    fps: float,
    n_joints: int,
    sigma_s: float,
    cut_sigmas: float,
    min_gap_s: float | None,
    rank: str,
    keys_per_cluster: str,
    extremes: str,
) -> SaliencyOptions:
    """Return the checked options in frames. Sigma is at least so large that the finer window has three frames."""
    cut = check_number("cut_sigmas", cut_sigmas, above=0)
    sigma = check_number("sigma_s", sigma_s, above=0) * fps
    rank_kind = check_choice("rank", rank, get_args(Rank))
    if rank_kind == "auto":
        rank_kind = "joint" if n_joints == 1 else "body"
    gap_s = MIN_GAP_S[rank_kind] if min_gap_s is None else check_number("min_gap_s", min_gap_s, min_value=0)
    return SaliencyOptions(
        sigma_frames=min(max(sigma, 1 / cut), MAX_FRAMES),
        cut_sigmas=cut,
        min_gap_frames=seconds_to_frames(gap_s, fps),
        rank=rank_kind,
        keys_per_cluster=check_choice("keys_per_cluster", keys_per_cluster, get_args(KeysPerCluster)),
        extremes=check_choice("extremes", extremes, get_args(Extremes)),
    )


def seconds_to_frames(seconds: float, fps: float) -> int:
    """Return the smallest number of frames, at least one, that last ``seconds``."""
    return max(1, math.ceil(min(seconds * fps, MAX_FRAMES) - 1e-9))


def curve_saliency(values: Floats, options: SaliencyOptions) -> Floats:
    """Return S = |G(sigma) * x - G(2 sigma) * x| of each curve, (T, D)."""
    return range_saliency(values, options, 0, len(values), float(np.abs(values).max()))


def range_saliency(values: Floats, options: SaliencyOptions, start: int, end: int, magnitude: float) -> Floats:
    """Return the saliency of frames ``start`` to ``end``, 0 where it is only rounding of numbers up to ``magnitude``.

    Without this limit a constant curve far from zero would have many salient frames.
    """
    low, high = max(0, start - options.reach), min(len(values), end + options.reach)
    window, sigma = values[low:high], options.sigma_frames
    fine, coarse = (gaussian_filter(window, s, min(options.cut_sigmas, len(window) / s)) for s in (sigma, 2 * sigma))
    result = np.abs(fine - coarse)[start - low : end - low]
    result[result <= ROUNDING_RATIO * magnitude] = 0.0
    return result


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
    values: Floats, saliency: Floats, mean: Floats, importance: Floats, options: SaliencyOptions, first: int = 0
) -> Extrema:
    """Return the extrema that lie, with both neighbours, inside a cluster (a run with S > mean).

    ``first`` is the number of the first frame.
    """
    in_cluster = saliency > mean
    frames = np.arange(first, first + len(values))
    steps = np.sign(values[1:] - values[:-1]).astype(np.int8)
    is_same_cluster = in_cluster[1:] & in_cluster[:-1]
    direction = np.concatenate((np.zeros((1, values.shape[1]), np.int8), steps * is_same_cluster))
    if options.extremes == "flat":  # a step of zero has the direction of the step before it
        has_direction = np.ones(in_cluster.shape, bool)
        has_direction[1:] = (steps != 0) | ~is_same_cluster
        latest = np.maximum.accumulate(np.where(has_direction, np.arange(len(values))[:, None], 0), axis=0)
        direction = np.take_along_axis(direction, latest, axis=0)
    clusters = np.maximum.accumulate(np.where(in_cluster, first, frames[:, None] + 1), axis=0)
    rows, columns = np.nonzero(is_same_cluster & (direction[:-1] * steps < 0))
    return Extrema(frames[rows], columns, clusters[rows, columns], saliency[rows, columns], importance[rows])


def frame_importance(saliency: Floats, mean: Floats, options: SaliencyOptions) -> Floats:
    """Return the importance of each frame (T,): by the most salient curve, or by all curves together."""
    if options.rank == "joint":
        return np.asarray((saliency / np.where(mean > 0, mean, 1.0)).max(axis=1))
    return np.asarray(np.sqrt(np.einsum("td,td->t", saliency, saliency)))


def order_keys(candidates: Frames, importance: Floats, gap: int, limit: int) -> tuple[Frames, int]:
    """Return at most ``limit`` frames in the order of acceptance, and the method's own number of keys.

    The first and last frame are followed by candidates, most important first, at least ``gap`` frames from every
    accepted frame; these are the method's own keys. Then any frame is accepted in the same way, with half the gap, a
    quarter and so on down to one. O(T log T).
    """
    n = len(importance)
    gap = min(gap, n)
    keys = [0, n - 1] if n > 1 else [0]
    by_importance = np.argsort(-importance, kind="stable")
    is_candidate = np.zeros(n, bool)
    is_candidate[candidates] = True
    _accept(by_importance[is_candidate[by_importance]], keys, gap, n, n)
    natural = len(keys)
    while len(keys) < min(limit, n):
        _accept(by_importance, keys, gap, limit, n)
        gap = max(1, gap // 2)
    return np.array(keys[:limit]), natural


def _accept(frames: Frames, keys: list[int], gap: int, limit: int, n: int) -> None:
    """Append ``frames`` that are at least ``gap`` from every key to ``keys``, in order, up to ``limit`` keys."""
    is_near = _is_near(np.array(keys), gap, n)
    frames = frames[~is_near[frames]]
    if gap == 1:
        keys.extend(frames.tolist()[: limit - len(keys)])
        return
    margin = bytes(gap)
    # the flag of frame f is at f + gap, so that no window is out of range
    is_taken = bytearray(margin + is_near.tobytes() + margin)
    window = b"\x01" * (2 * gap - 1)
    for frame in frames.tolist():
        if len(keys) >= limit:
            return
        if not is_taken[frame + gap]:
            keys.append(frame)
            is_taken[frame + 1 : frame + 2 * gap] = window


def _is_near(keys: Frames, gap: int, n: int) -> Bools:
    """Return flags (n,) of the frames that are less than ``gap`` from a key."""
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, np.maximum(keys - gap + 1, 0), 1)
    np.add.at(edges, np.minimum(keys + gap, n), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


@dataclass(frozen=True)
class JointSaliency:
    """Saliency of one joint, the input of the method of Bulut & Capin."""

    over_mean: Floats  # (T,) maximum of S / mean(S) over the curves; frames above 1 are candidates
    frames: Ints  # (N,) extrema among the candidates, the most salient of each cluster
    columns: Ints  # (N,) index of the curve of each extremum
    keys: Ints  # (K,) the first and last frame, and the extrema that are left when close ones are removed


def compute_joint_saliency(features: Features, sigma_s: float) -> JointSaliency:
    """Return the saliency of the curves (T, D) of one joint, or of one of its curves."""
    options = build_options(features.fps, 1, sigma_s, CUT_SIGMAS, None, "joint", "one", "flat")
    salience = curve_saliency(features.values, options)
    mean = salience.mean(axis=0)
    over_mean = frame_importance(salience, mean, options)
    extrema = find_extrema(features.values, salience, mean, over_mean, options)
    chosen = extrema.select(options)
    order, n_keys = order_keys(chosen.frames, over_mean, options.min_gap_frames, features.n_frames)
    frames, columns, keys = (part.astype("int32") for part in (chosen.frames, chosen.columns, np.sort(order[:n_keys])))
    return JointSaliency(over_mean, frames, columns, keys)
