"""Whole clips in order of unlikeness, and what their score is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery, gallery, unlikeness
from keypose.library.descriptors.matching import FIRST_BY, KEEP, RANKED_BY, preselected, unlikeness_of_each

SAME = 1e-3  # of the way from the query to what is usual: less is rounding


class Ranked(NamedTuple):
    """One clip of a gallery."""

    place: int  # in the gallery
    score: float
    way: int  # 1: the mirror image is nearer


def ranked(
    ways: Sequence[Description],
    own: float,
    galleries: Mapping[str, Gallery],
    among: Bools | None,
    wanted: int,
    keep: int = KEEP,
) -> list[Ranked]:
    """The ``wanted`` nearest clips, the nearest first; of equal ones those that are not mirrored, then in their order.

    The clip vector chooses ``keep`` of all, or ``among`` some; then all descriptors that rank order these.

    ``ways`` is the query, and perhaps its mirror image, ``own`` its ``own_unlikeness``. A score is 1 for the query
    itself and 0 for what is as far as clips are that have nothing to do with it; in between it falls evenly with
    unlikeness. It depends on query and clip alone.
    """
    if not galleries:
        return []
    query, mirrored = ways[0], ways[1] if len(ways) > 1 else None
    kept = preselected(query, galleries[FIRST_BY], mirrored=mirrored, among=among, keep=keep)
    if not len(kept):
        return []
    ranking = {name: galleries[name] for name in RANKED_BY}
    same = (1.0 - SAME) * own
    away = np.maximum(unlikeness_of_each(ways, ranking, kept), same)  # (ways, K); nothing is nearer than the query
    least, way = away.min(axis=0), away.argmin(axis=0)
    scores = scores_of(same, least)
    order = np.lexsort((kept, way, least))[:wanted]
    return [Ranked(int(kept[k]), float(scores[k]), int(way[k])) for k in order.tolist()]


def own_unlikeness(query: Description) -> float:
    """That of the query and itself: below 0, which is usual."""
    return float(unlikeness(query, gallery([query]))[0])


def scores_of(own: float, away: Floats) -> Floats:
    """Scores of clips that are ``away`` (C,) by unlikeness, of a query that is ``own`` from itself."""
    return np.clip(away / own, 0.0, 1.0) if own < 0.0 else (away <= own).astype(np.float64)
