"""The keys of single curves: refinement until a natural spline through the keys follows the curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats
from keypose.features.spline import curvatures, spline_at
from keypose.methods.refine.fixed import Rules, fixed_frames

NO_MOVEMENT = 1e-9  # a curve that varies less than this part of the greatest number is constant: rounding noise
BLOCK = 1 << 18  # so many numbers at once fit in a processor's cache


def curve_keys(values: Floats, rules: Rules) -> tuple[Bools, Bools]:
    """The keys of each column of ``values`` (T, D) and the fixed ones among them, both (D, T).

    A column without movement has its first and last frame.
    """
    least, amplitude = values.min(axis=0), np.ptp(values, axis=0)
    keys = np.zeros(values.T.shape, bool)
    keys[:, [0, -1]] = True
    fixed = keys.copy()
    moving = np.flatnonzero(amplitude > NO_MOVEMENT * np.abs(values).max())
    together = max(1, BLOCK // len(values))
    for start in range(0, len(moving), together):
        columns = moving[start : start + together]
        curves = np.ascontiguousarray(((values[:, columns] - least[columns]) / amplitude[columns]).T)
        fixed[columns], straight = fixed_frames(curves, rules)
        keys[columns] = refined(curves, fixed[columns], straight, rules)
    return keys, fixed


def refined(curves: Floats, fixed: Bools, straight: Bools, rules: Rules) -> Bools:
    """The fixed frames and those that refinement adds, for rows of amplitude 1; all arrays (C, n).

    Each round draws the natural spline through the keys and adds, in every span between neighbouring keys, the
    frame farthest from it if that is too far. Curves with nothing to add are left as they are.
    """
    keys = fixed.copy()
    rows = np.arange(len(curves))
    while len(rows):
        added = _too_far(curves[rows], keys[rows], straight[rows], rules)
        row, frame = np.divmod(added, curves.shape[1])
        keys[rows[row], frame] = True
        rows = rows[np.unique(row)]
    return keys


def _too_far(curves: Floats, keys: Bools, straight: Bools, rules: Rules) -> NDArray[np.intp]:
    """Flat places of the frame to add in each span that needs one, increasing.

    The curves lie one after another on one axis: between two of them there is a span without frames.
    """
    flat, is_key = curves.reshape(-1), keys.reshape(-1)
    at = np.flatnonzero(is_key)
    frames = np.flatnonzero(~(is_key | straight.reshape(-1)))
    if not len(frames):
        return frames
    place, last = at % curves.shape[1], curves.shape[1] - 1
    times, heights = at.astype(np.float64), flat[at]
    second = curvatures(times, heights, (place == 0) | (place == last))
    span = np.cumsum(is_key)[frames] - 1
    between = flat[frames]
    error = np.abs(spline_at(frames.astype(np.float64), span, times, heights, second) - between)
    first = np.flatnonzero(np.diff(span, prepend=-1))
    extent = np.maximum.reduceat(between, first) - np.minimum.reduceat(between, first)
    worst = np.maximum.reduceat(error, first)
    needs = worst > np.maximum(rules.threshold * extent, rules.least_error)
    worst[~needs] = np.inf
    found = np.flatnonzero(error == np.repeat(worst, np.diff(first, append=len(frames))))
    return frames[found[np.diff(span[found], prepend=-1) > 0]]
