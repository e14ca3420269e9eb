"""Evaluation of rankings of whole clips, defined in README.md, the same for every ranker."""

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
    """Quality of a ranking, each figure from 0 to 1, over ``n_queries``."""

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
class RankedQuery:
    """Relevance of the gallery for one query, best first."""

    query: int
    is_relevant: Bools  # (G,)

    @property
    def precision_1(self) -> float:
        """1 if the first clip is relevant, else 0."""
        return float(self.is_relevant[0])

    @property
    def precision_5(self) -> float:
        """Share of relevant clips among the first five, or among all if there are fewer."""
        return float(self.is_relevant[:FIRST_FEW].mean())

    @property
    def average_precision(self) -> float:
        """Mean, over the relevant clips, of the precision down to each."""
        ranks = np.flatnonzero(self.is_relevant)
        return float(np.mean(np.arange(1, len(ranks) + 1) / (ranks + 1)))


def gallery_indices(clips: Sequence[Clip], query: int, leave_out: LeaveOut = "subject") -> Indices:
    """Return the clips a query is compared with: those of other subjects, or all other clips."""
    if leave_out == "clip":
        return np.flatnonzero(np.arange(len(clips)) != query)
    return np.flatnonzero([clip.subject != clips[query].subject for clip in clips])


def rank_queries(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> list[RankedQuery]:
    """Rank the gallery of each query that has a relevant clip, in the order of the clips."""
    labels = np.array([clip.label for clip in clips])
    ranked_queries = []
    for query in range(len(clips)):
        gallery = gallery_indices(clips, query, leave_out)
        is_relevant = labels[gallery] == labels[query]
        if is_relevant.any():
            ranked_queries.append(
                RankedQuery(query, is_relevant[order_by_score(_checked_scores(rank, query, gallery), is_relevant)])
            )
    return ranked_queries


def order_by_score(scores: Floats, is_relevant: Bools) -> Indices:
    """Return the order by falling score; irrelevant clips come first among equal scores, so that equal scores are no
    advantage."""
    return np.lexsort((is_relevant, -scores))


def evaluate(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> Figures:
    """Return means over all queries that have a clip of their class in the gallery.

    ``rank(query, gallery)`` takes indices of ``clips`` and returns a score per clip of the gallery, higher is nearer.
    It must not use ``Clip.label``, and not be learned from the subject of the query.
    """
    return mean_figures(rank_queries(rank, clips, leave_out))


def evaluate_by_class(rank: Rank, clips: Sequence[Clip], leave_out: LeaveOut = "subject") -> dict[str, Figures]:
    """Return the figures for the queries of each class."""
    ranked_queries = rank_queries(rank, clips, leave_out)
    labels = sorted({clips[each.query].label for each in ranked_queries})
    return {
        label: mean_figures([each for each in ranked_queries if clips[each.query].label == label]) for label in labels
    }


def mean_figures(ranked_queries: Sequence[RankedQuery]) -> Figures:
    """Return means over queries."""
    if not ranked_queries:
        raise ValueError("no query has anything to be found")
    return Figures(
        float(np.mean([each.precision_1 for each in ranked_queries])),
        float(np.mean([each.precision_5 for each in ranked_queries])),
        float(np.mean([each.average_precision for each in ranked_queries])),
        len(ranked_queries),
    )


def _checked_scores(rank: Rank, query: int, gallery: Indices) -> Floats:
    scores = np.asarray(rank(query, gallery), np.float64)
    if scores.shape != gallery.shape or not np.isfinite(scores).all():
        raise ValueError(f"scores {scores.shape} of query {query}, expected {len(gallery)} finite numbers")
    return scores
