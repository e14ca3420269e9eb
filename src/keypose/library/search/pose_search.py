"""Search by pose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, JOINTS, PARTNERS
from keypose.library.descriptors.description import Singles
from keypose.library.extra import sa
from keypose.library.search.body_parts import pose_scales
from keypose.library.search.candidate_source import CandidateSource, ClipQuery, PoseMatch
from keypose.library.search.hit_builder import Candidate
from keypose.library.search.hits import SpanPair
from keypose.library.search.query import Query

HALF_SCORE_CM = 10.0  # rms distance of joints with score 0.5
MIN_GAP_S = 1.0  # between poses of one clip
_MIRRORED = np.append((3 * np.array(PARTNERS)[:, None] + np.arange(3)).ravel(), 3 * len(JOINTS))
_SIGNS = np.append(np.tile((-1.0, 1.0, 1.0), len(JOINTS)), 1.0).astype(np.float32)


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
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, keep: int
    ) -> list[Candidate]:
        """Return the nearest stored poses. ``joints`` are those of the query: mirrored, those of the other side."""
        scales = pose_scales(self.joints)
        variants = [self.query.compute_pose_vector(self.frame)]
        if not self.mirrored:
            return self._build_candidates(
                source.nearest_poses(connection, variants, scales, clip_query, keep, self._min_gap_s), variants, scales
            )
        mirrored_scales = scales[_MIRRORED]
        variants.append(mirror_pose(variants[0]))
        if np.array_equal(mirrored_scales, scales):
            return self._build_candidates(
                source.nearest_poses(connection, variants, scales, clip_query, keep, self._min_gap_s), variants, scales
            )
        plain = self._build_candidates(
            source.nearest_poses(connection, variants[:1], scales, clip_query, keep, self._min_gap_s), variants, scales
        )
        flipped = self._build_candidates(
            source.nearest_poses(connection, variants[1:], mirrored_scales, clip_query, keep, self._min_gap_s),
            variants,
            mirrored_scales,
            first_variant=1,
        )
        return self._merge(plain, flipped)[:keep]

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
