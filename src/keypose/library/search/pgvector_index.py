"""Candidates from the HNSW index of PostgreSQL; they are then loaded and ranked as in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats
from keypose.library import search_vectors
from keypose.library.db.postgres_vectors import NearestQuery, VectorIndex
from keypose.library.descriptors import Description, build_galleries
from keypose.library.descriptors.description import Singles
from keypose.library.extra import sa
from keypose.library.search.candidate_source import (
    ClipCandidates,
    ClipIds,
    ClipQuery,
    PartCandidates,
    PoseMatch,
    select_spaced,
)
from keypose.library.search.memory_index import TableReader
from keypose.library.search.part_gallery import PartGallery, PartTrack
from keypose.library.search.swing_overlap import SwingTable
from keypose.library.tables import clips

MAX_QUERY_WINDOWS = 6  # maximum number of windows of a part that are searched, evenly distributed
MIN_CLIPS = 64  # per window: benchmarks/vectors/candidates.py
ROWS_PER_CLIP = 4  # requested rows per clip, as one clip may have several
SCAN_ALL_FACTOR = 2  # up to this factor times ``n_candidates`` clips are all ranked, without the index


class _IndexRow(NamedTuple):
    """A row of the vector index, and the variant of the query that it is near to."""

    clip_id: int
    window: int
    variant: int


class PgVectorIndex:
    """A candidate source without a cache: every search queries the database, and loads the clips to rank."""

    def __init__(self, reader: TableReader, vectors: VectorIndex) -> None:
        self._reader = reader
        self._vectors = vectors

    def clip_candidates(
        self, connection: sa.Connection, variants: Sequence[Description], clip_query: ClipQuery, n_candidates: int
    ) -> ClipCandidates:
        """Return the nearest clips by each vector of the whole clip."""
        query_vectors = [(name, windows.vectors[0]) for variant in variants for name, windows in variant.clip.items()]
        nearest_ids = self._nearest_clips(connection, query_vectors, clip_query, n_candidates, n_rows=n_candidates)
        descriptions = self._reader.descriptions(connection, nearest_ids)
        clip_ids = np.array(sorted(descriptions), np.int64)
        ordered = [descriptions[clip_id] for clip_id in clip_ids.tolist()]
        return ClipCandidates(clip_ids, build_galleries(ordered, tuple(ordered[0].all)) if ordered else {})

    def part_candidates(
        self, connection: sa.Connection, variants: Sequence[PartTrack], clip_query: ClipQuery, n_candidates: int
    ) -> PartCandidates:
        """Return clips with a second of motion near one of the query."""
        query_vectors = [
            (search_vectors.PART_WINDOWS, window)
            for variant in variants
            for window in sample_windows(search_vectors.part_windows(variant))
        ]
        n_candidates = max(n_candidates, MIN_CLIPS)
        nearest_ids = self._nearest_clips(
            connection, query_vectors, clip_query, n_candidates, n_rows=ROWS_PER_CLIP * n_candidates
        )
        tracks = self._reader.tracks(connection, nearest_ids)
        clip_ids = np.array(sorted(tracks), np.int64)
        return PartCandidates(
            clip_ids, PartGallery.build([tracks[clip_id] for clip_id in clip_ids.tolist()]) if tracks else None
        )

    def nearest_poses(
        self,
        connection: sa.Connection,
        variants: Sequence[Singles],
        scales: Floats,
        clip_query: ClipQuery,
        limit: int,
        min_gap_s: float = math.inf,
    ) -> tuple[PoseMatch, ...]:
        """Return the nearest poses in half precision, with exact distances."""
        searchable = self._reader.restrict_to_searchable(connection, clip_query)
        n_rows = ROWS_PER_CLIP * limit + 16
        while True:
            rows, is_complete = self._pose_rows(connection, variants, scales, searchable, n_rows)
            poses = select_spaced(self._measure_poses(connection, rows, variants, scales), limit, min_gap_s)
            if len(poses) == limit or is_complete:
                return poses
            n_rows *= 4

    def swing_tables(self, connection: sa.Connection, clip_query: ClipQuery) -> tuple[ClipIds, tuple[SwingTable, ...]]:
        """Read the tables for every search."""
        searchable = self._reader.restrict_to_searchable(connection, clip_query)
        tables = self._reader.swing_tables(connection, _select_ids(connection, searchable))
        return np.array(sorted(tables), np.int64), tuple(tables[clip_id] for clip_id in sorted(tables))

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Description]:
        """Read descriptions."""
        return dict(self._reader.descriptions(connection, clip_ids))

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        """Read tracks."""
        return dict(self._reader.tracks(connection, clip_ids))

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Read swing tables."""
        return dict(self._reader.swing_tables_by_id(connection, clip_ids))

    def _all_if_few(self, connection: sa.Connection, clip_query: ClipQuery, n_candidates: int) -> list[int] | None:
        """Return the ids of all clips to search if there are so few that ranking all is faster; else None."""
        max_clips = SCAN_ALL_FACTOR * n_candidates
        clip_ids = _select_ids(connection, clip_query, max_clips + 1)
        return clip_ids if len(clip_ids) <= max_clips else None

    def _nearest_clips(
        self,
        connection: sa.Connection,
        query_vectors: Sequence[tuple[str, Singles]],
        clip_query: ClipQuery,
        n_candidates: int,
        n_rows: int,
    ) -> list[int]:
        """Return the clips of the rows nearest to each query vector: at least ``n_candidates`` if there are."""
        searchable = self._reader.restrict_to_searchable(connection, clip_query)
        all_ids = self._all_if_few(connection, searchable, n_candidates)
        if all_ids is not None:
            return all_ids
        clip_ids: set[int] = set()
        for name, vector in query_vectors:
            limit = n_rows
            while True:
                rows = self._vectors.nearest(connection, name, vector, NearestQuery(limit, searchable))
                clip_ids.update(clip_id for clip_id, _ in rows)
                if len({clip_id for clip_id, _ in rows}) >= n_candidates or len(rows) < limit:
                    break
                limit *= 4
        return sorted(clip_ids)

    def _pose_rows(
        self, connection: sa.Connection, variants: Sequence[Singles], scales: Floats, clip_query: ClipQuery, n_rows: int
    ) -> tuple[list[_IndexRow], bool]:
        """Return the rows nearest to each variant, and whether these are all rows."""
        query = NearestQuery(n_rows, clip_query, None if np.all(scales == scales[0]) and scales[0] else scales)
        rows_by_variant = [
            self._vectors.nearest(connection, search_vectors.POSES, variant, query) for variant in variants
        ]
        rows = [
            _IndexRow(clip_id, window, variant)
            for variant, found in enumerate(rows_by_variant)
            for clip_id, window in found
        ]
        return rows, all(len(found) < n_rows for found in rows_by_variant)

    def _measure_poses(
        self, connection: sa.Connection, rows: Sequence[_IndexRow], variants: Sequence[Singles], scales: Floats
    ) -> Iterator[PoseMatch]:
        """Return each stored pose once, with its nearest variant, nearest first."""
        poses_by_clip = self._reader.poses(connection, sorted({row.clip_id for row in rows}))
        best: dict[tuple[int, int], PoseMatch] = {}
        for clip_id, window, variant in rows:
            poses = poses_by_clip.get(clip_id)
            if poses is None or window >= len(poses):
                continue  # the row was rewritten between the two statements
            distance = float(np.sqrt((((poses.vectors[window] - variants[variant]) * scales) ** 2).sum()))
            previous = best.get((clip_id, window))
            if previous is None or distance < previous.distance:
                time_s = float(poses.starts_s[window])
                best[clip_id, window] = PoseMatch(clip_id, time_s, distance, variant, poses.vectors[window])
        return iter(sorted(best.values(), key=lambda pose: (pose.distance, pose.clip_id, pose.time_s)))


def sample_windows(windows: Singles) -> Singles:
    """Return at most MAX_QUERY_WINDOWS windows, evenly distributed."""
    at = np.unique(np.linspace(0, len(windows) - 1, min(len(windows), MAX_QUERY_WINDOWS)).round().astype(int))
    sampled: Singles = windows[at]
    return sampled


def _select_ids(connection: sa.Connection, clip_query: ClipQuery, limit: int | None = None) -> list[int]:
    statement = sa.select(clips.c.id).limit(limit)
    if clip_query is not None:
        statement = statement.where(clips.c.id.in_(clip_query))
    return list(connection.scalars(statement))
