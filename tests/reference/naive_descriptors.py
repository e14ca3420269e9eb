"""Slow obvious versions of descriptors and their comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Floats
from keypose.library.descriptors import Description, Windows


def naive_log_covariance(frames: Floats) -> Floats:
    """Compute one window's vector by the definition: covariance matrix, logarithm by scaling and a series."""
    n = frames.shape[1]
    matrix = np.zeros((n, n))
    for row in frames:
        offset = row - frames.mean(axis=0)
        matrix += np.outer(offset, offset) / len(frames)
    log = _logarithm(matrix + 0.01 * np.eye(n))
    return np.array([log[i, j] * (1.0 if i == j else np.sqrt(2.0)) for i in range(n) for j in range(i, n)])


def _logarithm(matrix: Floats) -> Floats:
    """Take square roots (Denman and Beavers) until the matrix is near the identity, then sum the series."""
    halvings = 0
    while np.abs(matrix - np.eye(len(matrix))).max() > 0.02:
        y, z = matrix, np.eye(len(matrix))
        for _ in range(25):
            y, z = (y + np.linalg.inv(z)) / 2, (z + np.linalg.inv(y)) / 2
        matrix, halvings = y, halvings + 1
    off = matrix - np.eye(len(matrix))
    power, total = off, np.zeros_like(off)
    for k in range(1, 30):
        total = total - (-1) ** k * power / k
        power = power @ off
    return total * 2.0**halvings


def naive_distance(query: Windows, clip: Windows) -> float:
    """Return the distance of a clip from a query, comparing all pairs of windows."""
    to_clip = sum(
        w * min(np.linalg.norm(v - u) for u in clip.vectors) for w, v in zip(query.weights, query.vectors, strict=True)
    )
    from_clip = sum(
        w * min(np.linalg.norm(v - u) for u in query.vectors) for w, v in zip(clip.weights, clip.vectors, strict=True)
    )
    return float(
        (to_clip - query.background_distance[0]) / query.background_distance[1]
        + (from_clip - clip.background_distance[0]) / clip.background_distance[1]
    )


def naive_rank(
    query: Description, clips: Sequence[Description], mirrored: Description | None, allowed: Sequence[int], keep: int
) -> list[tuple[int, float]]:
    """Return the nearest clips and their distances: preselected by the clip vector, ordered by all descriptors."""

    def distance(clip: int, names: Sequence[str]) -> float:
        variants = [variant for variant in (query, mirrored) if variant is not None]
        return min(
            sum(naive_distance(variant.all[name], clips[clip].all[name]) for name in names) for variant in variants
        )

    preselected = sorted(allowed, key=lambda clip: distance(clip, ["clip"]))[:keep]
    return sorted(((clip, distance(clip, list(query.all))) for clip in preselected), key=lambda each: each[1])
