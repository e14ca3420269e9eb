"""Clips compared by their swings (Chia 2009, 5.2): one segmentation slides along the other, and overlap counts.

The thesis compares segmentations "in a sliding windows fashion" by "the swings of each bone with the time they occur,
axis of rotation and other information", without a formula. Ours: at each shift, over the time of the query, the sum of
the cosines between the axes wherever a body part swings in both, divided by all the time that it swings in either.
Swings that turn the same way add, opposite ones take away. 1 is the same motion. Without ``axes`` every overlap counts
as 1, which is all that the thesis's figures of segmentations show. A clip that is shorter than the query slides within
the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.library.rankers.sheets import PARTS, RATE, Sheet, sheet_of
from keypose.swings.noun import Swings

LEAST_COSINE = 0.5  # between axes of swings that are said to agree: 60 degrees
_BLOCK = 256  # samples of the shorter clip at a time: what bounds memory
_MOST_PRODUCTS = 1 << 21  # numbers at a time where many clips are compared


@dataclass(frozen=True)
class Agreement:
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


def overlap(query: Swings | Sheet, other: Swings | Sheet, *, axes: bool = True, mirrored: bool = True) -> Match:
    """How much the swings of two clips overlap where they do most; of equal shifts the first.

    Any skeleton against any: parts of the body that both have count. ``mirrored``: the query is also tried with left
    and right exchanged. ``axes``: swings overlap as far as their axes agree, not just where they are at the same time.
    """
    asked = query if isinstance(query, Sheet) else sheet_of(query)
    there = other if isinstance(other, Sheet) else sheet_of(other)
    sheets = (asked, asked.mirrored()) if mirrored else (asked,)
    found = [_best(sheet, there, axes) for sheet in sheets]
    side = int(np.argmax([score for score, _ in found]))
    score, shift = found[side]
    shift_s = shift / RATE
    return Match(
        score,
        start_s=max(shift_s, 0.0),
        end_s=min(shift_s + asked.duration_s, there.duration_s),
        shift_s=shift_s,
        mirrored=bool(side),
        agreeing=_agreeing(sheets[side], there, shift_s),
    )


def scores(query: Sheet, others: Sequence[Sheet], *, axes: bool = True, mirrored: bool = True) -> Floats:
    """The scores of ``overlap`` for many clips (N,), many at a time."""
    sheets = (query, query.mirrored()) if mirrored else (query,)
    found = np.zeros(len(others))
    for start, stop in _batches([len(other.grid.swinging) for other in others], len(query.grid.swinging)):
        some = others[start:stop]
        by_sheet = [_best_of_several(sheet, some, axes) if len(some) > 1 else [_best(sheet, some[0], axes)[0]]
                    for sheet in sheets]  # fmt: skip
        found[start:stop] = np.max(by_sheet, axis=0)
    return found


def scores_by_shift(query: Sheet, other: Sheet, *, axes: bool = True) -> tuple[int, Floats]:
    """The first shift, in samples, and the score at that and each later shift (S,)."""
    ours, theirs = query.grid, other.grid
    both = _along(ours.swinging, theirs.swinging)
    agreed = _along(ours.flat_axes, theirs.flat_axes) if axes else both
    return min(0, len(theirs.swinging) - len(ours.swinging)), _shares(query, other, both, agreed)


def _best(query: Sheet, other: Sheet, axes: bool) -> tuple[float, int]:
    first, found = scores_by_shift(query, other, axes=axes)
    best = int(np.argmax(found))
    return float(found[best]), first + best


def _best_of_several(query: Sheet, others: Sequence[Sheet], axes: bool) -> list[float]:
    """The best score for each of some clips: all their products at once."""
    grids = [other.grid for other in others]
    ends = np.cumsum([len(grid.swinging) for grid in grids])[:-1]
    both = np.split(np.concatenate([grid.swinging for grid in grids]) @ query.grid.swinging.T, ends)
    agreed = both
    if axes:
        agreed = np.split(np.concatenate([grid.flat_axes for grid in grids]) @ query.grid.flat_axes.T, ends)
    best = []
    for other, in_both, in_agreement in zip(others, both, agreed, strict=True):
        overlapping = _diagonal_sums(in_both)
        agreeing = _diagonal_sums(in_agreement) if axes else overlapping
        best.append(float(_shares(query, other, overlapping, agreeing).max()))
    return best


def _batches(lengths: Sequence[int], n: int) -> Iterator[tuple[int, int]]:
    """Clips, by first and last, whose products with n samples fit in memory together; a long one is by itself."""
    start, size = 0, 0
    for k, length in enumerate(lengths):
        if k > start and size + length * n > _MOST_PRODUCTS:
            yield start, k
            start, size = k, 0
        size += length * n
    if lengths:
        yield start, len(lengths)


def _shares(query: Sheet, other: Sheet, both: Floats, agreed: Floats) -> Floats:
    """Agreement as a share of all time in which parts that both have swing in either, at each shift (S,)."""
    common = (query.present & other.present).astype(np.float64)
    until = other.grid.totals @ common
    n = len(query.grid.swinging)
    in_window = until[n:] - until[:-n] if n < len(until) else until[-1:]
    either = query.grid.totals[-1] @ common + in_window - both
    return np.asarray(np.divide(agreed, either, out=np.zeros(len(both)), where=either > 0))


def _along(query: NDArray[np.float32], other: NDArray[np.float32]) -> Floats:
    """Sums of products (S,) of rows of one with rows of the other, at each shift, the lowest first."""
    if len(query) > len(other):
        return _along(other, query)[::-1]
    places = len(other) - len(query) + 1
    sums = np.zeros(places)
    for start in range(0, len(query), _BLOCK):
        block = query[start : start + _BLOCK]
        sums += _diagonal_sums(other[start : start + places + len(block) - 1] @ block.T)
    return sums


def _diagonal_sums(products: NDArray[np.float32]) -> Floats:
    """Of products (m, n) of each sample of a clip with each of the query: the sum at each shift, the lowest first."""
    m, n = products.shape
    if n > m:
        return _diagonal_sums(products.T)[::-1]
    row, column = products.strides
    diagonals = as_strided(products, (m - n + 1, n), (row, row + column), writeable=False)
    return np.asarray(diagonals.sum(axis=1, dtype=np.float64))


def _agreeing(query: Sheet, other: Sheet, shift_s: float) -> tuple[Agreement, ...]:
    """The pairs of swings of one part that overlap in time and whose axes are near, the longest overlap first."""
    found: list[tuple[float, Agreement]] = []
    for part, name in enumerate(PARTS):
        ours, theirs = (np.flatnonzero(sheet.parts == part) for sheet in (query, other))
        starts = np.maximum(query.starts_s[ours, None] + shift_s, other.starts_s[theirs])
        ends = np.minimum(query.ends_s[ours, None] + shift_s, other.ends_s[theirs])
        cosines = query.axes[ours] @ other.axes[theirs].T
        for i, k in np.argwhere((ends > starts) & (cosines >= LEAST_COSINE)).tolist():
            q, o = ours[i], theirs[k]
            pair = Agreement(
                name,
                query_start_s=float(query.starts_s[q]),
                query_end_s=float(query.ends_s[q]),
                start_s=float(other.starts_s[o]),
                end_s=float(other.ends_s[o]),
                cosine=float(np.clip(cosines[i, k], -1.0, 1.0)),
            )
            found.append((float(ends[i, k] - starts[i, k]), pair))
    found.sort(key=lambda each: -each[0])
    return tuple(pair for _, pair in found)
