"""Whole clips in order of unlikeness, and what their score is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.library.descriptors import Description, Gallery
from keypose.library.descriptors.matching import KEEP, RANKED_BY, ranking

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
    same = (1.0 - SAME) * own  # nothing is nearer than the query
    by = {name: galleries[name] for name in RANKED_BY}
    found = ranking(ways, by, among=among, keep=keep, nearest=same)
    scores = scores_of(same, found.away)
    rows = zip(found.clips.tolist(), scores.tolist(), found.ways.tolist(), strict=True)
    return [Ranked(*row) for row in islice(rows, wanted)]


def own_unlikeness(query: Description) -> float:
    """That of the query and itself, nothing apart either way: below 0, which is usual."""
    means_and_spreads = [query.all[name].usual for name in RANKED_BY]
    return -2.0 * sum(mean / spread for mean, spread in means_and_spreads)


def scores_of(own: float, away: Floats) -> Floats:
    """Scores of clips that are ``away`` (C,) by unlikeness, of a query that is ``own`` from itself."""
    return np.clip(away / own, 0.0, 1.0) if own < 0.0 else (away <= own).astype(np.float64)
