"""Which stretches of two clips are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.library.descriptors import Description
from keypose.library.descriptors.learnt import distances
from keypose.library.descriptors.matching import RANKED_BY
from keypose.library.searching.hits import SpanPair

MOST_SPANS = 5


@dataclass(frozen=True)
class Alike:
    """From where to where two clips are alike, and the stretches that are most alike, the nearest first."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    spans: tuple[SpanPair, ...]


def alike(query: Description, clip: Description) -> Alike | None:
    """The windows of each clip whose nearest of the other one is nearer than is usual, with that one; None: no such.

    Of the descriptors that rank, those with the shortest windows say where.
    """
    names = _shortest(query, clip)
    ours, theirs = query.windows[names[0]], clip.windows[names[0]]
    away = sum((_away(query, clip, name) for name in names), np.zeros((len(ours), len(theirs))))
    q = np.concatenate((np.arange(len(ours)), away.argmin(axis=0)))
    k = np.concatenate((away.argmin(axis=1), np.arange(len(theirs))))
    near = away[q, k] < 0.0
    if not near.any():
        return None
    q, k = q[near], k[near]
    spans = [
        SpanPair(*map(float, (ours.starts_s[i], ours.ends_s[i], theirs.starts_s[j], theirs.ends_s[j], away[i, j])))
        for i, j in dict.fromkeys((int(q[at]), int(k[at])) for at in np.lexsort((k, q, away[q, k]))[: 2 * MOST_SPANS])
    ]
    return Alike(
        float(ours.starts_s[q].min()),
        float(ours.ends_s[q].max()),
        float(theirs.starts_s[k].min()),
        float(theirs.ends_s[k].max()),
        tuple(spans[:MOST_SPANS]),
    )


def _shortest(query: Description, clip: Description) -> list[str]:
    """The descriptors with the shortest windows: as many as have the same ones."""
    here = [name for name in RANKED_BY if name in query.windows]
    cuts = {name: tuple((len(each), float(each.ends_s[0])) for each in (query.windows[name], clip.windows[name]))
            for name in here}  # fmt: skip
    first = min(here, key=lambda name: sum(length_s for _, length_s in cuts[name]))
    return [name for name in here if cuts[name] == cuts[first]]


def _away(query: Description, clip: Description, name: str) -> Floats:
    """Of each window from each, in spreads of what is usual for the query."""
    ours, theirs = query.windows[name], clip.windows[name]
    mean, spread = ours.usual
    return np.asarray((distances(ours.vectors, theirs.vectors) - mean) / spread, np.float64)
