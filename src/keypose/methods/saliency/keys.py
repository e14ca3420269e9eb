"""Order candidates by acceptance as keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

Frames = NDArray[np.int64]


def order_keys(candidates: Frames, importance: Floats, gap: int, limit: int) -> tuple[Frames, int]:
    """Return at most ``limit`` frames in the order of acceptance, and the method's own number of keys.

    First and last frame; then candidates, most important first, at least ``gap`` frames from every accepted one; these
    are the method's own keys. Then any frame in the same way, with half the gap, a quarter and so on down to one.
    O(T log T).
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
    """Append ``frames`` that are at least ``gap`` from every key to ``keys``, in order, up to ``limit`` keys."""
    is_near = _is_near(np.array(keys), gap, n)
    frames = frames[~is_near[frames]]
    if gap == 1:
        keys.extend(frames.tolist()[: limit - len(keys)])
        return
    margin = bytes(gap)
    # frame f is at f + gap, so that no window is out of range
    is_taken = bytearray(margin + is_near.tobytes() + margin)
    window = b"\x01" * (2 * gap - 1)
    for frame in frames.tolist():
        if len(keys) >= limit:
            return
        if not is_taken[frame + gap]:
            keys.append(frame)
            is_taken[frame + 1 : frame + 2 * gap] = window


def _is_near(keys: Frames, gap: int, n: int) -> Bools:
    """Return flags (n,) of the frames that are less than ``gap`` from a key."""
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, np.maximum(keys - gap + 1, 0), 1)
    np.add.at(edges, np.minimum(keys + gap, n), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)
