"""Tangents of cubic curves: fitted to all frames by least squares, or those of the natural spline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.features.spline import curvatures
from keypose.model import Curves

RIDGE = 1e-9  # times the cubed gap, as the weight of a span; undetermined tangents become those of the chord


def fit_cubics(values: Floats, keys: Ints, *, shared: bool = False, jump_penalty: float = 0.0) -> Curves:
    """Return the cubics through ``values`` (T, J, C) at ``keys`` that are closest to all frames between them.

    Each span has two tangents of its own. With ``shared`` a key has the same tangent on both sides; ``jump_penalty``
    times the cubed mean of the two gaps weighs the squared difference between the two.
    """
    columns = values.reshape(len(values), -1)
    key_values = columns[keys]
    out_tangents, in_tangents = np.zeros(key_values.shape), np.zeros(key_values.shape)
    if len(keys) > 1:
        if shared or jump_penalty:
            tangents = _fit_coupled_tangents(columns, keys, np.inf if shared else jump_penalty)
        else:
            tangents = _fit_separate_tangents(columns, keys)
        out_tangents[:-1], in_tangents[1:] = tangents
    shape = (len(keys), *values.shape[1:])
    return Curves(key_values.reshape(shape), in_tangents.reshape(shape), out_tangents.reshape(shape))


def fit_natural_spline(values: Floats, keys: Ints) -> Curves:
    """Return the natural cubic spline through ``values`` (T, J, C) at ``keys``."""
    key_values = values[keys]
    tangents = np.zeros(key_values.shape)
    if len(keys) > 1:
        times = keys.astype(np.float64)
        curvature = curvatures(times, key_values)
        gaps = np.diff(times)[:, None, None]
        chords = np.diff(key_values, axis=0) / gaps
        tangents[:-1] = chords - gaps / 6 * (2 * curvature[:-1] + curvature[1:])
        tangents[-1] = chords[-1] + gaps[-1] / 6 * (curvature[-2] + 2 * curvature[-1])
    return Curves(key_values, tangents, tangents)


def hermite_basis(gap: int) -> tuple[Floats, Floats, Floats]:
    """Return the Hermite basis (gap - 1,) at the inner frames of a span: of the rise, the start and the end tangent."""
    s = np.arange(1, gap) / gap
    return s * s * (3 - 2 * s), gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)


def _fit_separate_tangents(columns: Floats, keys: Ints) -> tuple[Floats, Floats]:
    """Return the start and end tangents (K - 1, D) of all spans, each span fitted alone."""
    gaps = np.diff(keys)
    rise = np.diff(columns[keys], axis=0)
    chords = rise / gaps[:, None]
    starts, ends = chords.copy(), chords.copy()
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        if gap > 1:
            _, a, b = hermite_basis(gap)
            by_a, by_b = _project_residuals(columns, keys, spans, gap, chords)
            if gap == 2:  # one frame for two tangents: the parabola through it
                starts[spans] += by_a / (a @ a - a @ b)
                ends[spans] += by_b / (b @ b - a @ b)
            else:
                aa, ab, bb = a @ a, a @ b, b @ b
                determinant = aa * bb - ab * ab
                starts[spans] += (bb * by_a - ab * by_b) / determinant
                ends[spans] += (aa * by_b - ab * by_a) / determinant
    return starts, ends


def _project_residuals(
    columns: Floats, keys: Ints, spans: NDArray[np.intp], gap: int, chords: Floats
) -> tuple[Floats, Floats]:
    """Return the residuals of inner frames from the chord, projected on the two tangent functions: (S, D) each."""
    _, a, b = hermite_basis(gap)
    inner_values = columns[keys[spans, None] + np.arange(1, gap)]  # (S, gap - 1, D)
    residuals = inner_values - columns[keys[spans]][:, None] - np.arange(1, gap)[:, None] * chords[spans][:, None]
    return np.einsum("t,std->sd", a, residuals), np.einsum("t,std->sd", b, residuals)


def _fit_coupled_tangents(columns: Floats, keys: Ints, jump_penalty: float) -> tuple[Floats, Floats]:
    """Return the same tangents with those at one key pulled together; an infinite penalty makes them equal."""
    gaps = np.diff(keys)
    n = len(gaps)
    chords = np.diff(columns[keys], axis=0) / gaps[:, None]
    # unknowns: deviations from the chord, in the order start 0, end 0, start 1, end 1, ...
    diagonal, off_diagonal = np.zeros(2 * n), np.zeros(2 * n - 1)
    right = np.zeros((2 * n, columns.shape[1]))
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        _, a, b = hermite_basis(gap)
        ridge = RIDGE * gap**3
        diagonal[2 * spans], diagonal[2 * spans + 1], off_diagonal[2 * spans] = a @ a + ridge, b @ b + ridge, a @ b
        if gap > 1:
            right[2 * spans], right[2 * spans + 1] = _project_residuals(columns, keys, spans, gap, chords)
    jump = np.diff(chords, axis=0)  # at inner keys: the next chord minus the previous one
    if np.isinf(jump_penalty):
        return _fit_shared_tangents(diagonal, off_diagonal, right, chords, jump)
    weights = jump_penalty * ((gaps[:-1] + gaps[1:]) / 2.0) ** 3
    diagonal[1:-1:2] += weights
    diagonal[2::2] += weights
    off_diagonal[1::2] = -weights
    right[1:-1:2] += weights[:, None] * jump
    right[2::2] -= weights[:, None] * jump
    x = _solve_tridiagonal(diagonal, off_diagonal, right)
    return chords + x[::2], chords + x[1::2]


def _fit_shared_tangents(
    diagonal: Floats, off_diagonal: Floats, right: Floats, chords: Floats, jump: Floats
) -> tuple[Floats, Floats]:
    """Return the tangents with one unknown at each key."""
    n = len(chords)
    rows, out = np.zeros(n + 1), np.zeros((n + 1, chords.shape[1]))
    aa, bb, ab = diagonal[::2], diagonal[1::2], off_diagonal[::2]
    rows[:-1] += aa
    rows[1:] += bb
    out[:-1] += right[::2] + (aa + ab)[:, None] * chords
    out[1:] += right[1::2] + (bb + ab)[:, None] * chords
    tangents = _solve_tridiagonal(rows, ab, out)
    return tangents[:-1], tangents[1:]


def _solve_tridiagonal(diagonal: Floats, off_diagonal: Floats, right: Floats) -> Floats:
    """Return x (N, D) of a symmetric positive definite tridiagonal system."""
    d, x = diagonal.copy(), right.copy()
    for i in range(1, len(d)):
        factor = off_diagonal[i - 1] / d[i - 1]
        d[i] -= factor * off_diagonal[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= d[-1]
    for i in range(len(d) - 2, -1, -1):
        x[i] = (x[i] - off_diagonal[i] * x[i + 1]) / d[i]
    return x
