"""Natural cubic splines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

# Off-diagonal entries are at most half of the diagonal, and each cyclic reduction at least squares that ratio: after
# six it is below 2^-64, less than the precision of a double. So the work is linear in the length.
REDUCTIONS = 6


def natural_spline(keys: Floats, values: Floats, at: Floats) -> Floats:
    """Return the natural cubic spline through ``values`` (K, ...) at increasing ``keys`` (K,), at times ``at`` (N,).

    Columns are independent. Outside of the keys the end values hold. O(K + N log K) per column.
    """
    times = np.asarray(keys, np.float64)
    if len(times) == 1:
        return np.repeat(values, len(at), axis=0)
    inside = np.clip(np.asarray(at, np.float64), times[0], times[-1])
    before = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(times) - 2)
    columns = values.reshape(len(values), -1)
    return evaluate_spline(inside, before, times, columns, curvatures(times, columns)).reshape(-1, *values.shape[1:])


def curvatures(keys: Floats, values: Floats, ends: Bools | None = None) -> Floats:
    """Return second derivatives (K, ...) at the keys of natural splines through ``values`` (K, ...).

    ``ends`` (K,) flags first and last keys where several curves are concatenated; None: one curve.
    """
    if len(keys) < 3:
        return np.zeros(values.shape)
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gaps = np.diff(keys)
    secants = np.diff(values, axis=0) / gaps[rows]
    diagonal = 2 * (gaps[:-1] + gaps[1:])
    below, above, right = np.zeros(len(keys)), np.zeros(len(keys)), np.zeros(values.shape)
    below[1:-1] = gaps[:-1] / diagonal
    above[1:-1] = gaps[1:] / diagonal
    right[1:-1] = 6 * np.diff(secants, axis=0) / diagonal[rows]
    if ends is not None:
        below[ends], above[ends], right[ends] = 0.0, 0.0, 0.0
    return _solve_tridiagonal(below, above, right, REDUCTIONS)


def evaluate_spline(times: Floats, before: NDArray[np.intp], keys: Floats, values: Floats, second: Floats) -> Floats:
    """Return the cubics after keys ``before`` (N,) at ``times`` (N,); ``values``, ``second``: (K, ...)."""
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gap = keys[before + 1] - keys[before]
    fraction = ((times - keys[before]) / gap)[rows]
    rest = 1 - fraction
    bend = (rest + 1) * second[before] + (fraction + 1) * second[before + 1]
    # part^3 - part = -part * rest * (1 + part), and likewise with the two exchanged
    return rest * values[before] + fraction * values[before + 1] - (fraction * rest / 6) * (gap * gap)[rows] * bend


def _solve_tridiagonal(below: Floats, above: Floats, right: Floats, reductions: int) -> Floats:
    """Solve ``below[i] x[i-1] + x[i] + above[i] x[i+1] = right[i]`` for x: eliminate odd rows, solve the even ones."""
    n = len(below)
    if n == 1 or reductions == 0:
        return right
    rows = (slice(None),) + (None,) * (right.ndim - 1)
    odd_below, odd_above, odd_right = below[1::2], above[1::2], right[1::2]
    left, after = below[2::2], above[: n - 1 : 2]  # of the even rows that have an odd row before, after them
    to_left, to_right = len(left), len(after)
    diagonal, even_right = np.ones((n + 1) // 2), right[::2].copy()
    even_below, even_above = np.zeros(len(diagonal)), np.zeros(len(diagonal))
    diagonal[1:] -= left * odd_above[:to_left]
    diagonal[:to_right] -= after * odd_below
    even_below[1:] = -left * odd_below[:to_left]
    even_above[:to_right] = -after * odd_above
    even_right[1:] -= left[rows] * odd_right[:to_left]
    even_right[:to_right] -= after[rows] * odd_right
    even = _solve_tridiagonal(even_below / diagonal, even_above / diagonal, even_right / diagonal[rows], reductions - 1)
    x = np.empty_like(right)
    x[::2] = even
    x[1::2] = odd_right - odd_below[rows] * even[: len(odd_below)]
    x[1 : 2 * to_left : 2] -= odd_above[:to_left][rows] * even[1:]
    return x
