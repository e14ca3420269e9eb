"""How unlike two clips are: how far each part of one is from its nearest part of the other, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.covariance import KINDS
from keypose.library.descriptors.noun import Description, Singles, Windows

Indices = NDArray[np.intp]

FIRST_BY = "clip"  # one row for each clip: quick enough for all of them
RANKED_BY = (FIRST_BY, *KINDS)  # the descriptors that rank best together
KEEP = 256  # clips that are compared by all of these


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

    @property
    def n_clips(self) -> int:
        """How many clips there are."""
        return len(self.firsts)

    @cached_property
    def counts(self) -> Ints:
        """How many windows each clip has, (C,)."""
        return np.diff(np.append(self.firsts, len(self.vectors))).astype(np.int32)

    @cached_property
    def squares(self) -> Singles:
        """The squared length of each vector, (N,)."""
        squares: Singles = np.einsum("nd,nd->n", self.vectors, self.vectors)
        return squares

    def taken(self, clips: Indices) -> Gallery:
        """The gallery of some of the clips (K,), at least one, in this order."""
        counts = self.counts[clips]
        firsts = np.cumsum(counts) - counts
        rows = np.repeat(self.firsts[clips] - firsts, counts) + np.arange(counts.sum())
        some = Gallery(self.vectors.take(rows, axis=0), self.weights[rows], firsts.astype(np.int32), self.usual[clips])
        some._put("squares", self.squares[rows])
        return some

    def away(self, ways: Sequence[Windows]) -> Floats:
        """(Q, C): how far each clip is from each of ``ways``, in spreads of what is usual for the two; below 0: nearer.

        The weighted mean of distances from each window to the nearest of the other clip, both ways. Each way is stated
        against what is usual for the clip that it starts from: some clips are near to everything.
        """
        asked = np.concatenate([way.vectors for way in ways])
        apart = np.multiply(asked, -2.0, dtype=np.float32) @ self.vectors.T  # (W, N), made into squared distances
        apart += self.squares
        apart += np.einsum("wd,wd->w", asked, asked)[:, None]
        nearest = _root(apart if self.n_clips == len(self.vectors) else np.minimum.reduceat(apart, self.firsts, axis=1))
        both = np.empty((len(ways), self.n_clips))
        first = 0
        for k, way in enumerate(ways):
            rows = slice(first, first + len(way))
            back = np.add.reduceat(_root(apart[rows].min(axis=0)) * self.weights, self.firsts)
            mean, spread = way.usual
            both[k] = (way.weights @ nearest[rows] - mean) / spread + (back - self.usual[:, 0]) / self.usual[:, 1]
            first = rows.stop
        return both


def gallery(clips: Sequence[Description], names: Sequence[str] = RANKED_BY) -> dict[str, Gallery]:
    """The galleries of clips, at least one, by each descriptor of these ``names``."""
    return {name: Gallery.of([clip.all[name] for clip in clips]) for name in names}


def unlikeness(query: Description, galleries: Mapping[str, Gallery], *, mirrored: Description | None = None) -> Floats:
    """(C,): how unlike ``query`` each clip is, by all descriptors of ``galleries`` together; the least is the best.

    With the description of the mirrored query, each clip counts as near as the nearer of the two is.
    """
    nearest: Floats = unlikeness_of_each([query] if mirrored is None else [query, mirrored], galleries).min(axis=0)
    return nearest


def unlikeness_of_each(ways: Sequence[Description], galleries: Mapping[str, Gallery]) -> Floats:
    """(Q, C): the same for each of several queries."""
    summed: Floats = np.sum([g.away([way.all[name] for way in ways]) for name, g in galleries.items()], axis=0)
    return summed


def rank(
    query: Description,
    galleries: Mapping[str, Gallery],
    *,
    mirrored: Description | None = None,
    among: Bools | None = None,
    keep: int = KEEP,
) -> tuple[Indices, Floats]:
    """The ``keep`` clips nearest to ``query``, the nearest first, and how unlike each is.

    The clip vector chooses them among all, or ``among`` those that are true (C,); all descriptors of ``galleries``, of
    which the clip vector is one, order them. Of equal ones those come first that do in the galleries.
    """
    kept = preselected(query, galleries[FIRST_BY], mirrored=mirrored, among=among, keep=keep)
    if not len(kept):
        return kept, np.zeros(0)
    away = unlikeness(query, {name: every.taken(kept) for name, every in galleries.items()}, mirrored=mirrored)
    order = np.argsort(away, kind="stable")
    return kept[order], away[order]


def preselected(
    query: Description,
    first: Gallery,
    *,
    mirrored: Description | None = None,
    among: Bools | None = None,
    keep: int = KEEP,
) -> Indices:
    """At most ``keep`` clips (K,), rising: those nearest to the query or its mirror image by the clip vector."""
    allowed = np.arange(first.n_clips) if among is None else np.flatnonzero(among)
    if len(allowed) <= keep:
        return allowed
    away = unlikeness(query, {FIRST_BY: first}, mirrored=mirrored)[allowed]
    return np.sort(allowed[np.argpartition(away, keep - 1)[:keep]])


def _root(squares: Singles) -> Singles:
    """Square roots; what is below 0 by rounding is 0."""
    roots: Singles = np.sqrt(np.maximum(squares, 0.0))
    return roots
