"""How unlike two clips are: how far each part of one is from its nearest part of the other, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose._core import nearest_windows
from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.library.descriptors.covariance import KINDS
from keypose.library.descriptors.noun import Description, Singles, Windows
from keypose.library.growing import Groups, Places, Rows

FIRST_BY = "clip"  # one row for each clip: quick enough for all of them
RANKED_BY = (FIRST_BY, *KINDS)  # the descriptors that rank best together
KEEP = 256  # clips that are compared by all of these


@dataclass(frozen=True, eq=False)
class Gallery(Frozen):
    """The windows of many clips by one descriptor, one clip after another."""

    vectors: Singles  # (N, D)
    squares: Singles  # (N,) of the lengths of vectors
    weights: Singles  # (N,)
    bounds: Ints  # (C + 1,) where each clip starts, and where the last one ends
    usual: Floats  # (C, 2)

    @classmethod
    def of(cls, clips: Sequence[Windows]) -> Gallery:
        """The gallery of these clips, at least one."""
        growing = GrowingGallery(clips[0].vectors.shape[1])
        growing.add(clips)
        return growing.now()

    @property
    def n_clips(self) -> int:
        """How many clips there are."""
        return len(self.usual)

    def away(self, ways: Sequence[Windows], chosen: Places | None = None) -> Floats:
        """(Q, K): how far ``chosen`` clips (K,) are from each of ``ways``, in spreads of what is usual for the two.

        Below 0: nearer. The weighted mean of distances from each window to the nearest of the other clip, both ways.
        Each way is stated against what is usual for the clip that it starts from: some clips are near to everything.
        None: all clips.
        """
        clips = np.arange(self.n_clips) if chosen is None else chosen
        asked, parts = np.concatenate([way.vectors for way in ways]), _bounds(ways)
        there, back = nearest_windows(asked, parts, self.vectors, self.squares, self.weights, self.bounds, clips)
        mean, spread = self.usual[clips].T
        away: Floats = (back - mean) / spread
        for k, way in enumerate(ways):
            mean, spread = way.usual
            away[k] += (way.weights @ there[parts[k] : parts[k + 1]] - mean) / spread
        return away


class GrowingGallery:
    """A gallery to which clips are added."""

    def __init__(self, size: int) -> None:
        self._vectors = Rows(np.empty((0, size), np.float32))
        self._squares = Rows(np.empty(0, np.float32))
        self._weights = Rows(np.empty(0, np.float32))
        self._clips = Groups()
        self._usual = Rows(np.empty((0, 2)))

    def add(self, clips: Sequence[Windows]) -> None:
        """More clips, at least one."""
        vectors = np.concatenate([each.vectors for each in clips])
        self._vectors.add(vectors)
        self._squares.add(np.einsum("nd,nd->n", vectors, vectors))
        self._weights.add(np.concatenate([each.weights for each in clips]))
        self._clips.add([len(each) for each in clips])
        self._usual.add(np.array([each.usual for each in clips]))

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        rows = self._clips.keep(places)
        for each in (self._vectors, self._squares, self._weights):
            each.keep(rows)
        self._usual.keep(places)

    def now(self) -> Gallery:
        """The gallery of the clips that are there."""
        return Gallery(
            self._vectors.now, self._squares.now, self._weights.now, self._clips.bounds, self._usual.now
        )  # fmt: skip


class GrowingGalleries:
    """Galleries of descriptions, by every descriptor that the first one has."""

    def __init__(self) -> None:
        self._by: dict[str, GrowingGallery] = {}

    def add(self, clips: Sequence[Description]) -> None:
        """More clips, at least one."""
        if not self._by:
            self._by = {name: GrowingGallery(each.vectors.shape[1]) for name, each in clips[0].all.items()}
        for name, growing in self._by.items():
            growing.add([clip.all[name] for clip in clips])

    def keep(self, places: Places) -> None:
        """Only the clips at these places."""
        for growing in self._by.values():
            growing.keep(places)

    def now(self) -> dict[str, Gallery]:
        """The galleries of the clips that are there; empty where there was never one."""
        return {name: growing.now() for name, growing in self._by.items()}


def _bounds(clips: Sequence[Windows]) -> Ints:
    """(C + 1,): where the windows of each clip start, one clip after another, and where the last one's end."""
    return np.cumsum([0, *map(len, clips)], dtype=np.int32)


