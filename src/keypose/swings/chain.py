"""A chain of even turns as a track: swings that stay, keys between them, and turns that are swings again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.rotations import conjugate, log, multiply
from keypose.swings.parts import KeyedSpan
from keypose.swings.track import Track

ALONG = 0.75  # of a turn's frames that lie in one swing: then it is what is left of that swing


def track_of_chain(found: Track, kept: Ints, frames: Ints, rotations: Floats, least: int, slowest: float) -> Track:
    """``found`` with only the swings ``kept`` (N,) and with keys at ``frames`` (K,), ``rotations`` (K, 4), around them.

    From one key to the next the joint turns evenly. If that is along a swing that was found, at least ``least`` frames
    long and at least ``slowest`` radians per frame fast, it is a swing: it takes the room of the two keys and plays the
    same. Rests go where anything now covers their frames.
    """
    block = np.searchsorted(found.starts[kept], frames).astype(np.int32)  # keys that no swing divides have the same
    turns = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    again = _swings_again(found, frames, turns, block, least, slowest)
    starts = np.concatenate((found.starts[kept], frames[again]))
    order = np.argsort(starts)
    starts, ends = starts[order], np.concatenate((found.ends[kept], frames[again + 1]))[order]
    keyed = _spans(frames, rotations, block, again)
    free = _free_rests(found, starts, ends, keyed)
    return replace(
        found,
        starts=starts,
        ends=ends,
        start_rotations=np.concatenate((found.start_rotations[kept], rotations[again]))[order],
        turns=np.concatenate((found.turns[kept], turns[again]))[order],
        rest_starts=found.rest_starts[free],
        rest_ends=found.rest_ends[free],
        rest_rotations=found.rest_rotations[free],
        keyed=keyed,
    )


def _swings_again(found: Track, frames: Ints, turns: Floats, block: Ints, least: int, slowest: float) -> Ints:
    """The first keys of turns that are swings; of two that share a key the wider one."""
    if len(frames) < 2 or not found.n_swings:
        return np.zeros(0, np.int32)
    first, last = frames[:-1], frames[1:]
    near = np.maximum(np.searchsorted(found.starts, (first + last) // 2, side="right") - 1, 0)
    shared = np.minimum(last, found.ends[near]) - np.maximum(first, found.starts[near])
    angles = np.sqrt(np.einsum("nk,nk->n", turns, turns))
    fits = (
        (shared >= ALONG * (last - first))
        & (last - first + 1 >= least)
        & (angles >= slowest * (last - first))
        & (block[:-1] == block[1:])
    )
    some = np.flatnonzero(fits)
    taken, chosen = set(), []
    for i in some[np.argsort(-angles[some], kind="stable")].tolist():
        if i not in taken and i + 1 not in taken:
            taken |= {i, i + 1}
            chosen.append(i)
    return np.array(sorted(chosen), np.int32)


def _spans(frames: Ints, rotations: Floats, block: Ints, again: Ints) -> tuple[KeyedSpan, ...]:
    """The keys that are not ends of swings, together where no swing lies between them."""
    left = np.setdiff1d(np.arange(len(frames)), np.concatenate((again, again + 1)))
    if not len(left):
        return ()
    cuts = np.flatnonzero((np.diff(left) > 1) | (np.diff(block[left]) > 0)) + 1
    edges = [0, *cuts.tolist(), len(left)]
    return tuple(KeyedSpan(frames[left[a:b]], rotations[left[a:b]]) for a, b in pairwise(edges))


def _free_rests(found: Track, starts: Ints, ends: Ints, keyed: tuple[KeyedSpan, ...]) -> Bools:
    """Which rests (R,) no swing and no keys cover."""
    firsts = np.sort(np.concatenate((starts, [span.start for span in keyed])))
    lasts = np.sort(np.concatenate((ends, [span.end for span in keyed])))
    next_part = np.searchsorted(lasts, found.rest_starts)
    return np.asarray(np.append(firsts, np.inf)[next_part] > found.rest_ends)
