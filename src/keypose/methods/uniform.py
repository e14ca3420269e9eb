"""Keys at equal distances in time: the baseline."""

from __future__ import annotations

import numpy as np

from keypose.methods.base import Method, check_ladder_size, resolve_max_keys
from keypose.model import Features, Ladder

MAX_DEFAULT_KEYS = 4000  # of a ladder if max_keys is None


def uniform(features: Features, max_keys: int | None = None) -> Ladder:
    """Return the first and last frame and the others between them as evenly as whole frames allow.

    The cost is the largest gap between neighbouring keys in frames.
    """
    n = features.n_frames
    if n == 1:
        return Ladder.from_paths("uniform", 1, [1], [0], [0.0])
    n_keys = resolve_max_keys(max_keys, n, default=min(max(100, n // 5), MAX_DEFAULT_KEYS), min_keys=2)
    check_ladder_size(n_keys)
    counts = np.arange(2, n_keys + 1)
    selections = [(np.arange(count) * (n - 1) // (count - 1)).astype(np.int32) for count in counts.tolist()]
    gaps = [int(np.diff(frames).max()) for frames in selections]
    return Ladder.from_paths("uniform", n, counts, np.concatenate(selections), gaps)


METHOD = Method(
    name="uniform",
    summary="selects frames at equal distances in time",
    paper="baseline",
    ladder=uniform,
    feature_kind="world",
    joints="all",
    declarations={},
)
