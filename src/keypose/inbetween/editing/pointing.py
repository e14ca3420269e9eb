"""Cubic quaternions that point where others do: slopes by least squares of directions, whatever the lengths."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

ROUNDS = 4
RIDGE = 1e-9  # of the weight of all places: holds the slopes that they leave open


def pointing(shown: Floats, ends: Floats, slopes: Floats, s: Floats, gap: float) -> Floats:
    """Slopes (2, J, 4) with which cubics from ``ends`` (2, J, 4), scaled to length 1, come nearest to ``shown``.

    Least squares of ``shown`` (N, J, 4) over places ``s`` (N,) of the span, from 0 to 1, by Gauss-Newton from
    ``slopes`` (2, J, 4); a step that does not help a joint is not taken.
    """
    parts = np.stack((gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)))  # (2, N) of the two slopes
    climb = (s * s * (3 - 2 * s))[:, None, None]
    between = (1 - climb) * ends[0] + climb * ends[1]

    def looked(at: Floats) -> tuple[Floats, Floats, Floats]:
        raw = between + np.einsum("an,ajc->njc", parts, at)
        length = np.maximum(np.linalg.norm(raw, axis=-1, keepdims=True), 1e-6)
        off = raw / length - shown
        return raw / length, length, off

    unit, length, off = looked(slopes)
    for _ in range(ROUNDS):
        square = (np.eye(4) - unit[..., :, None] * unit[..., None, :]) / length[..., None]  # (N, J, 4, 4)
        matrix = np.einsum("an,bn,njcd->jacbd", parts, parts, square / length[..., None]).reshape(-1, 8, 8)
        right = -np.einsum("an,njcd,njd->jac", parts, square, off).reshape(-1, 8, 1)
        weight = RIDGE * np.trace(matrix, axis1=1, axis2=2)[:, None, None] + 1e-300
        step = np.moveaxis(np.linalg.solve(matrix + weight * np.eye(8), right).reshape(-1, 2, 4), 1, 0)
        tried = looked(slopes + step)
        helps = np.einsum("njc,njc->j", tried[2], tried[2]) < np.einsum("njc,njc->j", off, off)
        if not helps.any():
            break
        taken = helps[:, None]
        slopes = np.where(taken, slopes + step, slopes)
        unit, length, off = (np.where(taken, new, old) for new, old in zip(tried, (unit, length, off), strict=True))
    return slopes
