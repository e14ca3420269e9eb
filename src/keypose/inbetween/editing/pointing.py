"""Cubic quaternions that point where others do: slopes by least squares of directions, whatever the lengths."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

RIDGE = 1e-9  # of the weight of all places: holds the slopes that they leave open


def towards(shown: Floats, ends: Floats, slopes: Floats, s: Floats, gap: float) -> Floats:
    """What to add to slopes (2, J, 4) at the ends (2, J, 4) of a span so that its cubics point to ``shown`` (N, J, 4).

    Least squares over places ``s`` (N,) of the span, from 0 to 1: what stands square to the direction shown is to be
    nothing.
    """
    first, last = gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)
    climb = (s * s * (3 - 2 * s))[:, None, None]
    start = (1 - climb) * ends[0] + climb * ends[1]
    start += first[:, None, None] * slopes[0] + last[:, None, None] * slopes[1]
    square = np.eye(4) - shown[..., :, None] * shown[..., None, :]  # (N, J, 4, 4), a projection
    parts = np.stack((first, last))  # (2, N)
    matrix = np.einsum("an,bn,njcd->jacbd", parts, parts, square).reshape(-1, 8, 8)
    right = -np.einsum("an,njcd,njd->jac", parts, square, start).reshape(-1, 8, 1)
    weight = RIDGE * np.trace(matrix, axis1=1, axis2=2)[:, None, None]
    found = np.linalg.solve(matrix + weight * np.eye(8), right).reshape(-1, 2, 4)
    return np.moveaxis(found, 1, 0)
