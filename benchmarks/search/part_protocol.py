"""Evaluation of part search: whether returned spans contain the event of the query; defined in README.md."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.search.clips import Clip
from benchmarks.search.events import Event

from keypose.arrays import Bools
from keypose.library.canonical import FPS

MIN_QUERY_S, MAX_QUERY_S = 1.0, 4.0  # of a query, around the middle of its event
MAX_QUERIES, MAX_QUERIES_PER_SUBJECT, SEED = 60, 6, 1  # of each kind
FIRST_FEW = 5
MIN_OVERLAP_RATIO = 0.5  # of the shorter of event and span must overlap


@dataclass(frozen=True)
class Query:
    """A span of a clip with an event of one kind, and the clips to search (``gallery``)."""

    kind: str
    clip: int
    start_s: float
    end_s: float
    gallery: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """A span of a clip returned by a search."""

    clip: int
    start_s: float
    end_s: float


Search = Callable[[Query], Sequence[Span]]  # best first, at most one span per clip, only of clips of the gallery


@dataclass(frozen=True)
class PartFigures:
    """Share of first hits, and of the first five, that contain the event; and of random spans of equal length."""

    hit_1: float
    hit_5: float
    chance_1: float
    chance_5: float
    n_queries: int

    def __str__(self) -> str:
        return (
            f"{self.hit_1:.3f} of the first hits, chance {self.chance_1:.3f}; {self.hit_5:.3f} of the first "
            f"five, chance {self.chance_5:.3f}; {self.n_queries} queries"
        )


@dataclass(frozen=True)
class Corpus:
    """Clips with their durations and events."""

    clips: Sequence[Clip]
    durations_s: Sequence[float]
    events: Sequence[Sequence[Event]]

    def contains_event(self, span: Span, kind: str) -> bool:
        """Return whether the span overlaps an event of that kind by half of the shorter of both."""
        return any(
            min(event.end_s, span.end_s) - max(event.start_s, span.start_s)
            >= MIN_OVERLAP_RATIO * min(event.end_s - event.start_s, span.end_s - span.start_s)
            for event in self.events[span.clip]
            if event.kind == kind
        )

    def clips_with_event(self, kind: str) -> Bools:
        """Return which clips (N,) have an event of that kind."""
        return np.array([any(event.kind == kind for event in events) for events in self.events])

    def chance(self, gallery: Sequence[int], kind: str, length_s: float) -> float:
        """Return the share of all spans of a length, at every frame of the gallery, that contain an event of a kind.

        A shorter clip is one span, as a whole.
        """
        n_hits = total = 0
        for clip in gallery:
            length = min(length_s, self.durations_s[clip])
            starts = np.arange(round((self.durations_s[clip] - length) * FPS) + 1) / FPS
            total += len(starts)
            is_hit = np.zeros(len(starts), bool)
            for event in self.events[clip]:
                if event.kind == kind:
                    overlap = np.minimum(event.end_s, starts + length) - np.maximum(event.start_s, starts)
                    is_hit |= overlap >= MIN_OVERLAP_RATIO * min(event.end_s - event.start_s, length)
            n_hits += int(is_hit.sum())
        return n_hits / total


def draw_queries(corpus: Corpus, kind: str, *, only_with_event: bool) -> list[Query]:
    """Return events of a kind as queries to clips of other subjects: drawn once, few per subject.

    ``only_with_event``: search only clips with such an event, so that only its position in the clip must be found.
    """
    events = [(k, event) for k, clip_events in enumerate(corpus.events) for event in clip_events if event.kind == kind]
    random.Random(SEED).shuffle(events)
    subjects = [clip.subject for clip in corpus.clips]
    is_eligible = corpus.clips_with_event(kind) if only_with_event else np.ones(len(subjects), bool)
    n_by_subject: dict[str, int] = {}
    queries: list[Query] = []
    for clip, event in events:
        subject = subjects[clip]
        gallery = tuple(k for k, other in enumerate(subjects) if other != subject and is_eligible[k])
        if n_by_subject.get(subject, 0) < MAX_QUERIES_PER_SUBJECT and gallery:
            n_by_subject[subject] = n_by_subject.get(subject, 0) + 1
            queries.append(Query(kind, clip, *_widen(event, corpus.durations_s[clip]), gallery))
    return queries[:MAX_QUERIES]


def evaluate_part_search(search: Search, corpus: Corpus, queries: Sequence[Query]) -> PartFigures:
    """Return means over queries. Chance is that of spans of the same length as those returned, so that long spans are
    no advantage."""
    hits: list[list[bool]] = []
    chances: list[list[float]] = []
    chance_cache: dict[tuple[str, tuple[int, ...], int], float] = {}
    for query in queries:
        spans = list(search(query))[:FIRST_FEW]
        if not spans or len({span.clip for span in spans}) < len(spans) or {s.clip for s in spans} - set(query.gallery):
            raise ValueError(f"{query.kind} of clip {query.clip}: expected spans of different clips of the gallery")
        hits.append([corpus.contains_event(span, query.kind) for span in spans])
        lengths = [round((span.end_s - span.start_s) * FPS) for span in spans]
        for length in set(lengths):
            key = query.kind, query.gallery, length
            if key not in chance_cache:
                chance_cache[key] = corpus.chance(query.gallery, query.kind, length / FPS)
        chances.append([chance_cache[query.kind, query.gallery, length] for length in lengths])
    return PartFigures(
        float(np.mean([each[0] for each in hits])),
        float(np.mean([np.mean(each) for each in hits])),
        float(np.mean([each[0] for each in chances])),
        float(np.mean([np.mean(each) for each in chances])),
        len(queries),
    )


def count_events(corpus: Corpus) -> Mapping[str, tuple[int, int, int]]:
    """Return the numbers of events, clips and subjects by kind."""
    kinds = sorted({event.kind for events in corpus.events for event in events})
    event_counts = {}
    for kind in kinds:
        clips = np.flatnonzero(corpus.clips_with_event(kind)).tolist()
        n = sum(event.kind == kind for events in corpus.events for event in events)
        event_counts[kind] = n, len(clips), len({corpus.clips[k].subject for k in clips})
    return event_counts


def _widen(event: Event, duration_s: float) -> tuple[float, float]:
    """Return a span around the middle of the event, of MIN_QUERY_S to MAX_QUERY_S, within the clip."""
    length = min(max(event.end_s - event.start_s, MIN_QUERY_S), MAX_QUERY_S, duration_s)
    start = min(max((event.start_s + event.end_s - length) / 2, 0.0), duration_s - length)
    return start, start + length
