"""Copies of one take: at another frame rate, in another unit, rounded, or trimmed a little.

Two tracks are of one take if their difference at the best shift is not larger than that between the motion and a curve
through ten samples per second, which is estimated from the curvature of the track.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose._core import nearest_match
from keypose.arrays import Floats
from keypose.features import curvatures
from keypose.library.search.part_gallery import PartTrack

MAX_CUT_SAMPLES = 6  # samples of 0.1 s that may be missing at both ends of a copy in total
MIN_SAMPLES = 6  # minimum length of tracks that are aligned; shorter ones must be equal without a shift
MAX_RELATIVE_ERROR = 0.15  # relative to the curvature; chosen by benchmarks/search/copies.py
NOISE_FLOOR = 0.12  # rms difference of tracks; smaller differences are noise of capture or rounding
MAX_STEP_SHARE = 0.6  # of the step from sample to sample; half a sample of shift is about half a step
MIDDLE_SAMPLES = 8  # compared first
EXTRA_CLIPS = 5  # clips behind the last hit that are examined for copies, as these rank near each other
POWERS = np.vander(np.arange(11) / 10.0, 4, increasing=True)  # of the times in [0, 1] that are tried


@dataclass(frozen=True, eq=False)
class Take:
    """A track, prepared for comparison."""

    track: PartTrack

    @cached_property
    def length(self) -> int:
        """Number of samples of the track."""
        return len(self.track.vectors)

    @cached_property
    def samples(self) -> Floats:
        """The samples without the last one, which may be the mean of fewer frames."""
        vectors = self.track.vectors.astype(np.float64)
        return vectors[:-1] if len(vectors) > 1 else vectors

    @cached_property
    def middle(self) -> tuple[int, Floats, float]:
        """The index of the middle samples, these samples, and the largest squared difference of a copy there."""
        size = min(MIDDLE_SAMPLES, len(self.samples) - 2)
        at = (len(self.samples) - size) // 2
        middle = self.samples[at : at + size]
        return at, middle, (NOISE_FLOOR + MAX_STEP_SHARE * _rms(np.diff(middle, axis=0))) ** 2

    @cached_property
    def second_derivatives(self) -> Floats:
        """Second derivatives of the spline through the samples."""
        return curvatures(np.arange(len(self.samples), dtype=np.float64), self.samples)

    @cached_property
    def curvature(self) -> float:
        """The rms of second differences."""
        return _rms(np.diff(self.samples, n=2, axis=0))


def group_duplicates(
    clip_ids: Iterable[int], load_tracks: Callable[[Sequence[int]], Mapping[int, PartTrack]], limit: int
) -> dict[int, tuple[int, ...]]:
    """Return the first ``limit`` clips that are no copies of earlier ones, each with the ids of its copies.

    ``clip_ids`` are sorted, best first. A few clips after the last result are also examined for copies.
    """
    leaders: dict[int, list[int]] = {}
    ordered_ids = list(dict.fromkeys(clip_ids))
    takes: dict[int, Take] = {}
    n_extra = 0
    for position, clip_id in enumerate(ordered_ids):
        if position % (2 * limit) == 0:
            tracks = load_tracks(ordered_ids[position : position + 2 * limit])
            takes |= {each: Take(track) for each, track in tracks.items()}
        take = takes.get(clip_id)
        leader = None if take is None else next((one for one in leaders if _is_same_take(takes.get(one), take)), None)
        if leader is not None:
            leaders[leader].append(clip_id)
        elif len(leaders) < limit:
            leaders[clip_id] = []
        n_extra += len(leaders) == limit
        if n_extra > EXTRA_CLIPS:
            break
    return {leader: tuple(copies) for leader, copies in leaders.items()}


def _is_same_take(a: Take | None, b: Take) -> bool:
    if a is None or abs(a.length - b.length) > MAX_CUT_SAMPLES:
        return False
    residual, curvature = compare_takes(a, b)
    return residual <= max(NOISE_FLOOR, MAX_RELATIVE_ERROR * curvature)


def is_same_take(a: PartTrack, b: PartTrack) -> bool:
    """Return whether two clips are the same take."""
    return _is_same_take(Take(a), Take(b))


def compare_takes(a: Take, b: Take) -> tuple[float, float]:
    """Return the rms difference of two takes at the best shift, and the curvature of the shorter one.

    The difference is infinite if one is much longer, or their middles do not match at any whole shift.
    """
    short, long = (a, b) if len(a.samples) <= len(b.samples) else (b, a)
    n, m = len(short.samples), len(long.samples)
    if n < MIN_SAMPLES:
        return (_rms(short.samples - long.samples) if n == m else np.inf), 0.0
    shift = None if m - n > MAX_CUT_SAMPLES else _find_whole_shift(short, long.samples)
    return (np.inf, 0.0) if shift is None else (_error_near_shift(short.samples, long, shift), short.curvature)


def _find_whole_shift(short: Take, long: Floats) -> int | None:
    """Return the whole shift at which the middle of the shorter take matches best; None if none matches."""
    at, middle, max_square = short.middle
    size, m, n = len(middle), len(long), len(short.samples)
    first, last = max(at - MAX_CUT_SAMPLES, 0), min(at + m - n + MAX_CUT_SAMPLES, m - size)
    best, square = nearest_match(long, middle, first, last)
    return None if square > max_square else best - at


def _error_near_shift(short: Floats, other: Take, shift: int) -> float:
    """Return the rms difference of all samples near a shift, without the ends of the longer take."""
    long = other.samples
    n, m = len(short), len(long)
    first, stop = max(0, 2 - shift), min(n, m - 2 - shift)
    if stop - first < max(MIN_SAMPLES - 4, n - 4 - MAX_CUT_SAMPLES):
        return np.inf
    samples = short[first:stop]
    if _rms(long[first + shift : stop + shift] - samples) > NOISE_FLOOR + MAX_STEP_SHARE * _rms(
        np.diff(samples, axis=0)
    ):
        return np.inf
    return min(_spline_error(samples, other, first + shift + side) for side in (-1, 0))


def _spline_error(samples: Floats, other: Take, at: int) -> float:
    """Return the rms difference of ``samples`` from the spline of the other take, at the best time in [at, at + 1].

    Between two samples the spline is a cubic, so the sum of squares is a polynomial of degree six, whatever the length.
    """
    this_sample, next_sample = slice(at, at + len(samples)), slice(at + 1, at + 1 + len(samples))
    y, second = other.samples, other.second_derivatives
    cubic = np.stack((
        y[this_sample] - samples,
        y[next_sample] - y[this_sample] - (2.0 * second[this_sample] + second[next_sample]) / 6.0,
        second[this_sample] / 2.0,
        (second[next_sample] - second[this_sample]) / 6.0,
    )).reshape(4, -1)  # fmt: skip
    squares = np.einsum("sp,pq,sq->s", POWERS, cubic @ cubic.T, POWERS)
    return float(np.sqrt(max(squares.min(), 0.0) / len(samples)))


def _rms(rows: Floats) -> float:
    """Return the root mean square of the norms of rows."""
    return float(np.sqrt(np.einsum("nd,nd->", rows, rows) / len(rows)))
