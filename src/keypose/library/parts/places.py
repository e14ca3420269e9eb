"""The best places among all that a query was slid along, and a closer look at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.library.parts.asked import Asked
from keypose.library.parts.sliding import Level, likeness, products, slide

DECIMALS = 6  # of likeness: the rest is noise of single precision, and must not decide between equals


@dataclass(frozen=True)
class Place:
    """Where one way to ask may be found."""

    like: float  # at most 1
    way: int
    clip: int
    shift: int  # samples from the start of the clip to that of the query; below 0 where the clip is the shorter one


def places(level: Level, asked: Sequence[Asked], among: Bools, n: int, *, several: bool) -> Iterator[Place]:
    """Places with any likeness: the best of each way in each of n clips, the best clip first, its best way first.

    ``several``: all places, best first, overlapping ones too, that are as good as the best one of the n-th clip.
    """
    slid = slide(level, asked)
    tops = np.array([np.maximum.reduceat(like, level.firsts[:-1]) for like, _ in slid])  # (ways, C)
    tops = np.round(tops, DECIMALS)
    first_way, best = tops.argmax(axis=0), np.where(among, tops.max(axis=0), -np.inf)
    clips = np.lexsort((first_way, -best))[:n]
    clips = clips[best[clips] > 0]
    if several and len(clips):
        least = float(best[clips[-1]]) if len(clips) == n else 0.0
        yield from _all_above(level, slid, among, least)
        return
    for clip in clips.tolist():
        for way in np.argsort(-tops[:, clip], kind="stable").tolist():
            like, shifts = slid[way]
            at = int(like[level.firsts[clip] : level.firsts[clip + 1]].argmax())
            if tops[way, clip] > 0:
                yield Place(float(tops[way, clip]), way, clip, at + int(shifts[clip]))


def _all_above(level: Level, slid: Sequence[tuple[Floats, Ints]], among: Bools, least: float) -> Iterator[Place]:
    """Every place that is better than those right before and after it, and as good as ``least``."""
    allowed = np.repeat(among, level.lengths)
    starts, ends = level.firsts[:-1], level.firsts[1:] - 1
    found: list[tuple[float, int, int]] = []
    for way, (like, _) in enumerate(slid):
        before, after = np.roll(like, 1), np.roll(like, -1)
        before[starts] = after[ends] = -np.inf
        peaks = np.flatnonzero(
            allowed & (like > 0) & (like >= least - 0.1**DECIMALS) & (like >= before) & (like >= after)
        )
        found += zip((-np.round(like[peaks], DECIMALS)).tolist(), [way] * len(peaks), peaks.tolist(), strict=True)
    for minus_like, way, at in sorted(found):
        clip = int(np.searchsorted(level.firsts, at, side="right")) - 1
        yield Place(-minus_like, way, clip, at - int(level.firsts[clip]) + int(slid[way][1][clip]))


def closer(level: Level, asked: Asked, place: Place, stride: int) -> Place:
    """The best place near one that was found by every ``stride``-th sample."""
    first, n, length = int(level.firsts[place.clip]), len(asked.vectors), int(level.lengths[place.clip])
    least, most = min(0, length - n), max(0, length - n)
    middle = min(max(place.shift, least), most)
    low, high = max(middle - stride, least), min(middle + stride, most)
    until = level.squares[first : first + length + 1] @ asked.groups.astype(np.float64)
    clip = level.vectors[first : first + length]
    if length >= n:
        there = products(clip[low : high + n], [asked.vectors], 1)[0]
        squares = until[low + n : high + n + 1] - until[low : high + 1]
    else:
        there = products(asked.vectors[-high : length - low], [clip], 1)[0][::-1]
        squares = np.full(high - low + 1, until[-1] - until[0])
    like = likeness(there, asked.square, squares)
    best = int(like.argmax())
    return Place(round(float(like[best]), DECIMALS), place.way, place.clip, low + best)
