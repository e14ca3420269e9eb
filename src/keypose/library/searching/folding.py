"""Copies of one take: at another rate, in another unit, rounded, cut a little at the ends.

Two tracks are those of one take if one lies on the other: at the best shift, their samples are no farther apart than a
curve drawn through every tenth of a second may be from the motion itself. How far that is, the bends of the track say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose._core import nearest_place
from keypose.arrays import Floats
from keypose.features.spline import curvatures
from keypose.library.parts import PartTrack

MOST_CUT = 6  # samples, of 0.1 s, that a copy may lack at its ends altogether
LEAST = 6  # samples of what is compared in time; shorter ones must be the same as they are
MOST_APART = 0.15  # in bends of the track: chosen by benchmarks/search/copies.py
STILL = 0.12  # apart, in the numbers of tracks: less is noise of the capture or of rounding
MOST_STEP = 0.6  # from sample to sample, at the best whole shift: half a sample off is about half a step
MIDDLE = 8  # samples that are compared first
BEYOND = 5  # clips behind the last hit that are looked at for copies: those are near each other in every ranking
POWERS = np.vander(np.arange(11) / 10.0, 4, increasing=True)  # of the times between two samples that are tried


@dataclass(frozen=True, eq=False)
class Take:
    """A track, ready to be compared."""

    track: PartTrack

    @cached_property
    def length(self) -> int:
        """How many samples the track has."""
        return len(self.track)

    @cached_property
    def samples(self) -> Floats:
        """Without the last one, which may be the mean of fewer frames than the others."""
        vectors = self.track.vectors.astype(np.float64)
        return vectors[:-1] if len(vectors) > 1 else vectors

    @cached_property
    def middle(self) -> tuple[int, Floats, float]:
        """Where its middle samples begin, what they are, and the square of how far others may be off there."""
        size = min(MIDDLE, len(self.samples) - 2)
        at = (len(self.samples) - size) // 2
        middle = self.samples[at : at + size]
        return at, middle, (STILL + MOST_STEP * _rms(np.diff(middle, axis=0))) ** 2

    @cached_property
    def second(self) -> Floats:
        """Second derivatives of the curve through the samples."""
        return curvatures(np.arange(len(self.samples), dtype=np.float64), self.samples)

    @cached_property
    def bends(self) -> float:
        """How much it bends from sample to sample."""
        return _rms(np.diff(self.samples, n=2, axis=0))


def folded(
    numbers: Iterable[int], tracks_of: Callable[[Sequence[int]], Mapping[int, PartTrack]], limit: int
) -> dict[int, tuple[int, ...]]:
    """The first ``limit`` clips that are no copies of one before, each with its copies among ``numbers`` looked at.

    ``numbers`` are clips, the best first. Those behind the last of the first are looked at as far as a few more.
    """
    leaders: dict[int, list[int]] = {}
    in_order = list(dict.fromkeys(numbers))
    takes: dict[int, Take] = {}
    beyond = 0
    for place, number in enumerate(in_order):
        if place % (2 * limit) == 0:
            read = tracks_of(in_order[place : place + 2 * limit])
            takes |= {each: Take(track) for each, track in read.items()}
        take = takes.get(number)
        leader = None if take is None else next((one for one in leaders if _same(takes.get(one), take)), None)
        if leader is not None:
            leaders[leader].append(number)
        elif len(leaders) < limit:
            leaders[number] = []
        beyond += len(leaders) == limit
        if beyond > BEYOND:
            break
    return {leader: tuple(copies) for leader, copies in leaders.items()}


def _same(a: Take | None, b: Take) -> bool:
    if a is None or abs(a.length - b.length) > MOST_CUT:
        return False
    residual, bends = apart(a, b)
    return residual <= max(STILL, MOST_APART * bends)


def are_copies(a: PartTrack, b: PartTrack) -> bool:
    """Whether two clips are the same take."""
    return _same(Take(a), Take(b))


def apart(a: Take, b: Take) -> tuple[float, float]:
    """How far the samples of two takes are apart at the best shift, and how far the shorter one bends: both rms.

    Infinitely far if one is much longer, or not even their middles are near at a whole shift.
    """
    short, long = (a, b) if len(a.samples) <= len(b.samples) else (b, a)
    n, m = len(short.samples), len(long.samples)
    if n < LEAST:
        return (_rms(short.samples - long.samples) if n == m else np.inf), 0.0
    shift = None if m - n > MOST_CUT else _whole_shift(short, long.samples)
    return (np.inf, 0.0) if shift is None else (_at_best(short.samples, long, shift), short.bends)


def _whole_shift(short: Take, long: Floats) -> int | None:
    """The shift, in whole samples, at which the middle of the shorter one lies best in the other; None if badly."""
    at, middle, most = short.middle
    size, m, n = len(middle), len(long), len(short.samples)
    first, last = max(at - MOST_CUT, 0), min(at + m - n + MOST_CUT, m - size)
    best, square = nearest_place(long, middle, first, last)
    return None if square > most else best - at


def _at_best(short: Floats, other: Take, shift: int) -> float:
    """How far all samples are apart, near this shift; those at the very ends of the longer one are left out."""
    long = other.samples
    n, m = len(short), len(long)
    first, stop = max(0, 2 - shift), min(n, m - 2 - shift)
    if stop - first < max(LEAST - 4, n - 4 - MOST_CUT):
        return np.inf
    ours = short[first:stop]
    if _rms(long[first + shift : stop + shift] - ours) > STILL + MOST_STEP * _rms(np.diff(ours, axis=0)):
        return np.inf
    return min(_drawn_apart(ours, other, first + shift + side) for side in (-1, 0))


def _drawn_apart(ours: Floats, other: Take, at: int) -> float:
    """How far ``ours`` are from the curve of the other, from its sample ``at`` on, at the best time up to the next.

    Between two samples the curve is a cubic, so that the sum of squares is one of sixth degree, whatever the length.
    """
    here, after = slice(at, at + len(ours)), slice(at + 1, at + 1 + len(ours))
    y, bend = other.samples, other.second
    cubic = np.stack((
        y[here] - ours,
        y[after] - y[here] - (2.0 * bend[here] + bend[after]) / 6.0,
        bend[here] / 2.0,
        (bend[after] - bend[here]) / 6.0,
    )).reshape(4, -1)  # fmt: skip
    squares = np.einsum("sp,pq,sq->s", POWERS, cubic @ cubic.T, POWERS)
    return float(np.sqrt(max(squares.min(), 0.0) / len(ours)))


def _rms(off: Floats) -> float:
    """Of lengths of rows."""
    return float(np.sqrt(np.einsum("nd,nd->", off, off) / len(off)))
