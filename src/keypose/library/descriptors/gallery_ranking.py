"""Distances between clips: of each window of one to the nearest window of the other, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose._core import nearest_windows
from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.clip_vector import KINDS
from keypose.library.descriptors.description import Description, Singles, Windows
from keypose.library.incremental_index import ClipBounds, GrowableArray, Indices

PRESELECT_DESCRIPTOR = "clip"  # it has one row per clip, so it is fast enough for all clips
RANKING_DESCRIPTORS = (PRESELECT_DESCRIPTOR, *KINDS)  # the combination that ranks best
DEFAULT_CANDIDATES = 256  # preselected clips


@dataclass(frozen=True, eq=False)
class Gallery(Frozen):
    """The windows of many clips by one descriptor, one clip after another."""

    vectors: Singles  # (N, D)
    squares: Singles  # (N,) squared norms of vectors
    weights: Singles  # (N,)
    bounds: Ints  # (C + 1,) first row of each clip, and the end
    background_distances: Floats  # (C, 2) mean and spread

    @classmethod
    def build(cls, clips: Sequence[Windows]) -> Gallery:
        """Return the gallery of these clips, at least one."""
        builder = IncrementalGallery(clips[0].vectors.shape[1])
        builder.add(clips)
        return builder.snapshot()

    @property
    def n_clips(self) -> int:
        """Number of clips."""
        return len(self.background_distances)

    def distances(self, variants: Sequence[Windows], clip_indices: Indices | None = None) -> Floats:
        """Return (Q, K): the distance of the clips at ``clip_indices`` (K,), None: all, from each variant.

        The distance is the weighted mean of the distances from each window to the nearest of the other clip, in both
        directions. Each is standardised by the background distance of the clip of that window, as some clips are near
        to all others. It is below 0 if clips are nearer than unrelated ones.
        """
        indices = np.arange(self.n_clips) if clip_indices is None else clip_indices
        query_vectors, query_bounds = np.concatenate([variant.vectors for variant in variants]), _bounds(variants)
        to_clip, from_clip = nearest_windows(
            query_vectors, query_bounds, self.vectors, self.squares, self.weights, self.bounds, indices
        )
        mean, spread = self.background_distances[indices].T
        distances: Floats = (from_clip - mean) / spread
        for k, variant in enumerate(variants):
            mean, spread = variant.background_distance
            distances[k] += (variant.weights @ to_clip[query_bounds[k] : query_bounds[k + 1]] - mean) / spread
        return distances


class IncrementalGallery:
    """A gallery that clips can be added to."""

    def __init__(self, size: int) -> None:
        self._vectors = GrowableArray(np.empty((0, size), np.float32))
        self._squares = GrowableArray(np.empty(0, np.float32))
        self._weights = GrowableArray(np.empty(0, np.float32))
        self._clips = ClipBounds()
        self._background_distances = GrowableArray(np.empty((0, 2)))

    def add(self, clips: Sequence[Windows]) -> None:
        """Append clips, at least one."""
        vectors = np.concatenate([each.vectors for each in clips])
        self._vectors.add(vectors)
        self._squares.add(np.einsum("nd,nd->n", vectors, vectors))
        self._weights.add(np.concatenate([each.weights for each in clips]))
        self._clips.add([len(each) for each in clips])
        self._background_distances.add(np.array([each.background_distance for each in clips]))

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        rows = self._clips.keep(indices)
        for each in (self._vectors, self._squares, self._weights):
            each.keep(rows)
        self._background_distances.keep(indices)

    def snapshot(self) -> Gallery:
        """Return the gallery of the current clips."""
        return Gallery(
            self._vectors.view,
            self._squares.view,
            self._weights.view,
            self._clips.bounds,
            self._background_distances.view,
        )


class IncrementalGalleries:
    """Galleries of descriptions, for every descriptor of the first one."""

    def __init__(self) -> None:
        self._galleries: dict[str, IncrementalGallery] = {}

    def add(self, clips: Sequence[Description]) -> None:
        """Append clips, at least one."""
        if not self._galleries:
            self._galleries = {name: IncrementalGallery(each.vectors.shape[1]) for name, each in clips[0].all.items()}
        for name, incremental in self._galleries.items():
            incremental.add([clip.all[name] for clip in clips])

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        for incremental in self._galleries.values():
            incremental.keep(indices)

    def snapshot(self) -> dict[str, Gallery]:
        """Return the galleries of the current clips by descriptor; empty if none was ever added."""
        return {name: incremental.snapshot() for name, incremental in self._galleries.items()}


def _bounds(clips: Sequence[Windows]) -> Ints:
    """Return (C + 1,): the first window of each clip in the concatenation, and the end of the last one."""
    return np.cumsum([0, *map(len, clips)], dtype=np.int32)


def build_galleries(clips: Sequence[Description], names: Sequence[str] = RANKING_DESCRIPTORS) -> dict[str, Gallery]:
    """Return the galleries of clips, at least one, by descriptor."""
    return {name: Gallery.build([clip.all[name] for clip in clips]) for name in names}


def clip_distances(
    query: Description, galleries: Mapping[str, Gallery], *, mirrored: Description | None = None
) -> Floats:
    """Return (C,): the distance of each clip from ``query``, summed over the descriptors of ``galleries``.

    With the description of the mirrored query, it is the smaller of both distances.
    """
    nearest: Floats = variant_distances([query] if mirrored is None else [query, mirrored], galleries).min(axis=0)
    return nearest


def variant_distances(
    variants: Sequence[Description], galleries: Mapping[str, Gallery], clip_indices: Indices | None = None
) -> Floats:
    """Return (Q, K): the distances from each variant of the query to the clips at ``clip_indices`` (None: all)."""
    summed: Floats = np.sum(
        [g.distances([variant.all[name] for variant in variants], clip_indices) for name, g in galleries.items()],
        axis=0,
    )
    return summed


class Ranking(NamedTuple):
    """Clips of galleries, nearest first, K of them."""

    clips: Indices  # (K,)
    distances: Floats  # (K,)
    variant_indices: Indices  # (K,) the nearest variant of the query


def rank(
    query: Description,
    galleries: Mapping[str, Gallery],
    *,
    mirrored: Description | None = None,
    is_allowed: Bools | None = None,
    n_candidates: int = DEFAULT_CANDIDATES,
) -> tuple[Indices, Floats]:
    """Return the ``n_candidates`` clips nearest to ``query``, nearest first, and their distances."""
    ranking_result = rank_clips(
        [query] if mirrored is None else [query, mirrored], galleries, is_allowed=is_allowed, n_candidates=n_candidates
    )
    return ranking_result.clips, ranking_result.distances


def rank_clips(
    variants: Sequence[Description],
    galleries: Mapping[str, Gallery],
    *,
    is_allowed: Bools | None = None,
    n_candidates: int = DEFAULT_CANDIDATES,
    min_distance: float = -np.inf,
) -> Ranking:
    """Return the ``n_candidates`` clips nearest to any variant: the query, and perhaps its mirror image as the second.

    The clip vector preselects them among all, or those with ``is_allowed`` (C,); all descriptors of ``galleries``,
    which include the clip vector, order them. Distances below ``min_distance`` are raised to it. Clips at equal
    distance: not mirrored ones first, then in the order of the galleries.
    """
    candidates = preselect(variants, galleries[PRESELECT_DESCRIPTOR], is_allowed=is_allowed, n_candidates=n_candidates)
    if not len(candidates):
        return Ranking(candidates, np.zeros(0), candidates)
    distances_by_variant = np.maximum(variant_distances(variants, galleries, candidates), min_distance)  # (variants, K)
    distances, variant_indices = distances_by_variant.min(axis=0), distances_by_variant.argmin(axis=0)
    order = np.lexsort((candidates, variant_indices, distances))
    return Ranking(candidates[order], distances[order], variant_indices[order])


def preselect(
    variants: Sequence[Description],
    first: Gallery,
    *,
    is_allowed: Bools | None = None,
    n_candidates: int = DEFAULT_CANDIDATES,
) -> Indices:
    """Return at most ``n_candidates`` clips (K,), ascending: those nearest to any of ``variants`` by clip vector."""
    allowed = np.arange(first.n_clips) if is_allowed is None else np.flatnonzero(is_allowed)
    if len(allowed) <= n_candidates:
        return allowed
    distances = variant_distances(variants, {PRESELECT_DESCRIPTOR: first}).min(axis=0)[allowed]
    return np.sort(allowed[np.argpartition(distances, n_candidates - 1)[:n_candidates]])
