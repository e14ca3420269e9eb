"""Search results, and their construction from ranked candidates."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from keypose.library.descriptors import Description
from keypose.library.descriptors.clip_vector import KINDS, SECOND
from keypose.library.descriptors.description import Singles, distances
from keypose.library.extra import sa
from keypose.library.records import Clip
from keypose.library.rows import load_clips_by_id
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.query import Query, select_swing_parts
from keypose.library.search.swing_overlap import SwingMatch, SwingSpan, match_swings

MAX_NAMED_PARTS = 2

MAX_SPANS = 5
SHORT_DESCRIPTORS = tuple(name for name, kind in KINDS.items() if kind.scale == SECOND)


class SpanPair(NamedTuple):
    """A span of the query and the matching span of the clip, in seconds."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    distance: float  # windows: standardised, below 0; poses: centimetres


@dataclass(frozen=True, eq=False)
class MatchDetails:
    """The spans, joints and swings in which the query and a hit agree.

    ``swings`` are loaded on first use; a clip that has been deleted has none.
    """

    spans: tuple[SpanPair, ...] = ()  # the nearest first
    joint_distance_cm: float | None = None  # search by pose: mean, on a figure of 1.7 m
    load_swings: Callable[[], tuple[SwingMatch, ...]] | None = field(default=None, repr=False)

    @property
    def swings(self) -> tuple[SwingMatch, ...]:
        """The agreeing swings, the longest common time first."""
        swings: tuple[SwingMatch, ...] | None = self.__dict__.get("_swings")
        if swings is None:  # not a cached_property, which blocks other threads in Python 3.11
            swings = self.__dict__["_swings"] = () if self.load_swings is None else self.load_swings()
        return swings

    def __getstate__(self) -> dict[str, object]:
        """Pickle the swings themselves instead of the library."""
        return {**vars(self), "load_swings": None, "_swings": self.swings}


@dataclass(frozen=True)
class Hit:
    """A clip that was found, and the matching span.

    Frames are a half-open range: ``library.get(hit.clip.hash)[hit.start:hit.end]`` is the span.
    """

    clip: Clip
    score: float  # 0 to 1, higher is nearer; 1: the same
    start: int  # first frame
    end: int  # the frame after the last
    start_s: float
    end_s: float
    query_start_s: float  # matching span of the query
    query_end_s: float
    mirrored: bool = False  # matches with left and right exchanged
    duplicates: tuple[str, ...] = ()  # names of copies of the same take
    duplicate_hashes: tuple[str, ...] = ()  # of the same clips
    details: MatchDetails = field(default_factory=MatchDetails, compare=False)

    def __repr__(self) -> str:
        mirrored = ", mirrored" if self.mirrored else ""
        return f"Hit({self.name!r}, score {self.score:.2f}, frames {self.start}:{self.end}{mirrored})"

    @property
    def name(self) -> str:
        """Name of the clip."""
        return self.clip.name

    @property
    def explanation(self) -> str:
        """The matching span, joints and swings in one line."""
        return "; ".join(filter(None, (self._span_text(), self._swing_text(), self._duplicate_text())))

    @property
    def body_parts(self) -> tuple[str, ...]:
        """Body parts that swing alike in query and clip, those with the longest common time first."""
        return tuple(dict.fromkeys(swing.body_part for swing in self.details.swings))

    def _span_text(self) -> str:
        side = ", mirrored" if self.mirrored else ""
        if self.details.joint_distance_cm is not None:
            return f"second {self.start_s:.1f}{side}; joints {self.details.joint_distance_cm:.1f} cm apart on average"
        return f"seconds {self.start_s:.1f} to {self.end_s:.1f}{side}"

    def _swing_text(self) -> str:
        named_parts = [part.replace("_", " ") for part in self.body_parts[:MAX_NAMED_PARTS]]
        if not named_parts:
            return ""
        return f"{' and '.join(named_parts)} {'swings' if len(named_parts) == 1 else 'swing'} alike"

    def _duplicate_text(self) -> str:
        return f"same take as {', '.join(self.duplicates)}" if self.duplicates else ""


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
    """Loads the agreeing swings on first use, for all hits of a search at once."""

    def __init__(self, query: Query, source: CandidateSource, joints: Sequence[str] | None) -> None:
        self._query = query
        self._source = source
        self._joints = joints  # body parts of the query to compare; None: all
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
            (query_table, query_table.mirror())
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

    Deleted clips are omitted. Only swings of the body parts ``joints`` of the query are matched.
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


@dataclass(frozen=True)
class MatchingSpans:
    """The overall ranges in which two clips match, and the best matching windows, nearest first."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    spans: tuple[SpanPair, ...]


def find_matching_spans(query: Description, clips: Sequence[Description]) -> list[MatchingSpans | None]:
    """Return, for each clip, the pairs of mutually nearest windows nearer than unrelated ones; None if there are none.

    Uses the descriptors with the shortest windows.
    """
    return [
        _match_windows(query, clip, clip_distances)
        for clip, clip_distances in zip(clips, _window_distances(query, clips), strict=True)
    ]


def _match_windows(query: Description, clip: Description, distances: Singles) -> MatchingSpans | None:
    query_windows, clip_windows = query.windows[SHORT_DESCRIPTORS[0]], clip.windows[SHORT_DESCRIPTORS[0]]
    nearest = np.zeros(distances.shape, bool)
    nearest[np.arange(len(query_windows)), distances.argmin(axis=1)] = True
    nearest[distances.argmin(axis=0), np.arange(len(clip_windows))] = True
    q, k = np.nonzero(nearest & (distances < 0.0))
    if not len(q):
        return None
    near_distances = distances[q, k]
    best = near_distances.argsort(kind="stable")[:MAX_SPANS]
    i, j = q[best], k[best]
    spans = (
        query_windows.starts_s[i],
        query_windows.ends_s[i],
        clip_windows.starts_s[j],
        clip_windows.ends_s[j],
        near_distances[best],
    )
    return MatchingSpans(
        float(query_windows.starts_s[q[0]]),
        float(query_windows.ends_s[q[-1]]),
        float(clip_windows.starts_s[k.min()]),
        float(clip_windows.ends_s[k.max()]),
        tuple(SpanPair(*pair) for pair in np.stack(spans, axis=1).tolist()),
    )


def _window_distances(query: Description, clips: Sequence[Description]) -> list[Singles]:
    """Return, for each clip, the distances of all pairs of windows, standardised by the background of the query.

    Summed over the descriptors with the shortest windows, for all clips at once.
    """
    if not clips:
        return []
    summed: Singles | float = 0.0
    for name in SHORT_DESCRIPTORS:
        query_windows = query.windows[name]
        mean, spread = query_windows.background_distance
        vectors = np.concatenate([clip.windows[name].vectors for clip in clips])
        summed = summed + (distances(query_windows.vectors, vectors) - mean) / spread
    ends = np.cumsum([len(clip.windows[SHORT_DESCRIPTORS[0]]) for clip in clips])
    return np.split(np.asarray(summed), ends[:-1], axis=1)
