"""Ranking of whole clips by distance, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery
from keypose.library.descriptors.gallery_ranking import DEFAULT_KEEP, RANKING_DESCRIPTORS, rank_clips

ROUNDING_SHARE = 1e-3  # of the distance from the query to unrelated clips: less is rounding


class RankedClip(NamedTuple):
    """One clip of a gallery."""

    clip_index: int  # in the gallery
    score: float
    variant: int  # 1: the mirror image is nearer


def score_clips(
    variants: Sequence[Description],
    self_distance: float,
    galleries: Mapping[str, Gallery],
    is_allowed: Bools | None,
    limit: int,
    keep: int = DEFAULT_KEEP,
) -> list[RankedClip]:
    """Return the ``limit`` nearest clips, nearest first; ties: not mirrored first, then in gallery order.

    The clip vector preselects ``keep`` of all, or of those with ``is_allowed``; all ranking descriptors order these.

    ``variants`` is the query, and perhaps its mirror image, ``self_distance`` the query's distance from itself. The
    score is 1 for the query itself and 0 for the distance of unrelated clips, linear in between. It depends on query
    and clip alone.
    """
    if not galleries:
        return []
    min_distance = (1.0 - ROUNDING_SHARE) * self_distance  # no clip is nearer than the query itself
    ranking_galleries = {name: galleries[name] for name in RANKING_DESCRIPTORS}
    ranking = rank_clips(variants, ranking_galleries, is_allowed=is_allowed, keep=keep, min_distance=min_distance)
    scores = distance_scores(min_distance, ranking.distances)
    rows = zip(ranking.clips.tolist(), scores.tolist(), ranking.variant_indices.tolist(), strict=True)
    return [RankedClip(*row) for row in islice(rows, limit)]


def self_distance(query: Description) -> float:
    """Return the distance of the query from itself, which is below 0, the distance of unrelated clips."""
    means_and_spreads = [query.all[name].background_distance for name in RANKING_DESCRIPTORS]
    return -2.0 * sum(mean / spread for mean, spread in means_and_spreads)


def distance_scores(self_distance: float, distances: Floats) -> Floats:
    """Return the scores of distances (C,) for a query with this self distance."""
    return (
        np.clip(distances / self_distance, 0.0, 1.0)
        if self_distance < 0.0
        else (distances <= self_distance).astype(np.float64)
    )
