"""Keys at equal distances in time: what every method has to beat."""

from __future__ import annotations

import numpy as np

from keypose.methods.base import Method, budget, check_paths
from keypose.model import Features, Ladder

MOST_BY_DEFAULT = 4000  # keys that a ladder goes up to


def uniform(features: Features, max_keys: int | None = None) -> Ladder:
    """First and last frame and the others between them as evenly as whole frames allow.

    The cost is the greatest gap between neighbouring keys in frames.
    """
    n = features.n_frames
    if n == 1:
        return Ladder.of_paths("uniform", 1, [1], [0], [0.0])
    most = budget(max_keys, n, default=min(max(100, n // 5), MOST_BY_DEFAULT), least=2)
    check_paths(most)
    counts = np.arange(2, most + 1)
    spaced = [(np.arange(count) * (n - 1) // (count - 1)).astype(np.int32) for count in counts.tolist()]
    gaps = [int(np.diff(frames).max()) for frames in spaced]
    return Ladder.of_paths("uniform", n, counts, np.concatenate(spaced), gaps)


METHOD = Method(
    name="uniform",
    summary="keys at equal distances in time",
    paper="the baseline of every paper",
    ladder=uniform,
    recipe="world",
    joints="all",
    options_help={},
)
