"""The matching spans of two clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.library.descriptors import Description
from keypose.library.descriptors.covariance import KINDS, SECOND
from keypose.library.descriptors.description import Singles
from keypose.library.descriptors.learned_spaces import distances
from keypose.library.search.hits import SpanPair

MAX_SPANS = 5
SHORT_DESCRIPTORS = tuple(name for name, kind in KINDS.items() if kind.scale == SECOND)


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
