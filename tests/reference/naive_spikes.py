"""A slow, obvious twin of the search for values that jump away in a single frame."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.curves.capture_faults import MIN_COSINE
from keypose.rotations import align_signs


def naive_jumps(values: Floats, reach: int, min_size: float, min_ratio: float) -> dict[int, list[int]]:
    """Return the columns of ``values`` (T, N, C) that jump, by frame, one frame and column after the other."""
    jumps: dict[int, list[int]] = {}
    n_frames = len(values)
    for frame in range(2, n_frames - 2):
        for column in range(values.shape[1]):
            first = max(0, frame - reach - 1)
            path = values[first : frame + reach + 2, column]
            path = align_signs(path[:, None])[:, 0] if path.shape[1] == 4 else path
            if is_jump(path, frame - first, min_size, min_ratio):
                jumps.setdefault(frame, []).append(column)
    return jumps


def is_jump(path: Floats, t: int, min_size: float, min_ratio: float) -> bool:
    """Return whether ``path`` (T, C) is elsewhere at frame t than both sides lead to, by more than it ever bends."""
    from_before = path[t] - (path[t - 1] + (path[t - 1] - path[t - 2]))
    from_middle = path[t] - 0.5 * (path[t - 1] + path[t + 1])
    from_after = path[t] - (path[t + 1] + (path[t + 1] - path[t + 2]))
    size = min(np.linalg.norm(offset) for offset in (from_before, from_middle, from_after))
    for offset in (from_before, from_after):
        if offset @ from_middle < MIN_COSINE * np.linalg.norm(offset) * np.linalg.norm(from_middle):
            return False
    bends = [
        np.linalg.norm(path[u - 1] - 2 * path[u] + path[u + 1])
        for u in range(1, len(path) - 1)
        if t not in (u - 1, u, u + 1)
    ]
    return bool(size >= min_size and size >= min_ratio * max(bends, default=0.0))
