"""Which stretches of two clips are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.library.descriptors import Description
from keypose.library.descriptors.covariance import KINDS, SECOND
from keypose.library.descriptors.learnt import distances
from keypose.library.descriptors.noun import Singles
from keypose.library.searching.hits import SpanPair

MOST_SPANS = 5
SHORTEST = tuple(name for name, kind in KINDS.items() if kind.scale == SECOND)


@dataclass(frozen=True)
class Alike:
    """From where to where two clips are alike, and the stretches that are most alike, the nearest first."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    spans: tuple[SpanPair, ...]


def alike(query: Description, clips: Sequence[Description]) -> list[Alike | None]:
    """For each clip, the windows of both whose nearest of the other one is nearer than is usual; None: no such.

    The descriptors with the shortest windows say where.
    """
    return [_near(query, clip, away) for clip, away in zip(clips, _away(query, clips), strict=True)]


def _near(query: Description, clip: Description, away: Singles) -> Alike | None:
    ours, theirs = query.windows[SHORTEST[0]], clip.windows[SHORTEST[0]]
    nearest = np.zeros(away.shape, bool)
    nearest[np.arange(len(ours)), away.argmin(axis=1)] = True
    nearest[away.argmin(axis=0), np.arange(len(theirs))] = True
    q, k = np.nonzero(nearest & (away < 0.0))
    if not len(q):
        return None
    far = away[q, k]
    best = far.argsort(kind="stable")[:MOST_SPANS]
    i, j = q[best], k[best]
    spans = (ours.starts_s[i], ours.ends_s[i], theirs.starts_s[j], theirs.ends_s[j], far[best])
    return Alike(
        float(ours.starts_s[q[0]]),
        float(ours.ends_s[q[-1]]),
        float(theirs.starts_s[k.min()]),
        float(theirs.ends_s[k.max()]),
        tuple(SpanPair(*pair) for pair in np.stack(spans, axis=1).tolist()),
    )


def _away(query: Description, clips: Sequence[Description]) -> list[Singles]:
    """Of each window of the query from each of each clip, in spreads of what is usual for the query.

    By all descriptors that have the shortest windows, all clips at once.
    """
    if not clips:
        return []
    summed: Singles | float = 0.0
    for name in SHORTEST:
        ours = query.windows[name]
        mean, spread = ours.usual
        vectors = np.concatenate([clip.windows[name].vectors for clip in clips])
        summed = summed + (distances(ours.vectors, vectors) - mean) / spread
    ends = np.cumsum([len(clip.windows[SHORTEST[0]]) for clip in clips])
    return np.split(np.asarray(summed), ends[:-1], axis=1)
