"""Rods between markers at constant distance, which approximate bones of a body without skeleton."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

MAX_MARKERS = 150  # comparing all pairs of more takes too long
MAX_LENGTH = 0.3  # heights
MAX_VARIATION = 0.012  # heights; maximum standard deviation of a distance
VARIATION_WEIGHT = 8.0  # of variation relative to length


def find_links(world: Floats, size: float) -> list[tuple[int, int]]:
    """Return pairs of markers of positions ``world`` (F, P, 3): a forest of the shortest and most rigid connections.

    Empty for a single pose, in which every distance is constant.
    """
    frames, markers = world.shape[:2]
    if frames < 2 or not 2 <= markers <= MAX_MARKERS:
        return []
    first, second = np.triu_indices(markers, 1)
    distances = np.linalg.norm(world[:, first] - world[:, second], axis=-1) / size  # (F, pairs)
    mean, variation = distances.mean(axis=0), distances.std(axis=0)
    near = np.flatnonzero((mean < MAX_LENGTH) & (variation < MAX_VARIATION))
    order = near[np.argsort((mean + VARIATION_WEIGHT * variation)[near], kind="stable")]
    group = list(range(markers))
    pairs = []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if group[a] != group[b]:
            pairs.append((a, b))
            old_group, new_group = group[b], group[a]
            group = [new_group if each == old_group else each for each in group]
    return pairs
