"""Conversion of ranked candidates to hits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from keypose.library.extra import sa
from keypose.library.rankers.swing_overlap import SwingMatch, SwingSpan, match_swings
from keypose.library.records import Clip
from keypose.library.rows import load_clips_by_id
from keypose.library.search.body_parts import select_swing_parts
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.hits import Hit, MatchDetails, SpanPair
from keypose.library.search.query import Query


@dataclass(frozen=True, eq=False)
class Candidate:
    """A span of a clip that matches a span of the query."""

    clip_id: int
    score: float
    start_s: float
    end_s: float  # infinite: the end of the clip
    query_start_s: float
    query_end_s: float
    mirrored: bool
    spans: tuple[SpanPair, ...] = ()
    joint_distance_cm: float | None = None


class SwingMatchLoader:
    """Loads the agreeing swings when first needed, for all hits of a search at once."""

    def __init__(self, query: Query, source: CandidateSource, joints: Sequence[str] | None) -> None:
        self._query = query
        self._source = source
        self._joints = joints  # body parts of the query that matter; None: all
        self._candidates: list[Candidate] = []
        self._matches: list[tuple[SwingMatch, ...]] | None = None
        self._lock = threading.Lock()

    def add(self, candidate: Candidate) -> Callable[[], tuple[SwingMatch, ...]]:
        """Register a candidate; return the function that loads its swing matches."""
        index = len(self._candidates)
        self._candidates.append(candidate)
        return lambda: self._load_once()[index]

    def _load_once(self) -> list[tuple[SwingMatch, ...]]:
        with self._lock:
            if self._matches is None:
                self._matches = self._load()
            return self._matches

    def _load(self) -> list[tuple[SwingMatch, ...]]:
        """Load the swing matches of all candidates; a deleted clip has none."""
        with self._query.store.database.begin_read() as connection:
            query = self._query.load_swing_table(connection, self._source)
            tables_by_id = self._source.swing_tables_by_id(
                connection, [candidate.clip_id for candidate in self._candidates]
            )
        query_table = query if self._joints is None else query.restrict(select_swing_parts(self._joints))
        variants = (
            (query_table, query_table.mirrored())
            if any(candidate.mirrored for candidate in self._candidates)
            else (query_table,)
        )
        return [
            match_swings(
                SwingSpan(variants[candidate.mirrored], candidate.query_start_s, candidate.query_end_s),
                SwingSpan(tables_by_id[candidate.clip_id], candidate.start_s, candidate.end_s),
            )
            if candidate.clip_id in tables_by_id
            else ()
            for candidate in self._candidates
        ]


def build_hits(
    connection: sa.Connection,
    source: CandidateSource,
    query: Query,
    candidates: Sequence[Candidate],
    duplicates: Mapping[int, Sequence[int]],
    joints: Sequence[str] | None = None,
) -> tuple[Hit, ...]:
    """Return the hits, in the order of ``candidates``; ``duplicates`` are the ids of copies by clip id.

    Deleted clips are left out. Only swings of the body parts ``joints`` of the query are matched.
    """
    clip_ids = {*(each.clip_id for each in candidates), *(copy for group in duplicates.values() for copy in group)}
    clips_by_id = load_clips_by_id(connection, sorted(clip_ids))
    loader = SwingMatchLoader(query, source, joints)
    return tuple(
        _build_hit(
            loader,
            each,
            clips_by_id[each.clip_id],
            [clips_by_id[n] for n in duplicates.get(each.clip_id, ()) if n in clips_by_id],
        )
        for each in candidates
        if each.clip_id in clips_by_id
    )


def _build_hit(loader: SwingMatchLoader, candidate: Candidate, clip: Clip, duplicates: Sequence[Clip]) -> Hit:
    start, end = frames_between(clip, candidate.start_s, candidate.end_s)
    placed = replace(candidate, start_s=start / clip.fps, end_s=end / clip.fps)
    load_swings = loader.add(placed) if candidate.joint_distance_cm is None else None
    return Hit(
        clip,
        score=candidate.score,
        start=start,
        end=end,
        start_s=placed.start_s,
        end_s=placed.end_s,
        query_start_s=candidate.query_start_s,
        query_end_s=candidate.query_end_s,
        mirrored=candidate.mirrored,
        duplicates=tuple(copy.name for copy in duplicates),
        duplicate_hashes=tuple(copy.hash for copy in duplicates),
        details=MatchDetails(candidate.spans, candidate.joint_distance_cm, load_swings),
    )


def frames_between(clip: Clip, start_s: float, end_s: float) -> tuple[int, int]:
    """Return the frames of a clip between two times as a half-open range, at least one."""
    start = min(max(round(start_s * clip.fps), 0), clip.n_frames - 1)
    return start, min(max(round(min(end_s, clip.duration_s) * clip.fps), start + 1), clip.n_frames)
