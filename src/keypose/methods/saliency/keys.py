"""Candidates -> keys in the order in which they are accepted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

Frames = NDArray[np.int64]


def acceptance_order(candidates: Frames, importance: Floats, gap: int, limit: int) -> tuple[Frames, int]:
    """At most ``limit`` frames in the order of acceptance, and how many of them the method itself accepts.

    First and last frame; then candidates, most important first, at least ``gap`` frames from every accepted one.
    What follows only serves whoever asks for more: any frame in the same way, then with half the gap, a quarter
    and so on down to one. O(T log T).
    """
    n = len(importance)
    gap = min(gap, n)
    keys = [0, n - 1] if n > 1 else [0]
    by_importance = np.argsort(-importance, kind="stable")
    is_candidate = np.zeros(n, bool)
    is_candidate[candidates] = True
    _accept(by_importance[is_candidate[by_importance]], keys, gap, n, n)
    natural = len(keys)
    while len(keys) < min(limit, n):
        _accept(by_importance, keys, gap, limit, n)
        gap = max(1, gap // 2)
    return np.array(keys[:limit]), natural


def _accept(frames: Frames, keys: list[int], gap: int, limit: int, n: int) -> None:
    """Appends those of ``frames`` that are at least ``gap`` from every key, in their order, up to ``limit`` keys."""
    near = _near(np.array(keys), gap, n)
    frames = frames[~near[frames]]
    if gap == 1:
        keys.extend(frames.tolist()[: limit - len(keys)])
        return
    margin = bytes(gap)
    taken = bytearray(margin + near.tobytes() + margin)  # frame f stands at f + gap, so that no window leaves it
    window = b"\x01" * (2 * gap - 1)
    for frame in frames.tolist():
        if len(keys) >= limit:
            return
        if not taken[frame + gap]:
            keys.append(frame)
            taken[frame + 1 : frame + 2 * gap] = window


def _near(keys: Frames, gap: int, n: int) -> Bools:
    """Which frames are less than ``gap`` from a key."""
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, np.maximum(keys - gap + 1, 0), 1)
    np.add.at(edges, np.minimum(keys + gap, n), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)
