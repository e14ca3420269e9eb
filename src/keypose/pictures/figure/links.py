"""Rods between markers that keep their distance: what hangs together in a body that has no bones."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

MOST_MARKERS = 150  # beyond that, looking at all pairs takes too long
LONGEST = 0.3  # heights
RIGID = 0.012  # heights: by how much a distance may vary
STRAIN = 8.0  # how much more a varying distance counts than a long one


def links(world: Floats, size: float) -> list[tuple[int, int]]:
    """Pairs of markers, of places ``world`` (F, P, 3): a tree of the shortest and stiffest connections.

    None for one pose, in which every distance is kept.
    """
    frames, markers = world.shape[:2]
    if frames < 2 or not 2 <= markers <= MOST_MARKERS:
        return []
    first, second = np.triu_indices(markers, 1)
    apart = np.linalg.norm(world[:, first] - world[:, second], axis=-1) / size  # (F, pairs)
    mean, varies = apart.mean(axis=0), apart.std(axis=0)
    near = np.flatnonzero((mean < LONGEST) & (varies < RIGID))
    order = near[np.argsort((mean + STRAIN * varies)[near], kind="stable")]
    group = list(range(markers))
    found = []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if group[a] != group[b]:
            found.append((a, b))
            gone, kept = group[b], group[a]
            group = [kept if each == gone else each for each in group]
    return found
