"""How good a ranking of whole clips is: exactly defined in README.md, the same for every ranker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from benchmarks.search.clips import Clip
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Bools, Floats

Indices = NDArray[np.intp]
Rank = Callable[[int, Indices], ArrayLike]  # (query, gallery) -> a score for each of the gallery, higher is nearer
LeaveOut = Literal["subject", "clip"]
FIRST_FEW = 5


@dataclass(frozen=True)
class Figures:
    """What a ranking is worth, each from 0 to 1, over so many queries."""

    precision_1: float
    precision_5: float
    mean_average_precision: float
    n_queries: int

    def __str__(self) -> str:
        return (
            f"precision@1 {self.precision_1:.3f}, @5 {self.precision_5:.3f}, "
            f"mean average precision {self.mean_average_precision:.3f} over {self.n_queries} queries"
        )


@dataclass(frozen=True)
class Ranked:
    """How one query went: which of the gallery were relevant, best first."""

    query: int
    relevant: Bools  # (G,)

    @property
    def precision_1(self) -> float:
        """Whether the best one is relevant."""
        return float(self.relevant[0])

    @property
    def precision_5(self) -> float:
        """The share of the first five that are relevant; of all, where there are fewer."""
        return float(self.relevant[:FIRST_FEW].mean())

    @property
    def average_precision(self) -> float:
        """The mean, over the relevant ones, of the precision down to where each is."""
        places = np.flatnonzero(self.relevant)
        return float(np.mean(np.arange(1, len(places) + 1) / (places + 1)))


def gallery_of(clips: Sequence[Clip], query: int, leave_out: LeaveOut = "subject") -> Indices:
    """What a query is compared with: all clips of other subjects, or all other clips."""
    if leave_out == "clip":
        return np.flatnonzero(np.arange(len(clips)) != query)
    return np.flatnonzero([clip.subject != clips[query].subject for clip in clips])


def rankings(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> list[Ranked]:
    """How each query went that has anything to be found, in the order of the clips."""
    labels = np.array([clip.label for clip in clips])
    found = []
    for query in range(len(clips)):
        gallery = gallery_of(clips, query, leave_out)
        relevant = labels[gallery] == labels[query]
        if relevant.any():
            found.append(Ranked(query, relevant[best_first(_scores(rank, query, gallery), relevant)]))
    return found


def best_first(scores: Floats, relevant: Bools) -> Indices:
    """The order by falling score. Of equal scores the irrelevant come first: who cannot tell gains nothing."""
    return np.lexsort((relevant, -scores))


def evaluate(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> Figures:
    """Means over all queries that have a clip of their class in the gallery.

    ``rank(query, gallery)`` takes indices of ``clips`` and gives a score for each of the gallery, higher is nearer. It
    must not look at ``Clip.label``, nor have learnt from the query's subject.
    """
    return figures_of(rankings(rank, clips, leave_out))


def by_class(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> dict[str, Figures]:
    """The same for the queries of each class."""
    ranked = rankings(rank, clips, leave_out)
    labels = sorted({clips[each.query].label for each in ranked})
    return {label: figures_of([each for each in ranked if clips[each.query].label == label]) for label in labels}


def figures_of(ranked: Sequence[Ranked]) -> Figures:
    """Means over queries."""
    if not ranked:
        raise ValueError("no query has anything to be found")
    return Figures(
        float(np.mean([each.precision_1 for each in ranked])),
        float(np.mean([each.precision_5 for each in ranked])),
        float(np.mean([each.average_precision for each in ranked])),
        len(ranked),
    )


def _scores(rank: Rank, query: int, gallery: Indices) -> Floats:
    scores = np.asarray(rank(query, gallery), np.float64)
    if scores.shape != gallery.shape or not np.isfinite(scores).all():
        raise ValueError(f"scores {scores.shape} of query {query}, expected {len(gallery)} finite numbers")
    return scores
