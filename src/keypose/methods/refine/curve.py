"""Keys of single curves: refinement until a natural spline through the keys follows the curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats
from keypose.features.spline import curvatures, evaluate_spline
from keypose.methods.refine.fixed_frames import RefineOptions, find_fixed_frames

CONSTANT_RATIO = 1e-9  # relative to the largest number: a curve with a smaller range is constant
BLOCK_VALUES = 1 << 18  # fit in a processor's cache


def find_curve_keys(values: Floats, options: RefineOptions) -> tuple[Bools, Bools]:
    """Return the keys of each column of ``values`` (T, D) and the fixed ones among them, both flags (D, T).

    The keys of a constant column are its first and last frame.
    """
    lows, amplitude = values.min(axis=0), np.ptp(values, axis=0)
    keys = np.zeros(values.T.shape, bool)
    keys[:, [0, -1]] = True
    fixed = keys.copy()
    moving_columns = np.flatnonzero(amplitude > CONSTANT_RATIO * np.abs(values).max())
    n_columns = max(1, BLOCK_VALUES // len(values))
    for start in range(0, len(moving_columns), n_columns):
        columns = moving_columns[start : start + n_columns]
        curves = np.ascontiguousarray(((values[:, columns] - lows[columns]) / amplitude[columns]).T)
        fixed[columns], straight = find_fixed_frames(curves, options)
        keys[columns] = refine_curves(curves, fixed[columns], straight, options)
    return keys, fixed


def refine_curves(curves: Floats, fixed: Bools, straight: Bools, options: RefineOptions) -> Bools:
    """Return the fixed frames and those that refinement adds, for rows of amplitude 1; all arrays (C, n).

    Each round evaluates the natural spline through the keys and adds, in every span between neighbouring keys, the
    frame farthest from it if the error is too large. Curves without new keys are finished.
    """
    keys = fixed.copy()
    rows = np.arange(len(curves))
    while len(rows):
        new_keys = _find_new_keys(curves[rows], keys[rows], straight[rows], options)
        row, frame = np.divmod(new_keys, curves.shape[1])
        keys[rows[row], frame] = True
        rows = rows[np.unique(row)]
    return keys


def _find_new_keys(curves: Floats, keys: Bools, straight: Bools, options: RefineOptions) -> NDArray[np.intp]:
    """Return flat indices of the frame to add in each span that needs one, increasing.

    The curves are concatenated on one axis: between two of them there is a span without frames.
    """
    flat, is_key = curves.reshape(-1), keys.reshape(-1)
    key_indices = np.flatnonzero(is_key)
    frames = np.flatnonzero(~(is_key | straight.reshape(-1)))
    if not len(frames):
        return frames
    frame, last = key_indices % curves.shape[1], curves.shape[1] - 1
    times, heights = key_indices.astype(np.float64), flat[key_indices]
    second = curvatures(times, heights, (frame == 0) | (frame == last))
    span = np.cumsum(is_key)[frames] - 1
    between = flat[frames]
    error = np.abs(evaluate_spline(frames.astype(np.float64), span, times, heights, second) - between)
    first = np.flatnonzero(np.diff(span, prepend=-1))
    extent = np.maximum.reduceat(between, first) - np.minimum.reduceat(between, first)
    worst = np.maximum.reduceat(error, first)
    is_off = worst > np.maximum(options.threshold * extent, options.min_error)
    worst[~is_off] = np.inf
    worst_frames = np.flatnonzero(error == np.repeat(worst, np.diff(first, append=len(frames))))
    return frames[worst_frames[np.diff(span[worst_frames], prepend=-1) > 0]]
