"""What is decided before any refinement: straight sections and the frames that no later step may drop.

Curves are rows (C, n), each of amplitude 1.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats


@dataclass(frozen=True)
class Rules:
    """The method's options; all but the frames are parts of a curve's amplitude, ``threshold`` of a span's range."""

    threshold: float
    least_error: float
    straight_range: float
    straight_frames: int
    prominence: float
    jump: float


def fixed_frames(curves: Floats, rules: Rules) -> tuple[Bools, Bools]:
    """The fixed frames of each curve (C, n), and the frames strictly inside its straight sections (C, n)."""
    fixed, straight = np.zeros(curves.shape, bool), np.zeros(curves.shape, bool)
    for curve, first, last in straight_sections(curves, rules.straight_range, rules.straight_frames):
        straight[curve, first + 1 : last] = True
        fixed[curve, [first, first + 1, last - 1, last]] = True
    frames = extrema(curves, rules.prominence)
    fixed.reshape(-1)[frames[~straight.reshape(-1)[frames]]] = True
    fixed |= jumps(curves, rules.jump)
    fixed[:, [0, -1]] = True
    return fixed, straight


def straight_sections(curves: Floats, most_range: float, least_frames: int) -> list[tuple[int, int, int]]:
    """(curve, first, last) of each section whose range stays below ``most_range``, as long as can be, from the left."""
    frames = curves.shape[1]
    if least_frames > frames:
        return []
    high, low = _over_windows(curves, least_frames, np.maximum), _over_windows(curves, least_frames, np.minimum)
    may_start = high - low < most_range
    found = []
    for curve in np.flatnonzero(may_start.any(axis=1)).tolist():
        starts, values = np.flatnonzero(may_start[curve]).tolist(), curves[curve].tolist()
        at = 0
        while at < len(starts):
            first = starts[at]
            greatest, least = float(high[curve, first]), float(low[curve, first])
            end = first + least_frames
            while end < frames:
                value = values[end]
                greatest, least = max(greatest, value), min(least, value)
                if greatest - least >= most_range:
                    break
                end += 1
            found.append((curve, first, end - 1))
            at = bisect_left(starts, end, at)
    return found


def _over_windows(curves: Floats, frames: int, greater: np.ufunc) -> Floats:
    """The greatest (or least) of every so many consecutive frames, doubling the window."""
    window, covered = curves, 1
    while covered < frames:
        step = min(covered, frames - covered)
        window = greater(window[:, :-step], window[:, step:])
        covered += step
    return window


def extrema(curves: Floats, least_prominence: float) -> NDArray[np.intp]:
    """Flat places of the local extrema that stand out by ``least_prominence``, ends left out; of a plateau its middle.

    The prominence of a maximum is its height over the higher of the two lowest points between it and the next
    higher value, or the curve's end, on either side.
    """
    flat, frames = curves.reshape(-1), curves.shape[1]
    new_curve = np.arange(len(flat)) % frames == 0
    first = np.flatnonzero(new_curve | np.concatenate(([True], flat[1:] != flat[:-1])))  # runs of equal values
    last = np.concatenate((first[1:], [len(flat)])) - 1
    at_end = new_curve[first] | (last % frames == frames - 1)
    rises = np.concatenate(([True], flat[first[1:]] > flat[first[:-1]]))
    turns = ~at_end & (rises != np.concatenate((rises[1:], [True])))
    kept = np.flatnonzero(turns | at_end)  # between them a curve is monotone
    kept = kept[_without_ripples(flat[first[kept]], at_end[kept], least_prominence)]
    value, starts_curve = flat[first[kept]], new_curve[first[kept]]
    prominence = np.where(rises[kept], _prominences(value, starts_curve), _prominences(-value, starts_curve))
    stands_out = turns[kept] & (prominence >= least_prominence)
    found = kept[stands_out]
    middle: NDArray[np.intp] = (first[found] + last[found]) // 2
    return middle


def _without_ripples(values: Floats, at_end: Bools, least_prominence: float) -> NDArray[np.intp]:
    """Places of the turning ``values`` that stay when small ripples go: most of noise at once, whole arrays at a time.

    A step smaller than the steps before and after it joins two turns whose prominence is that very step; without
    both, all others keep theirs. What ties leave is for the exact count.
    """
    places = np.arange(len(values))
    while len(places) > 3:
        step = np.abs(np.diff(values[places]))
        inner = ~at_end[places]
        ripple = (step[1:-1] < least_prominence) & (step[1:-1] < step[:-2]) & (step[1:-1] < step[2:])
        gone = np.flatnonzero(ripple & inner[1:-2] & inner[2:-1]) + 1
        if not len(gone):
            break
        stays = np.ones(len(places), bool)
        stays[gone], stays[gone + 1] = False, False
        places = places[stays]
    return places


def _prominences(values: Floats, starts_curve: Bools) -> Floats:
    """The prominence of each value as a maximum, where it is one."""
    ends_curve = np.concatenate((starts_curve[1:], [True]))
    before = _lowest_since_higher(values.tolist(), starts_curve.tolist())
    after = _lowest_since_higher(values[::-1].tolist(), ends_curve[::-1].tolist())[::-1]
    return values - np.maximum(before, after)


def _lowest_since_higher(values: list[float], starts_curve: list[bool]) -> list[float]:
    """For each value the lowest since the last strictly higher one of its curve: a stack of falling values, linear."""
    lowest: list[float] = []
    higher: list[float] = []
    lows: list[float] = []
    for value, starts in zip(values, starts_curve, strict=True):
        if starts:
            higher.clear()
            lows.clear()
        low = value
        while higher and higher[-1] <= value:
            higher.pop()
            low = min(low, lows.pop())
        higher.append(value)
        lows.append(low)
        lowest.append(low)
    return lowest


def jumps(curves: Floats, least_jump: float) -> Bools:
    """Frames that differ by more than ``least_jump`` from both neighbours, and these neighbours."""
    marked = np.zeros(curves.shape, bool)
    large = np.abs(np.diff(curves, axis=1)) > least_jump
    alone = large[:, :-1] & large[:, 1:]
    for shift in range(3):
        marked[:, shift : shift + alone.shape[1]] |= alone
    return marked
