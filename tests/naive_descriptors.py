"""The slow obvious twins of what describes and matches clips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import Floats
from keypose.library.descriptors import Description, Windows


def naive_log_covariance(frames: Floats) -> Floats:
    """One window's vector by the definition: the matrix, its logarithm by scaling and a series, row by row."""
    n = frames.shape[1]
    matrix = np.zeros((n, n))
    for row in frames:
        off = row - frames.mean(axis=0)
        matrix += np.outer(off, off) / len(frames)
    log = _logarithm(matrix + 0.01 * np.eye(n))
    return np.array([log[i, j] * (1.0 if i == j else np.sqrt(2.0)) for i in range(n) for j in range(i, n)])


def _logarithm(matrix: Floats) -> Floats:
    """Square roots (Denman and Beavers) until the matrix is near the identity, then the series of the logarithm."""
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


def naive_away(query: Windows, clip: Windows) -> float:
    """How far a clip is from a query: each window against each."""
    there = sum(
        w * min(np.linalg.norm(v - u) for u in clip.vectors) for w, v in zip(query.weights, query.vectors, strict=True)
    )
    back = sum(
        w * min(np.linalg.norm(v - u) for u in query.vectors) for w, v in zip(clip.weights, clip.vectors, strict=True)
    )
    return float((there - query.usual[0]) / query.usual[1] + (back - clip.usual[0]) / clip.usual[1])


def naive_rank(
    query: Description, clips: Sequence[Description], mirrored: Description | None, allowed: Sequence[int], keep: int
) -> list[tuple[int, float]]:
    """The nearest clips and how unlike they are: chosen by the clip vector, ordered by all descriptors."""

    def unlike(clip: int, names: Sequence[str]) -> float:
        ways = [way for way in (query, mirrored) if way is not None]
        return min(sum(naive_away(way.all[name], clips[clip].all[name]) for name in names) for way in ways)

    kept = sorted(allowed, key=lambda clip: unlike(clip, ["clip"]))[:keep]
    return sorted(((clip, unlike(clip, list(query.all))) for clip in kept), key=lambda each: each[1])
