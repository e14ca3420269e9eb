"""Rankers by descriptors, by tracks and by swings. Each returns candidates, and adds details to the selected ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery
from keypose.library.descriptors.gallery_ranking import DEFAULT_CANDIDATES, RANKING_DESCRIPTORS, rank_clips
from keypose.library.extra import sa
from keypose.library.search.candidate_source import CandidateSource, ClipQuery
from keypose.library.search.hits import Candidate, MatchingSpans, find_matching_spans
from keypose.library.search.part_gallery import PartTrack
from keypose.library.search.query import Query, select_swing_parts, track_groups
from keypose.library.search.swing_overlap import SwingTable, overlap, overlap_scores

EXTRA_CANDIDATES = 6  # candidates beyond ``limit``, for deduplication; more are requested if necessary
ROUNDING_SHARE = 1e-3  # of the distance from the query to unrelated clips; smaller differences are rounding


class Ranker(Protocol):
    """One way to rank clips."""

    def candidates(
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, n_candidates: int
    ) -> list[Candidate]:
        """Return the best candidates, best first; fewer than ``n_candidates`` only if there are no more."""

    def explain(
        self, connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the candidates with all details."""


@dataclass(frozen=True, eq=False)
class DescriptorRanker:
    """Ranks whole clips by their descriptors."""

    query: Query
    mirrored: bool
    _variants: list[Description] = field(default_factory=list)

    @cached_property
    def self_distance(self) -> float:
        """Distance of the query from itself."""
        return self_distance(self._variants[0])

    def candidates(
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, n_candidates: int
    ) -> list[Candidate]:
        """Rank at least 256 clips by the ranking descriptors."""
        if not self._variants:
            self._variants.extend(self.query.load_descriptions(connection, source, mirrored=self.mirrored))
        n_preselected = max(n_candidates, DEFAULT_CANDIDATES)
        clips = source.clip_candidates(connection, self._variants, clip_query, n_preselected)
        ranking = score_clips(
            self._variants, self.self_distance, clips.galleries, clips.is_allowed, n_candidates, n_preselected
        )
        duration_s = self.query.duration_s
        return [
            Candidate(int(clips.clip_ids[k]), score, 0.0, np.inf, 0.0, duration_s, bool(variant))
            for k, score, variant in ranking
        ]

    def explain(
        self, connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Add the matching windows and their overall range."""
        stored = source.descriptions(connection, [each.clip_id for each in candidates])
        spans_by_id: dict[int, MatchingSpans | None] = {}
        for mirrored in (False, True):
            clip_ids = [each.clip_id for each in candidates if each.mirrored == mirrored and each.clip_id in stored]
            if clip_ids:
                matching_spans = find_matching_spans(
                    self._variants[int(mirrored)], [stored[clip_id] for clip_id in clip_ids]
                )
                spans_by_id.update(zip(clip_ids, matching_spans, strict=True))
        return [self._add_spans(each, spans_by_id.get(each.clip_id)) for each in candidates]

    def _add_spans(self, candidate: Candidate, spans: MatchingSpans | None) -> Candidate:
        if spans is None:
            return candidate
        return replace(
            candidate,
            start_s=spans.start_s,
            end_s=spans.end_s,
            query_start_s=spans.query_start_s,
            query_end_s=min(spans.query_end_s, self.query.duration_s),
            spans=spans.spans,
        )


@dataclass(frozen=True, eq=False)
class TrackRanker:
    """Ranks spans of clips, or whole clips by some of their body parts, by their tracks."""

    query: Query
    mirrored: bool
    joints: tuple[str, ...] | None
    start_s: float
    end_s: float
    multiple: bool = False
    _variants: list[PartTrack] = field(default_factory=list)

    def candidates(
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, n_candidates: int
    ) -> list[Candidate]:
        """Return where the query matches best in each clip."""
        if not self._variants:
            track = self.query.load_track(connection, source).span(self.start_s, self.end_s)
            self._variants.extend((track, track.mirror()) if self.mirrored else (track,))
        clips = source.part_candidates(connection, self._variants, clip_query, n_candidates)
        if clips.gallery is None:
            return []
        matches = clips.gallery.search(
            self._variants[0],
            mirrored=self._variants[1] if self.mirrored else None,
            is_allowed=clips.is_allowed,
            joints=None if self.joints is None else track_groups(self.joints),
            limit=n_candidates,
            multiple=self.multiple,
        )
        return [
            Candidate(int(clips.clip_ids[m.clip]), m.score, m.start_s, m.end_s, self.start_s, self.end_s, m.mirrored)
            for m in matches
        ]

    def explain(
        self, connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the candidates unchanged: they are complete."""
        return list(candidates)


@dataclass(frozen=True, eq=False)
class SwingRanker:
    """Ranks whole clips by their swings, as in Chia's thesis."""

    query: Query
    mirrored: bool
    joints: tuple[str, ...] | None
    _tables: dict[int, SwingTable] = field(default_factory=dict)

    def candidates(
        self, connection: sa.Connection, source: CandidateSource, clip_query: ClipQuery, n_candidates: int
    ) -> list[Candidate]:
        """Rank by the overlap of swings; whether the mirror image matched better is found by ``explain``."""
        clip_ids, tables = source.swing_tables(connection, clip_query)
        query_table = self._load_query_table(connection, source)
        scores_by_clip = overlap_scores(query_table, tables, mirrored=self.mirrored)
        order = np.lexsort((clip_ids, -scores_by_clip))[:n_candidates].tolist()
        self._tables.update((int(clip_ids[k]), tables[k]) for k in order)
        duration_s = self.query.duration_s
        return [
            Candidate(
                int(clip_ids[k]),
                float(np.clip(scores_by_clip[k], 0.0, 1.0)),
                0.0,
                np.inf,
                0.0,
                duration_s,
                mirrored=False,
            )
            for k in order
        ]

    def explain(
        self, connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Add the alignment with the largest overlap."""
        query_table = self._load_query_table(connection, source)
        return [self._add_overlap(query_table, each) for each in candidates]

    def _add_overlap(self, query_table: SwingTable, candidate: Candidate) -> Candidate:
        match = overlap(query_table, self._tables[candidate.clip_id], mirrored=self.mirrored)
        start = max(-match.shift_s, 0.0)
        return replace(
            candidate,
            start_s=match.start_s,
            end_s=match.end_s,
            query_start_s=start,
            query_end_s=min(start + match.end_s - match.start_s, query_table.duration_s),
            mirrored=match.mirrored,
        )

    def _load_query_table(self, connection: sa.Connection, source: CandidateSource) -> SwingTable:
        table = self.query.load_swing_table(connection, source)
        if not table.present.any():
            raise self.query.no_body_error()
        return table if self.joints is None else table.restrict(select_swing_parts(self.joints))


class RankedClip(NamedTuple):
    """One clip of a gallery."""

    clip_index: int  # in the gallery
    score: float
    variant: int  # 1: the mirror image is nearer


def score_clips(
    variants: Sequence[Description],
    self_distance: float,
    galleries: Mapping[str, Gallery],
    is_allowed: Bools | None,
    limit: int,
    n_candidates: int = DEFAULT_CANDIDATES,
) -> list[RankedClip]:
    """Return the ``limit`` nearest clips, nearest first; of equally near ones not mirrored ones first, then in the
    order of the gallery.

    The clip vector preselects ``n_candidates`` of all clips, or of those with ``is_allowed``; these are ordered by all
    ranking descriptors.

    ``variants`` is the query, and perhaps its mirror image, ``self_distance`` the query's distance from itself. The
    score is 1 for the query itself and 0 for the distance of unrelated clips, linear in between. It depends only on the
    query and the clip.
    """
    if not galleries:
        return []
    min_distance = (1.0 - ROUNDING_SHARE) * self_distance  # no clip is nearer than the query itself
    ranking_galleries = {name: galleries[name] for name in RANKING_DESCRIPTORS}
    ranking = rank_clips(
        variants, ranking_galleries, is_allowed=is_allowed, n_candidates=n_candidates, min_distance=min_distance
    )
    scores = distance_scores(min_distance, ranking.distances)
    rows = zip(ranking.clips.tolist(), scores.tolist(), ranking.variant_indices.tolist(), strict=True)
    return [RankedClip(*row) for row in islice(rows, limit)]


def self_distance(query: Description) -> float:
    """Return the distance of the query from itself, which is below 0, the distance of unrelated clips."""
    means_and_spreads = [query.all[name].background_distance for name in RANKING_DESCRIPTORS]
    return -2.0 * sum(mean / spread for mean, spread in means_and_spreads)


def distance_scores(self_distance: float, distances: Floats) -> Floats:
    """Return the scores of distances (C,) for a query with this self distance."""
    return (
        np.clip(distances / self_distance, 0.0, 1.0)
        if self_distance < 0.0
        else (distances <= self_distance).astype(np.float64)
    )
