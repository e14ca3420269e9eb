"""The natural cubic spline: the smoothest curve through given points, without curvature at its ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

# A row's off-diagonal part is at most half of its diagonal, and each reduction squares that ratio at least:
# after six it is below 2^-64, under the last digit of a double. So the work is linear whatever the length.
REDUCTIONS = 6


def natural_spline(keys: Floats, values: Floats, at: Floats) -> Floats:
    """The natural cubic spline through ``values`` (K, ...) at the increasing times ``keys`` (K,), at times ``at`` (N,).

    Columns are independent. Outside of the keys the end values hold. O(K + N log K) per column.
    """
    times = np.asarray(keys, np.float64)
    if len(times) == 1:
        return np.repeat(values, len(at), axis=0)
    inside = np.clip(np.asarray(at, np.float64), times[0], times[-1])
    before = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(times) - 2)
    columns = values.reshape(len(values), -1)
    return spline_at(inside, before, times, columns, curvatures(times, columns)).reshape(-1, *values.shape[1:])


def curvatures(keys: Floats, values: Floats, ends: Bools | None = None) -> Floats:
    """Second derivatives (K, ...) at the keys of natural splines through ``values`` (K, ...).

    ``ends`` (K,) marks first and last keys where several curves lie one after another: each curve is a spline of its
    own. Without it, all keys are of one curve.
    """
    if len(keys) < 3:
        return np.zeros(values.shape)
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gaps = np.diff(keys)
    slopes = np.diff(values, axis=0) / gaps[rows]
    diagonal = 2 * (gaps[:-1] + gaps[1:])
    below, above, right = np.zeros(len(keys)), np.zeros(len(keys)), np.zeros(values.shape)
    below[1:-1] = gaps[:-1] / diagonal
    above[1:-1] = gaps[1:] / diagonal
    right[1:-1] = 6 * np.diff(slopes, axis=0) / diagonal[rows]
    if ends is not None:
        below[ends], above[ends], right[ends] = 0.0, 0.0, 0.0
    return _solved(below, above, right, REDUCTIONS)


def spline_at(times: Floats, before: NDArray[np.intp], keys: Floats, values: Floats, second: Floats) -> Floats:
    """The cubics from keys ``before`` (N,) to the next ones at ``times`` (N,); ``values``, ``second``: (K, ...)."""
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gap = keys[before + 1] - keys[before]
    part = ((times - keys[before]) / gap)[rows]
    rest = 1 - part
    bend = (rest + 1) * second[before] + (part + 1) * second[before + 1]
    # part^3 - part = -part * rest * (1 + part), and the same with the two exchanged
    return rest * values[before] + part * values[before + 1] - (part * rest / 6) * (gap * gap)[rows] * bend


def _solved(below: Floats, above: Floats, right: Floats, reductions: int) -> Floats:
    """x of ``below[i] x[i-1] + x[i] + above[i] x[i+1] = right[i]``: odd rows are eliminated, the even ones solved."""
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
    even = _solved(even_below / diagonal, even_above / diagonal, even_right / diagonal[rows], reductions - 1)
    x = np.empty_like(right)
    x[::2] = even
    x[1::2] = odd_right - odd_below[rows] * even[: len(odd_below)]
    x[1 : 2 * to_left : 2] -= odd_above[:to_left][rows] * even[1:]
    return x
