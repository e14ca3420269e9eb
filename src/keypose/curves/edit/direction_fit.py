"""Fit cubic quaternions by direction: tangents by least squares of directions, regardless of lengths."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats

ITERATIONS = 4
RIDGE = 1e-9  # of the weight of all samples: fixes the tangents that they do not determine


def fit_directions(targets: Floats, ends: Floats, tangents: Floats, s: Floats, gap: float) -> Floats:
    """Return the tangents (2, J, 4) with which normalised cubics between ``ends`` (2, J, 4) are nearest to ``targets``.

    Least squares over ``targets`` (N, J, 4) at fractions ``s`` (N,) of the span, by Gauss-Newton from ``tangents``
    (2, J, 4); a step that does not improve a joint is not taken.
    """
    tangent_basis = np.stack((gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)))  # (2, N) of the two tangents
    rise = (s * s * (3 - 2 * s))[:, None, None]
    between = (1 - rise) * ends[0] + rise * ends[1]

    def evaluate(tangents: Floats) -> tuple[Floats, Floats, Floats]:
        values = between + np.einsum("an,ajc->njc", tangent_basis, tangents)
        length = np.maximum(np.linalg.norm(values, axis=-1, keepdims=True), 1e-6)
        errors = values / length - targets
        return values / length, length, errors

    unit, length, errors = evaluate(tangents)
    for _ in range(ITERATIONS):
        projection = (np.eye(4) - unit[..., :, None] * unit[..., None, :]) / length[..., None]  # (N, J, 4, 4)
        matrix = np.einsum("an,bn,njcd->jacbd", tangent_basis, tangent_basis, projection / length[..., None]).reshape(
            -1, 8, 8
        )
        right = -np.einsum("an,njcd,njd->jac", tangent_basis, projection, errors).reshape(-1, 8, 1)
        weight = RIDGE * np.trace(matrix, axis1=1, axis2=2)[:, None, None] + 1e-300
        step = np.moveaxis(np.linalg.solve(matrix + weight * np.eye(8), right).reshape(-1, 2, 4), 1, 0)
        candidate = evaluate(tangents + step)
        helps = np.einsum("njc,njc->j", candidate[2], candidate[2]) < np.einsum("njc,njc->j", errors, errors)
        if not helps.any():
            break
        is_taken = helps[:, None]
        tangents = np.where(is_taken, tangents + step, tangents)
        unit, length, errors = (
            np.where(is_taken, new, old) for new, old in zip(candidate, (unit, length, errors), strict=True)
        )
    return tangents
