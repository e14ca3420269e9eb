"""How good part search is: whether the spans that it returns hold what happens in the query; defined in README.md."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.search.clips import Clip
from benchmarks.search.events import Event

from keypose.arrays import Bools
from keypose.library.canonical import FPS

LEAST_QUERY_S, LONGEST_QUERY_S = 1.0, 4.0  # of a query, around the middle of its event
MOST_QUERIES, MOST_OF_A_SUBJECT, SEED = 60, 6, 1  # of each kind
FIRST_FEW = 5
HELD = 0.5  # of the shorter of event and span


@dataclass(frozen=True)
class Query:
    """A part of a clip in which something of one kind happens, and the clips it is looked for in."""

    kind: str
    clip: int
    start_s: float
    end_s: float
    gallery: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """A part of a clip that a search returned."""

    clip: int
    start_s: float
    end_s: float


Search = Callable[[Query], Sequence[Span]]  # best first, at most one span of a clip, of clips of the gallery alone


@dataclass(frozen=True)
class PartFigures:
    """How often the first hit, and each of the first five, holds the event; and spans as long drawn blindly."""

    held_1: float
    held_5: float
    chance_1: float
    chance_5: float
    n_queries: int

    def __str__(self) -> str:
        return (
            f"{self.held_1:.3f} of the first hits, chance {self.chance_1:.3f}; {self.held_5:.3f} of the first "
            f"five, chance {self.chance_5:.3f}; {self.n_queries} queries"
        )


@dataclass(frozen=True)
class Corpus:
    """Clips, how long each is, and what happens in it."""

    clips: Sequence[Clip]
    durations_s: Sequence[float]
    events: Sequence[Sequence[Event]]

    def holds(self, span: Span, kind: str) -> bool:
        """Whether an event of that kind is in the span: half of it, or half of the span is within it."""
        return any(
            min(event.end_s, span.end_s) - max(event.start_s, span.start_s)
            >= HELD * min(event.end_s - event.start_s, span.end_s - span.start_s)
            for event in self.events[span.clip]
            if event.kind == kind
        )

    def holding(self, kind: str) -> Bools:
        """Which clips have an event of that kind (N,)."""
        return np.array([any(event.kind == kind for event in events) for events in self.events])

    def chance(self, gallery: Sequence[int], kind: str, length_s: float) -> float:
        """The share of all spans of a length, frame by frame through the gallery, that hold an event of a kind.

        A clip that is shorter counts once, as a whole.
        """
        held = total = 0
        for clip in gallery:
            length = min(length_s, self.durations_s[clip])
            starts = np.arange(round((self.durations_s[clip] - length) * FPS) + 1) / FPS
            total += len(starts)
            found = np.zeros(len(starts), bool)
            for event in self.events[clip]:
                if event.kind == kind:
                    shared = np.minimum(event.end_s, starts + length) - np.maximum(event.start_s, starts)
                    found |= shared >= HELD * min(event.end_s - event.start_s, length)
            held += int(found.sum())
        return held / total


def queries_of(corpus: Corpus, kind: str, *, among_holders: bool) -> list[Query]:
    """Events of a kind as queries: drawn once, few of each subject, looked for in clips of other subjects.

    ``among_holders``: only in clips where it happens at all, so that the place in the clip is what must be found.
    """
    events = [(k, event) for k, some in enumerate(corpus.events) for event in some if event.kind == kind]
    random.Random(SEED).shuffle(events)
    subjects = [clip.subject for clip in corpus.clips]
    holding = corpus.holding(kind) if among_holders else np.ones(len(subjects), bool)
    taken: dict[str, int] = {}
    queries: list[Query] = []
    for clip, event in events:
        subject = subjects[clip]
        gallery = tuple(k for k, other in enumerate(subjects) if other != subject and holding[k])
        if taken.get(subject, 0) < MOST_OF_A_SUBJECT and gallery:
            taken[subject] = taken.get(subject, 0) + 1
            queries.append(Query(kind, clip, *_widened(event, corpus.durations_s[clip]), gallery))
    return queries[:MOST_QUERIES]


def evaluate_parts(search: Search, corpus: Corpus, queries: Sequence[Query]) -> PartFigures:
    """Means over queries. Chance is that of spans as long as those returned: long ones gain nothing."""
    held: list[list[bool]] = []
    chances: list[list[float]] = []
    known: dict[tuple[str, tuple[int, ...], int], float] = {}
    for query in queries:
        spans = list(search(query))[:FIRST_FEW]
        if not spans or len({span.clip for span in spans}) < len(spans) or {s.clip for s in spans} - set(query.gallery):
            raise ValueError(f"{query.kind} of clip {query.clip}: expected spans of different clips of the gallery")
        held.append([corpus.holds(span, query.kind) for span in spans])
        lengths = [round((span.end_s - span.start_s) * FPS) for span in spans]
        for length in set(lengths):
            key = query.kind, query.gallery, length
            if key not in known:
                known[key] = corpus.chance(query.gallery, query.kind, length / FPS)
        chances.append([known[query.kind, query.gallery, length] for length in lengths])
    return PartFigures(
        float(np.mean([each[0] for each in held])),
        float(np.mean([np.mean(each) for each in held])),
        float(np.mean([each[0] for each in chances])),
        float(np.mean([np.mean(each) for each in chances])),
        len(queries),
    )


def counts(corpus: Corpus) -> Mapping[str, tuple[int, int, int]]:
    """For each kind how many events, clips and subjects there are."""
    kinds = sorted({event.kind for events in corpus.events for event in events})
    found = {}
    for kind in kinds:
        holding = np.flatnonzero(corpus.holding(kind)).tolist()
        n = sum(event.kind == kind for events in corpus.events for event in events)
        found[kind] = n, len(holding), len({corpus.clips[k].subject for k in holding})
    return found


def _widened(event: Event, duration_s: float) -> tuple[float, float]:
    """A span around the event's middle, no shorter than a second nor longer than a few, within the clip."""
    length = min(max(event.end_s - event.start_s, LEAST_QUERY_S), LONGEST_QUERY_S, duration_s)
    start = min(max((event.start_s + event.end_s - length) / 2, 0.0), duration_s - length)
    return start, start + length
