"""How unlike two clips are: how far each part of one is from its nearest part of the other, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.library.descriptors.covariance import SCALES
from keypose.library.descriptors.learnt import distances
from keypose.library.descriptors.noun import Description, Singles, Windows

RANKED_BY = tuple(
    SCALES
)  # the descriptors that rank best together; the clip vector is one row for each clip, and quicker


@dataclass(frozen=True, eq=False)
class Gallery(Frozen):
    """The windows of many clips by one descriptor, one clip after another."""

    vectors: Singles  # (N, D)
    weights: Singles  # (N,)
    firsts: Ints  # (C,) where each clip starts
    usual: Floats  # (C, 2)

    @classmethod
    def of(cls, clips: Sequence[Windows]) -> Gallery:
        """The gallery of these clips, at least one."""
        return cls(
            np.concatenate([each.vectors for each in clips]),
            np.concatenate([each.weights for each in clips]),
            np.cumsum([0, *(len(each) for each in clips[:-1])]).astype(np.int32),
            np.array([each.usual for each in clips]),
        )

    def away(self, query: Windows) -> Floats:
        """(C,): how far each clip is from ``query``, in spreads of what is usual for the two; negative is nearer.

        The weighted mean of distances from each window to the nearest of the other clip, both ways. Each way is stated
        against what is usual for the clip that it starts from: some clips are near to everything.
        """
        apart = distances(query.vectors, self.vectors)
        there = query.weights @ np.minimum.reduceat(apart, self.firsts, axis=1)
        back = np.add.reduceat(apart.min(axis=0) * self.weights, self.firsts)
        mean, spread = query.usual
        both: Floats = (there - mean) / spread + (back - self.usual[:, 0]) / self.usual[:, 1]
        return both


def gallery(clips: Sequence[Description], names: Sequence[str] = RANKED_BY) -> dict[str, Gallery]:
    """The galleries of clips, at least one, by each descriptor of these ``names``."""
    return {name: Gallery.of([clip.all[name] for clip in clips]) for name in names}


def unlikeness(query: Description, galleries: Mapping[str, Gallery], *, mirrored: Description | None = None) -> Floats:
    """(C,): how unlike ``query`` each clip is, by all descriptors of ``galleries`` together; the least is the best.

    With the description of the mirrored query, each clip counts as near as the nearer of the two is.
    """
    ways = [query] if mirrored is None else [query, mirrored]
    away = np.array([[g.away(way.all[name]) for name, g in galleries.items()] for way in ways])  # (ways, names, C)
    nearest: Floats = away.sum(axis=1).min(axis=0)
    return nearest
