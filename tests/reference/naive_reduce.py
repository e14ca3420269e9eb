"""Slow, obvious twins of keypose.curves.reduce: a least-squares solve for each span, every subset of samples."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np


def fit_span(times: np.ndarray, values: np.ndarray, start: int, end: int, *, straight: bool) -> np.ndarray:
    """Return the tangents at both ends of the cubic through two samples that is closest to those between them.

    A single sample between them determines a parabola.
    """
    length, rise = times[end] - times[start], values[end] - values[start]
    s = (times[start + 1 : end] - times[start]) / length
    left = values[start + 1 : end] - values[start] - rise * s
    if straight or end - start == 1:
        deviations = np.zeros(2)
    elif end - start == 2:
        height = left[0] / (s[0] * (1 - s[0]))
        deviations = np.array([height, -height])
    else:
        basis = np.stack([s * (1 - s) ** 2, -(s**2) * (1 - s)], axis=1)
        deviations = np.linalg.lstsq(basis, left, rcond=None)[0]
    return (rise + deviations) / length


def extrema(curve: np.polynomial.Polynomial, length: float) -> list[float]:
    """Return the times of the extrema; a cubic that is a parabola but for rounding has one."""
    coefficients = curve.deriv().coef * length ** np.arange(3)  # over the share of the span
    shares = np.polynomial.Polynomial(coefficients).trim(1e-11 * np.abs(coefficients).max()).roots()
    return [float(share.real) * length for share in shares if abs(share.imag) < 1e-9]


def cubic(length: float, first: float, last: float, tangents: np.ndarray) -> np.polynomial.Polynomial:
    """Return the cubic over the time since the start."""
    a, b = tangents
    rise = last - first
    square = (3 * rise / length - 2 * a - b) / length
    cube = (a + b - 2 * rise / length) / length**2
    return np.polynomial.Polynomial([first, a, square, cube])


def sample_ranges(times: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Return the lowest and highest value that a curve may have between each sample and the next one."""
    n = len(times)
    bends = []
    for i in range(1, n - 1):
        before = (values[i] - values[i - 1]) / (times[i] - times[i - 1])
        after = (values[i + 1] - values[i]) / (times[i + 1] - times[i])
        bends.append(2 * (after - before) / (times[i + 1] - times[i - 1]))
    bends = [0.0, *bends, 0.0]
    ranges = []
    for i in range(n - 1):
        scale = (times[i + 1] - times[i]) ** 2 / 4
        low, high = sorted((values[i], values[i + 1]))
        if values[i] != values[i + 1] and bends[i] > 0 and bends[i + 1] > 0:
            low -= scale * min(bends[i], bends[i + 1])
        if values[i] != values[i + 1] and bends[i] < 0 and bends[i + 1] < 0:
            high += scale * min(-bends[i], -bends[i + 1])
        ranges.append((low, high))
    return ranges


def span_error(times: np.ndarray, values: np.ndarray, start: int, end: int, *, straight: bool) -> float:
    """Return the largest error of a span at the samples inside, and beyond the ranges between samples."""
    if end - start == 1:
        return 0.0
    tangents = fit_span(times, values, start, end, straight=straight)
    curve = cubic(times[end] - times[start], values[start], values[end], tangents)
    inside = times[start + 1 : end] - times[start]
    error = float(np.abs(curve(inside) - values[start + 1 : end]).max())
    if straight:
        return error
    ranges = sample_ranges(times, values)
    for i in range(start, end):
        low, high = ranges[i]
        since = np.array([times[i], times[i + 1]]) - times[start]
        inner = [time for time in extrema(curve, times[end] - times[start]) if since[0] < time < since[1]]
        for value in map(curve, inner):
            error = max(error, value - high, low - value)
    return float(error)


def span_costs(
    times: np.ndarray, values: np.ndarray, scales: np.ndarray, limits: np.ndarray, *, straight: bool
) -> np.ndarray:
    """Return the cost (N, N) of each span of curves (C, N); infinite beyond a limit."""
    n = len(times)
    costs = np.full((n, n), np.inf)
    for start, end in combinations(range(n), 2):
        errors = [span_error(times, row, start, end, straight=straight) for row in values]
        if all(error <= limit for error, limit in zip(errors, limits, strict=True)):
            costs[start, end] = max(error * scale for error, scale in zip(errors, scales, strict=True))
    return costs


def best_costs(costs: np.ndarray) -> list[float]:
    """Return the cost of the best selection with 2, 3, ... keys, found among all subsets of the samples."""
    n = len(costs)
    best = []
    for count in range(n - 1):
        selections = ((0, *inner, n - 1) for inner in combinations(range(1, n - 1), count))
        best.append(min(max(costs[a, b] for a, b in pairwise(keys)) for keys in selections))
    return best