def gallery(clips: Sequence[Description], names: Sequence[str] = RANKED_BY) -> dict[str, Gallery]:
    """The galleries of clips, at least one, by each descriptor of these ``names``."""
    return {name: Gallery.of([clip.all[name] for clip in clips]) for name in names}


def unlikeness(query: Description, galleries: Mapping[str, Gallery], *, mirrored: Description | None = None) -> Floats:
    """(C,): how unlike ``query`` each clip is, by all descriptors of ``galleries`` together; the least is the best.

    With the description of the mirrored query, each clip counts as near as the nearer of the two is.
    """
    nearest: Floats = unlikeness_of_each([query] if mirrored is None else [query, mirrored], galleries).min(axis=0)
    return nearest


def unlikeness_of_each(
    ways: Sequence[Description], galleries: Mapping[str, Gallery], chosen: Places | None = None
) -> Floats:
    """(Q, K): the same for each of several queries, and perhaps only for ``chosen`` clips (K,)."""
    summed: Floats = np.sum([g.away([way.all[name] for way in ways], chosen) for name, g in galleries.items()], axis=0)
    return summed


class Ranking(NamedTuple):
    """Clips of galleries, the nearest first, K of them."""

    clips: Places  # (K,)
    away: Floats  # (K,) how unlike each is
    ways: Places  # (K,) to which of the ways it is nearest


def rank(
    query: Description,
    galleries: Mapping[str, Gallery],
    *,
    mirrored: Description | None = None,
    among: Bools | None = None,
    keep: int = KEEP,
) -> tuple[Places, Floats]:
    """The ``keep`` clips nearest to ``query``, the nearest first, and how unlike each is: what ``ranking`` says."""
    found = ranking([query] if mirrored is None else [query, mirrored], galleries, among=among, keep=keep)
    return found.clips, found.away


def ranking(
    ways: Sequence[Description],
    galleries: Mapping[str, Gallery],
    *,
    among: Bools | None = None,
    keep: int = KEEP,
    nearest: float = -np.inf,
) -> Ranking:
    """The ``keep`` clips nearest to the query, or to its mirror image where that is the second of ``ways``.

    The clip vector chooses them among all, or ``among`` those that are true (C,); all descriptors of ``galleries``, of
    which the clip vector is one, order them. What is nearer than ``nearest`` is as near as that. Of equal ones those
    come first that are not mirrored, then those that do in the galleries.
    """
    kept = preselected(ways, galleries[FIRST_BY], among=among, keep=keep)
    if not len(kept):
        return Ranking(kept, np.zeros(0), kept)
    each = np.maximum(unlikeness_of_each(ways, galleries, kept), nearest)  # (ways, K)
    away, way = each.min(axis=0), each.argmin(axis=0)
    order = np.lexsort((kept, way, away))
    return Ranking(kept[order], away[order], way[order])


def preselected(ways: Sequence[Description], first: Gallery, *, among: Bools | None = None, keep: int = KEEP) -> Places:
    """At most ``keep`` clips (K,), rising: those nearest to one of ``ways`` by the clip vector."""
    allowed = np.arange(first.n_clips) if among is None else np.flatnonzero(among)
    if len(allowed) <= keep:
        return allowed
    away = unlikeness_of_each(ways, {FIRST_BY: first}).min(axis=0)[allowed]
    return np.sort(allowed[np.argpartition(away, keep - 1)[:keep]])
