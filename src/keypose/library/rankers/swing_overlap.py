"""Clips compared by their swings (Chia 2009, 5.2): one segmentation slides along the other, and overlap counts.

The thesis compares segmentations "in a sliding windows fashion" by "the swings of each bone with the time they occur,
axis of rotation and other information", without a formula. Ours: at each shift, over the time of the query, the sum of
the cosines between the axes wherever a body part swings in both, divided by all the time that it swings in either.
Swings about the same axis add, opposite ones subtract. 1 is the same motion. Without ``axes`` every overlap counts as
1, which is all that the thesis's figures of segmentations show. A clip shorter than the query slides within the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose._core import overlap_swings
from keypose.arrays import Floats, Ints
from keypose.library.rankers.swing_table import BODY_PARTS, RATE, SwingTable, build_swing_table
from keypose.swings.model import Swings

MIN_COSINE = 0.5  # between axes of agreeing swings: 60 degrees
MAX_SWING_MATCHES = 32  # per hit


class SwingMatch(NamedTuple):
    """One swing of the query and one of the other clip that agree at the same time."""

    body_part: str  # in the other clip
    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float
    cosine: float  # between the axes


@dataclass(frozen=True)
class OverlapMatch:
    """The best alignment of a clip with the query, its score, and the agreeing swings, the longest first."""

    score: float  # at most 1
    start_s: float  # in the other clip
    end_s: float
    shift_s: float  # start of the query in the other clip; negative if the query is longer
    mirrored: bool
    swing_matches: tuple[SwingMatch, ...]


class SwingSpan(NamedTuple):
    """The swings between two times."""

    swing_table: SwingTable
    start_s: float
    end_s: float

    @classmethod
    def whole_clip(cls, swing_table: SwingTable) -> SwingSpan:
        """Return the span of a whole clip."""
        return cls(swing_table, 0.0, swing_table.duration_s)

    def mirrored(self) -> SwingSpan:
        """Return the span with left and right exchanged."""
        return self._replace(swing_table=self.swing_table.mirrored())

    def times(self, rows: Ints) -> NDArray[np.float64]:
        """Return (R, 2) start and end of some swings, clipped to the span."""
        both = np.stack((self.swing_table.starts_s[rows], self.swing_table.ends_s[rows]), axis=1)
        return np.asarray(both.clip(self.start_s, self.end_s))


def overlap(
    query: Swings | SwingTable, other: Swings | SwingTable, *, axes: bool = True, mirrored: bool = True
) -> OverlapMatch:
    """Return the best overlap of the swings of two clips; of equal shifts the first.

    Any skeletons: body parts that both have count. ``mirrored``: the query is also tried with left and right exchanged.
    ``axes``: overlap is weighted by the agreement of axes, instead of time alone.
    """
    query_span, other_span = (
        SwingSpan.whole_clip(each if isinstance(each, SwingTable) else build_swing_table(each))
        for each in (query, other)
    )
    variants = (query_span, query_span.mirrored()) if mirrored else (query_span,)
    alignments = [_align(variant, other_span, axes) for variant in variants]
    best = int(np.argmax([each.score for each in alignments]))
    shift_s = alignments[best].shift / RATE
    return OverlapMatch(
        alignments[best].score,
        start_s=max(shift_s, 0.0),
        end_s=min(shift_s + query_span.end_s, other_span.end_s),
        shift_s=shift_s,
        mirrored=bool(best),
        swing_matches=alignments[best].swing_matches(variants[best], other_span),
    )


def match_swings(query: SwingSpan, other: SwingSpan) -> tuple[SwingMatch, ...]:
    """Return the swings that agree longest at the best alignment of two spans, in the times of the clips."""
    return _align(query, other, axes=True).swing_matches(query, other, MAX_SWING_MATCHES)


def overlap_scores(
    query: SwingTable, others: Sequence[SwingTable], *, axes: bool = True, mirrored: bool = True
) -> Floats:
    """Return the scores of ``overlap`` for many clips (N,)."""
    query_span = SwingSpan.whole_clip(query)
    variants = (query_span, query_span.mirrored()) if mirrored else (query_span,)
    scores_by_variant = [
        [_align(variant, SwingSpan.whole_clip(other), axes).score for other in others] for variant in variants
    ]
    return np.asarray(np.max(scores_by_variant, axis=0))


class _Alignment(NamedTuple):
    """Two spans at the shift, in samples, with the largest overlap."""

    score: float
    shift: int
    swing_pairs: Ints  # (A, 2) agreeing rows of both tables, the longest overlap first
    cosines: Floats  # (A, 1)

    def swing_matches(
        self, query: SwingSpan, other: SwingSpan, max_matches: int | None = None
    ) -> tuple[SwingMatch, ...]:
        query_rows, other_rows = self.swing_pairs[:max_matches].T
        names = [BODY_PARTS[part] for part in other.swing_table.body_parts[other_rows].tolist()]
        values = np.hstack(
            (query.times(query_rows), other.times(other_rows), self.cosines[:max_matches].clip(-1.0, 1.0))
        ).tolist()
        return tuple(SwingMatch(name, *row) for name, row in zip(names, values, strict=True))


def _align(query: SwingSpan, other: SwingSpan, axes: bool) -> _Alignment:
    (query_table, from_s, to_s), (other_table, start_s, end_s) = query, other
    return _Alignment(*overlap_swings(
        _columns(query_table), from_s, to_s, _columns(other_table), start_s, end_s, RATE, MIN_COSINE, axes
    ))  # fmt: skip


def _columns(swing_table: SwingTable) -> tuple[Ints, Floats, Floats, Floats, NDArray[np.bool_]]:
    return swing_table.body_parts, swing_table.starts_s, swing_table.ends_s, swing_table.axes, swing_table.present
