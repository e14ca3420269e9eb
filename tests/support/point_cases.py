"""Random points of each kind of data that a clip may contain, for tests of methods."""

from __future__ import annotations

import numpy as np

CASES = ["walk", "noise", "far from the origin", "frames repeated", "closed loop", "one column", "a column of zeros"]


def make_points(case: str, rng: np.random.Generator, max_frames: int) -> np.ndarray:
    walk = np.cumsum(rng.normal(size=(int(rng.integers(2, max_frames)), int(rng.integers(2, 8)))), axis=0)
    points = {
        "noise": rng.normal(size=walk.shape),
        "far from the origin": walk + 1e4,
        "frames repeated": np.repeat(walk, 3, axis=0)[: len(walk) + 5],
        "closed loop": np.concatenate((walk, walk[:1])),
        "one column": walk[:, :1],
        "a column of zeros": walk * ([0.0] + [1.0] * (walk.shape[1] - 1)),
    }
    return points.get(case, walk)
