"""Clips compared by their swings (Chia 2009, 5.2): one segmentation slides along the other, and overlap counts.

The thesis compares segmentations "in a sliding windows fashion" by "the swings of each bone with the time they occur,
axis of rotation and other information", without a formula. Ours: at each shift, over the time of the query, the sum of
the cosines between the axes wherever a body part swings in both, divided by all the time that it swings in either.
Swings that turn the same way add, opposite ones take away. 1 is the same motion. Without ``axes`` every overlap counts
as 1, which is all that the thesis's figures of segmentations show. A clip that is shorter than the query slides within
the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose._core import overlap_swings
from keypose.arrays import Floats, Ints
from keypose.library.rankers.sheets import PARTS, RATE, Sheet, sheet_of
from keypose.swings.noun import Swings

LEAST_COSINE = 0.5  # between axes of swings that are said to agree: 60 degrees
MOST_TOLD = 32  # pairs of swings that a hit tells of


class Agreement(NamedTuple):
    """One swing of the query and one of the other clip that do the same at the same time."""

    part: str  # in the other clip
    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    cosine: float  # between the axes


@dataclass(frozen=True)
class Match:
    """Where the other clip is nearest to the query, how near, and which swings agree there, the longest first."""

    score: float  # at most 1
    start_s: float  # in the other clip
    end_s: float
    shift_s: float  # when, in the other clip, the query starts; negative where the query is longer
    mirrored: bool
    agreeing: tuple[Agreement, ...]


class Cut(NamedTuple):
    """What swings between two times."""

    sheet: Sheet
    start_s: float
    end_s: float

    @classmethod
    def whole(cls, sheet: Sheet) -> Cut:
        """All of it."""
        return cls(sheet, 0.0, sheet.duration_s)

    def mirrored(self) -> Cut:
        """With left and right exchanged."""
        return self._replace(sheet=self.sheet.mirrored())

    def times(self, rows: Ints) -> NDArray[np.float64]:
        """(R, 2) when some swings start and end, none beyond the cut."""
        both = np.stack((self.sheet.starts_s[rows], self.sheet.ends_s[rows]), axis=1)
        return np.asarray(both.clip(self.start_s, self.end_s))


def overlap(query: Swings | Sheet, other: Swings | Sheet, *, axes: bool = True, mirrored: bool = True) -> Match:
    """How much the swings of two clips overlap where they do most; of equal shifts the first.

    Any skeleton against any: parts of the body that both have count. ``mirrored``: the query is also tried with left
    and right exchanged. ``axes``: swings overlap as far as their axes agree, not just where they are at the same time.
    """
    asked, there = (Cut.whole(each if isinstance(each, Sheet) else sheet_of(each)) for each in (query, other))
    ways = (asked, asked.mirrored()) if mirrored else (asked,)
    found = [_laid_over(way, there, axes) for way in ways]
    side = int(np.argmax([each.score for each in found]))
    shift_s = found[side].shift / RATE
    return Match(
        found[side].score,
        start_s=max(shift_s, 0.0),
        end_s=min(shift_s + asked.end_s, there.end_s),
        shift_s=shift_s,
        mirrored=bool(side),
        agreeing=found[side].agreeing(ways[side], there),
    )


def agreeing(query: Cut, other: Cut) -> tuple[Agreement, ...]:
    """The swings that agree longest where two parts of clips overlap most, in the times of the clips."""
    return _laid_over(query, other, axes=True).agreeing(query, other, MOST_TOLD)


def scores(query: Sheet, others: Sequence[Sheet], *, axes: bool = True, mirrored: bool = True) -> Floats:
    """The scores of ``overlap`` for many clips (N,)."""
    asked = Cut.whole(query)
    ways = (asked, asked.mirrored()) if mirrored else (asked,)
    found = [[_laid_over(way, Cut.whole(other), axes).score for other in others] for way in ways]
    return np.asarray(np.max(found, axis=0))


class _Laid(NamedTuple):
    """Two cuts at the shift, in samples, at which they overlap most."""

    score: float
    shift: int
    places: Ints  # (A, 2) rows of both sheets that agree, the longest together first
    cosines: Floats  # (A, 1)

    def agreeing(self, query: Cut, other: Cut, most: int | None = None) -> tuple[Agreement, ...]:
        ours, theirs = self.places[:most].T
        names = [PARTS[part] for part in other.sheet.parts[theirs].tolist()]
        numbers = np.hstack((query.times(ours), other.times(theirs), self.cosines[:most].clip(-1.0, 1.0))).tolist()
        return tuple(Agreement(name, *row) for name, row in zip(names, numbers, strict=True))


def _laid_over(query: Cut, other: Cut, axes: bool) -> _Laid:
    (ours, from_s, to_s), (theirs, start_s, end_s) = query, other
    return _Laid(*overlap_swings(
        _columns(ours), from_s, to_s, _columns(theirs), start_s, end_s, RATE, LEAST_COSINE, axes
    ))  # fmt: skip


def _columns(sheet: Sheet) -> tuple[Ints, Floats, Floats, Floats, NDArray[np.bool_]]:
    return sheet.parts, sheet.starts_s, sheet.ends_s, sheet.axes, sheet.present
