"""Slopes of cubic curves: fitted to all frames by least squares, or those of the natural spline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.features.spline import curvatures
from keypose.model import Curves

RIDGE = 1e-9  # times the cubed gap, as the weight of a span is: what no frame determines is the chord's slope


def fitted(values: Floats, keys: Ints, *, shared: bool = False, jump_penalty: float = 0.0) -> Curves:
    """Cubics through ``values`` (T, J, C) at ``keys`` that come closest to all frames between them.

    Each span has two slopes of its own; with ``shared`` a key has the same slope on both sides, and ``jump_penalty``
    times the cubed mean of the two gaps weighs the square of the difference between the two.
    """
    columns = values.reshape(len(values), -1)
    at_keys = columns[keys]
    leaving, arriving = np.zeros(at_keys.shape), np.zeros(at_keys.shape)
    if len(keys) > 1:
        if shared or jump_penalty:
            slopes = _coupled(columns, keys, np.inf if shared else jump_penalty)
        else:
            slopes = _separate(columns, keys)
        leaving[:-1], arriving[1:] = slopes
    shape = (len(keys), *values.shape[1:])
    return Curves(at_keys.reshape(shape), arriving.reshape(shape), leaving.reshape(shape))


def natural(values: Floats, keys: Ints) -> Curves:
    """The natural cubic spline through ``values`` (T, J, C) at ``keys``."""
    at_keys = values[keys]
    slopes = np.zeros(at_keys.shape)
    if len(keys) > 1:
        times = keys.astype(np.float64)
        bends = curvatures(times, at_keys)
        gaps = np.diff(times)[:, None, None]
        chords = np.diff(at_keys, axis=0) / gaps
        slopes[:-1] = chords - gaps / 6 * (2 * bends[:-1] + bends[1:])
        slopes[-1] = chords[-1] + gaps[-1] / 6 * (bends[-2] + 2 * bends[-1])
    return Curves(at_keys, slopes, slopes)


def basis(gap: int) -> tuple[Floats, Floats, Floats]:
    """At the inner frames of a span: the parts (gap - 1,) of the climb, of the slope at its start and at its end."""
    s = np.arange(1, gap) / gap
    return s * s * (3 - 2 * s), gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)


def _separate(columns: Floats, keys: Ints) -> tuple[Floats, Floats]:
    """Slopes (K - 1, D) at the start and at the end of each span, each span for itself."""
    gaps = np.diff(keys)
    climb = np.diff(columns[keys], axis=0)
    chords = climb / gaps[:, None]
    starts, ends = chords.copy(), chords.copy()
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        if gap > 1:
            _, a, b = basis(gap)
            by_a, by_b = _moments(columns, keys, spans, gap, chords)
            if gap == 2:  # one frame for two slopes: the parabola through it
                starts[spans] += by_a / (a @ a - a @ b)
                ends[spans] += by_b / (b @ b - a @ b)
            else:
                aa, ab, bb = a @ a, a @ b, b @ b
                determinant = aa * bb - ab * ab
                starts[spans] += (bb * by_a - ab * by_b) / determinant
                ends[spans] += (aa * by_b - ab * by_a) / determinant
    return starts, ends


def _moments(columns: Floats, keys: Ints, spans: NDArray[np.intp], gap: int, chords: Floats) -> tuple[Floats, Floats]:
    """What is left of the inner frames beside the chord, summed up by the two slope functions: (spans, D) each."""
    _, a, b = basis(gap)
    inner = columns[keys[spans, None] + np.arange(1, gap)]  # (S, gap - 1, D)
    left = inner - columns[keys[spans]][:, None] - np.arange(1, gap)[:, None] * chords[spans][:, None]
    return np.einsum("t,std->sd", a, left), np.einsum("t,std->sd", b, left)


def _coupled(columns: Floats, keys: Ints, jump_penalty: float) -> tuple[Floats, Floats]:
    """The same with slopes of neighbouring spans pulled together; infinite: they are one."""
    gaps = np.diff(keys)
    n = len(gaps)
    chords = np.diff(columns[keys], axis=0) / gaps[:, None]
    # unknowns: deviations from the chord, in the order start 0, end 0, start 1, end 1, ...
    diagonal, beside = np.zeros(2 * n), np.zeros(2 * n - 1)
    right = np.zeros((2 * n, columns.shape[1]))
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        _, a, b = basis(gap)
        ridge = RIDGE * gap**3
        diagonal[2 * spans], diagonal[2 * spans + 1], beside[2 * spans] = a @ a + ridge, b @ b + ridge, a @ b
        if gap > 1:
            right[2 * spans], right[2 * spans + 1] = _moments(columns, keys, spans, gap, chords)
    jump = np.diff(chords, axis=0)  # at inner keys: the next chord minus the one before
    if np.isinf(jump_penalty):
        return _shared(diagonal, beside, right, chords, jump)
    weights = jump_penalty * ((gaps[:-1] + gaps[1:]) / 2.0) ** 3
    diagonal[1:-1:2] += weights
    diagonal[2::2] += weights
    beside[1::2] = -weights
    right[1:-1:2] += weights[:, None] * jump
    right[2::2] -= weights[:, None] * jump
    x = _tridiagonal(diagonal, beside, right)
    return chords + x[::2], chords + x[1::2]


def _shared(diagonal: Floats, beside: Floats, right: Floats, chords: Floats, jump: Floats) -> tuple[Floats, Floats]:
    """One unknown slope at each key."""
    n = len(chords)
    rows, out = np.zeros(n + 1), np.zeros((n + 1, chords.shape[1]))
    aa, bb, ab = diagonal[::2], diagonal[1::2], beside[::2]
    rows[:-1] += aa
    rows[1:] += bb
    out[:-1] += right[::2] + (aa + ab)[:, None] * chords
    out[1:] += right[1::2] + (bb + ab)[:, None] * chords
    slopes = _tridiagonal(rows, ab, out)
    return slopes[:-1], slopes[1:]


def _tridiagonal(diagonal: Floats, beside: Floats, right: Floats) -> Floats:
    """x (N, D) of a symmetric positive system with three diagonals."""
    d, x = diagonal.copy(), right.copy()
    for i in range(1, len(d)):
        factor = beside[i - 1] / d[i - 1]
        d[i] -= factor * beside[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= d[-1]
    for i in range(len(d) - 2, -1, -1):
        x[i] = (x[i] - beside[i] * x[i + 1]) / d[i]
    return x
