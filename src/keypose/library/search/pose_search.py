"""Search by pose, in an index of all stored poses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.canonical import FPS, JOINTS, PARTNERS
from keypose.library.descriptors.description import Singles, Windows
from keypose.library.extra import sa
from keypose.library.incremental_index import ClipBounds, GrowableArray, Indices
from keypose.library.search.candidate_source import CandidateSource, ClipIds, ClipQuery, PoseMatch, select_spaced
from keypose.library.search.hits import Candidate, SpanPair
from keypose.library.search.query import Query, pose_scales

HALF_SCORE_CM = 10.0  # rms distance of joints with score 0.5
MIN_GAP_S = 1.0  # between poses of one clip
_MIRRORED = np.append((3 * np.array(PARTNERS)[:, None] + np.arange(3)).ravel(), 3 * len(JOINTS))
_SIGNS = np.append(np.tile((-1.0, 1.0, 1.0), len(JOINTS)), 1.0).astype(np.float32)
INITIAL_ROWS = 256  # rows examined first; four times as many if these are not sufficient


def mirror_pose(vector: Singles) -> Singles:
    """Return the mirror image of a pose vector."""
    flipped: Singles = vector[_MIRRORED] * _SIGNS
    return flipped


@dataclass(frozen=True, eq=False)
class PoseRanker:
    """Ranks poses by joint positions in the body's frame, and the height of the hips above the floor."""

    query: Query
    frame: int
    mirrored: bool
    joints: tuple[str, ...] | None
    multiple: bool = False

    def candidates(
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, n_candidates: int
    ) -> list[Candidate]:
        """Return the nearest stored poses. ``joints`` are those of the query; for the mirror image, those of the other
        side are compared."""
        scales = pose_scales(self.joints)
        variants = [self.query.compute_pose_vector(self.frame)]
        if not self.mirrored:
            return self._build_candidates(
                source.nearest_poses(connection, variants, scales, clip_query, n_candidates, self._min_gap_s),
                variants,
                scales,
            )
        mirrored_scales = scales[_MIRRORED]
        variants.append(mirror_pose(variants[0]))
        if np.array_equal(mirrored_scales, scales):
            return self._build_candidates(
                source.nearest_poses(connection, variants, scales, clip_query, n_candidates, self._min_gap_s),
                variants,
                scales,
            )
        plain = self._build_candidates(
            source.nearest_poses(connection, variants[:1], scales, clip_query, n_candidates, self._min_gap_s),
            variants,
            scales,
        )
        flipped = self._build_candidates(
            source.nearest_poses(connection, variants[1:], mirrored_scales, clip_query, n_candidates, self._min_gap_s),
            variants,
            mirrored_scales,
            first_variant=1,
        )
        return self._merge(plain, flipped)[:n_candidates]

    def explain(
        self, connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the candidates unchanged: they are complete."""
        return list(candidates)

    @property
    def _min_gap_s(self) -> float:
        return MIN_GAP_S if self.multiple else math.inf

    def _build_candidates(
        self, poses: Sequence[PoseMatch], variants: Sequence[Singles], scales: Floats, first_variant: int = 0
    ) -> list[Candidate]:
        return [
            self._build_candidate(pose, variants[first_variant + pose.variant], first_variant + pose.variant, scales)
            for pose in poses
        ]

    def _build_candidate(self, pose: PoseMatch, query_vector: Singles, variant: int, scales: Floats) -> Candidate:
        joints = np.flatnonzero(scales[: 3 * len(JOINTS) : 3])
        offsets = (pose.vector - query_vector)[: 3 * len(JOINTS)].reshape(-1, 3)[joints]
        joint_distance_cm = 100.0 * float(np.linalg.norm(offsets, axis=1).mean())
        rms_cm = 100.0 * pose.distance / math.sqrt(len(joints))
        start = self.frame / self.query.fps
        end = (self.frame + 1) / self.query.fps
        pair = SpanPair(start, end, pose.time_s, pose.time_s + 1.0 / FPS, joint_distance_cm)
        score = 1.0 / (1.0 + rms_cm / HALF_SCORE_CM)
        time_s, is_mirrored = pose.time_s, variant == 1
        return Candidate(pose.clip_id, score, time_s, time_s, start, end, is_mirrored, (pair,), joint_distance_cm)

    def _merge(self, plain: Sequence[Candidate], flipped: Sequence[Candidate]) -> list[Candidate]:
        """Return both lists merged, nearest first, with the minimum gap within a clip."""
        merged: list[Candidate] = []
        for candidate in sorted((*plain, *flipped), key=lambda each: (-each.score, each.mirrored)):
            other_starts = (each.start_s for each in merged if each.clip_id == candidate.clip_id)
            if all(abs(candidate.start_s - other) >= self._min_gap_s for other in other_starts):
                merged.append(candidate)
        return merged


@dataclass(frozen=True, eq=False)
class PoseIndex(Frozen):
    """The poses of C clips, N in all, one clip after another."""

    vectors: Singles  # (N, D)
    squares: Singles  # (N,) squared norms of vectors
    times_s: Floats  # (N,)
    bounds: Ints  # (C + 1,) first row of each clip, and the end

    @classmethod
    def build(cls, clips: Sequence[Windows]) -> PoseIndex | None:
        """Return the index of these clips, each with at least one pose; None without clips."""
        builder = IncrementalPoseIndex()
        if clips:
            builder.add(clips)
        return builder.snapshot()

    @cached_property
    def clip_indices(self) -> Ints:
        """(N,) the clip of each pose."""
        return np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))

    def nearest(
        self,
        clip_ids: ClipIds,
        variants: Sequence[Singles],
        scales: Floats,
        is_allowed: Bools | None,
        limit: int,
        min_gap_s: float,
    ) -> tuple[PoseMatch, ...]:
        """Return matches as ``CandidateSource.nearest_poses`` does; ``clip_ids`` (C,) are the ids of the clips."""
        squares = self._approximate_squares(np.asarray(variants), scales)  # (W, N)
        nearest_squares = squares.min(axis=0)
        if is_allowed is not None:
            nearest_squares[~is_allowed[self.clip_indices]] = math.inf
        if math.isinf(min_gap_s):
            return tuple(
                self._exact_matches(clip_ids, variants, scales, self._nearest_per_clip(nearest_squares, limit))
            )[:limit]
        n = len(nearest_squares)
        size = max(INITIAL_ROWS, 4 * limit)
        while True:
            rows = np.argpartition(nearest_squares, size)[:size] if size < n else np.arange(n)
            rows = rows[np.isfinite(nearest_squares[rows])]
            poses = select_spaced(self._exact_matches(clip_ids, variants, scales, rows), limit, min_gap_s)
            if len(poses) == limit or size >= n:
                return poses
            size *= 4

    def _approximate_squares(self, variants: Singles, scales: Floats) -> Singles:
        """Return squared distances (W, N) in single precision, for selection."""
        used = np.flatnonzero(scales)
        weights = (scales[used] ** 2).astype(np.float32)
        own_vectors = self.vectors if len(used) == len(scales) else self.vectors[:, used]
        query_vectors = variants[:, used]
        own_squares = (
            self.squares
            if (scales == 1.0).all()
            else np.einsum("nd,nd,d->n", own_vectors, own_vectors, weights, optimize=False)
        )
        squares: Singles = (
            own_squares - 2.0 * (query_vectors * weights) @ own_vectors.T + (query_vectors**2 @ weights)[:, None]
        )
        return squares

    def _nearest_per_clip(self, nearest_squares: Singles, limit: int) -> NDArray[np.intp]:
        """Return the row of the nearest pose of each of the nearest clips, and some further rows, as distances are
        approximate."""
        firsts, ends = self.bounds[:-1], self.bounds[1:]
        clip_minima = np.minimum.reduceat(nearest_squares, firsts)
        size = min(len(clip_minima), 2 * limit + 8)
        clips = np.argpartition(clip_minima, size - 1)[:size]
        rows = [firsts[c] + int(np.argmin(nearest_squares[firsts[c] : ends[c]])) for c in clips.tolist()]
        candidates = np.array(rows, np.intp)
        return np.asarray(candidates[np.isfinite(nearest_squares[candidates])])

    def _exact_matches(
        self, clip_ids: ClipIds, variants: Sequence[Singles], scales: Floats, rows: NDArray[np.intp]
    ) -> Iterator[PoseMatch]:
        """Yield the poses of these rows with exact distances, nearest first."""
        differences = (self.vectors[rows] - np.asarray(variants)[:, None]) * scales
        distances = np.sqrt((differences**2).sum(axis=2))  # (W, rows)
        variant = distances.argmin(axis=0)
        nearest = distances.min(axis=0)
        row_clip_ids, times = clip_ids[self.clip_indices[rows]], self.times_s[rows]
        for k in np.lexsort((times, row_clip_ids, nearest)).tolist():
            row = int(rows[k])
            yield PoseMatch(
                int(row_clip_ids[k]), float(times[k]), float(nearest[k]), int(variant[k]), self.vectors[row]
            )


class IncrementalPoseIndex:
    """A pose index that clips can be added to."""

    def __init__(self) -> None:
        self._vectors: GrowableArray[np.float32] | None = None
        self._squares = GrowableArray(np.empty(0, np.float32))
        self._times_s = GrowableArray(np.empty(0))
        self._clips = ClipBounds()

    def add(self, clips: Sequence[Windows]) -> None:
        """Append clips, at least one, each with at least one pose."""
        vectors = np.concatenate([each.vectors for each in clips])
        if self._vectors is None:
            self._vectors = GrowableArray(vectors[:0])
        self._vectors.add(vectors)
        self._squares.add(np.einsum("nd,nd->n", vectors, vectors))
        self._times_s.add(np.concatenate([each.starts_s for each in clips]))
        self._clips.add([len(each) for each in clips])

    def keep(self, indices: Indices) -> None:
        """Keep only the clips at these indices."""
        rows = self._clips.keep(indices)
        if self._vectors is not None:
            self._vectors.keep(rows)
        self._squares.keep(rows)
        self._times_s.keep(rows)

    def snapshot(self) -> PoseIndex | None:
        """Return the index of the current clips; None without clips."""
        if self._vectors is None or not len(self._vectors):
            return None
        return PoseIndex(self._vectors.view, self._squares.view, self._times_s.view, self._clips.bounds)
