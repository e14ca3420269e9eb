"""Keys of single curves and of joints at 30 fps: straight sections, fixed frames, refinement by natural splines."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.features import curvatures, evaluate_spline, natural_spline
from keypose.model import Features
from keypose.model.motion import WHOLE_RATIO_TOLERANCE, frames_at_rate

RATE = 30.0  # frames per second at which keys are found
CONSTANT_RATIO = 1e-9  # relative to the largest number: a curve with a smaller range is constant
BLOCK_VALUES = 1 << 18  # values that fit into the cache of a processor


def find_curve_keys(values: Floats, options: RefineOptions) -> tuple[Bools, Bools]:
    """Return the keys of each column of ``values`` (T, D) and the fixed ones among them, both flags (D, T).

    A constant column has its first and last frame as keys.
    """
    lows, amplitude = values.min(axis=0), np.ptp(values, axis=0)
    keys = np.zeros(values.T.shape, bool)
    keys[:, [0, -1]] = True
    fixed = keys.copy()
    moving_columns = np.flatnonzero(amplitude > find_min_amplitude(values))
    n_columns = max(1, BLOCK_VALUES // len(values))
    for start in range(0, len(moving_columns), n_columns):
        columns = moving_columns[start : start + n_columns]
        curves = np.ascontiguousarray(((values[:, columns] - lows[columns]) / amplitude[columns]).T)
        fixed[columns], straight = find_fixed_frames(curves, options)
        keys[columns] = refine_curves(curves, fixed[columns], straight, options)
    return keys, fixed


def find_min_amplitude(values: Floats) -> float:
    """Return the range up to which a column of ``values`` (T, D) is constant."""
    return CONSTANT_RATIO * float(np.abs(values).max())


def refine_curves(curves: Floats, fixed: Bools, straight: Bools, options: RefineOptions) -> Bools:
    """Return the fixed frames and those that refinement adds, for rows of amplitude 1; all arrays (C, n).

    Each round evaluates the natural spline through the keys and adds, in every span between neighbouring keys, the
    frame farthest from it if its error is above ``threshold`` times the range of the values strictly between the two
    keys, or times ``min_range`` if that is greater. Curves without new keys are finished.
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

    The curves are concatenated on one axis, with a span without frames between two curves.
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
    is_off = worst > options.threshold * np.maximum(extent, options.min_range)
    worst[~is_off] = np.inf
    worst_frames = np.flatnonzero(error == np.repeat(worst, np.diff(first, append=len(frames))))
    return frames[worst_frames[np.diff(span[worst_frames], prepend=-1) > 0]]


@dataclass(frozen=True)
class RefineOptions:
    """Checked options: ratios of the amplitude of a curve, ``threshold`` as a ratio of the range of a span, times in
    frames."""

    threshold: float
    min_range: float
    straight_range: float
    straight_frames: int
    prominence: float
    jump: float


def find_fixed_frames(curves: Floats, options: RefineOptions) -> tuple[Bools, Bools]:
    """Return flags (C, n) of the fixed frames of each curve and of the frames strictly inside straight sections."""
    fixed, straight = np.zeros(curves.shape, bool), np.zeros(curves.shape, bool)
    for curve, first, last in find_straight_sections(curves, options.straight_range, options.straight_frames):
        straight[curve, first + 1 : last] = True
        fixed[curve, [first, first + 1, last - 1, last]] = True
    frames = find_extrema(curves, options.prominence)
    fixed.reshape(-1)[frames[~straight.reshape(-1)[frames]]] = True
    fixed |= find_jumps(curves, options.jump)
    fixed[:, [0, -1]] = True
    return fixed, straight


def find_straight_sections(curves: Floats, max_range: float, min_frames: int) -> list[tuple[int, int, int]]:
    """Return (curve, first, last) of each longest section, from the left, whose range is below ``max_range``."""
    frames = curves.shape[1]
    if min_frames > frames:
        return []
    high, low = _reduce_windows(curves, min_frames, np.maximum), _reduce_windows(curves, min_frames, np.minimum)
    is_start = high - low < max_range
    sections = []
    for curve in np.flatnonzero(is_start.any(axis=1)).tolist():
        starts, values = np.flatnonzero(is_start[curve]).tolist(), curves[curve].tolist()
        at = 0
        while at < len(starts):
            first = starts[at]
            highest, lowest = float(high[curve, first]), float(low[curve, first])
            end = first + min_frames
            while end < frames:
                value = values[end]
                highest, lowest = max(highest, value), min(lowest, value)
                if highest - lowest >= max_range:
                    break
                end += 1
            sections.append((curve, first, end - 1))
            at = bisect_left(starts, end, at)
    return sections


def _reduce_windows(curves: Floats, frames: int, reduction: np.ufunc) -> Floats:
    """Return the maximum (or minimum) over windows of ``frames`` frames, by doubling the window."""
    window, covered = curves, 1
    while covered < frames:
        step = min(covered, frames - covered)
        window = reduction(window[:, :-step], window[:, step:])
        covered += step
    return window


def find_extrema(curves: Floats, min_prominence: float) -> NDArray[np.intp]:
    """Return flat indices of inner local extrema with at least ``min_prominence``; for a plateau its middle.

    The prominence of a maximum is its height over the higher of the two lowest points between it and the next
    higher value, or the curve's end, on either side.
    """
    flat, frames = curves.reshape(-1), curves.shape[1]
    new_curve = np.arange(len(flat)) % frames == 0
    first = np.flatnonzero(new_curve | np.concatenate(([True], flat[1:] != flat[:-1])))  # runs of equal values
    last = np.concatenate((first[1:], [len(flat)])) - 1
    is_end = new_curve[first] | (last % frames == frames - 1)
    is_rising = np.concatenate(([True], flat[first[1:]] > flat[first[:-1]]))
    is_extremum = ~is_end & (is_rising != np.concatenate((is_rising[1:], [True])))
    runs = np.flatnonzero(is_extremum | is_end)  # between them a curve is monotone
    runs = runs[_drop_ripples(flat[first[runs]], is_end[runs], min_prominence)]
    value, starts_curve = flat[first[runs]], new_curve[first[runs]]
    prominence = np.where(is_rising[runs], _prominences(value, starts_curve), _prominences(-value, starts_curve))
    stands_out = is_extremum[runs] & (prominence >= min_prominence)
    prominent = runs[stands_out]
    middle: NDArray[np.intp] = (first[prominent] + last[prominent]) // 2
    return middle


def _drop_ripples(values: Floats, is_end: Bools, min_prominence: float) -> NDArray[np.intp]:
    """Return the indices of extreme ``values`` without small ripples. Most noise is removed with operations on whole
    arrays.

    A step that is smaller than the steps before and after it connects two extrema with a prominence of that step;
    removing both does not change the prominence of others. Ripples of equal steps remain for the exact computation.
    """
    indices = np.arange(len(values))
    while len(indices) > 3:
        step = np.abs(np.diff(values[indices]))
        inner = ~is_end[indices]
        is_ripple = (step[1:-1] < min_prominence) & (step[1:-1] < step[:-2]) & (step[1:-1] < step[2:])
        ripples = np.flatnonzero(is_ripple & inner[1:-2] & inner[2:-1]) + 1
        if not len(ripples):
            break
        is_left = np.ones(len(indices), bool)
        is_left[ripples], is_left[ripples + 1] = False, False
        indices = indices[is_left]
    return indices


def _prominences(values: Floats, starts_curve: Bools) -> Floats:
    """Return the prominence of each value as a maximum, where it is one."""
    ends_curve = np.concatenate((starts_curve[1:], [True]))
    before = _lowest_since_higher(values.tolist(), starts_curve.tolist())
    after = _lowest_since_higher(values[::-1].tolist(), ends_curve[::-1].tolist())[::-1]
    return values - np.maximum(before, after)


def _lowest_since_higher(values: list[float], starts_curve: list[bool]) -> list[float]:
    """Return for each value the lowest since the last strictly higher one of its curve, by a stack in linear time."""
    lowest: list[float] = []
    higher: list[float] = []
    lows: list[float] = []
    for value, starts in zip(values, starts_curve, strict=True):
        if starts:
            higher.clear()
            lows.clear()
        low = value
        while higher and higher[-1] <= value:
            higher.pop()
            low = min(low, lows.pop())
        higher.append(value)
        lows.append(low)
        lowest.append(low)
    return lowest


def find_jumps(curves: Floats, min_jump: float) -> Bools:
    """Return flags of frames that differ by more than ``min_jump`` from both neighbours, and of these neighbours."""
    is_jump = np.zeros(curves.shape, bool)
    is_large = np.abs(np.diff(curves, axis=1)) > min_jump
    is_peak = is_large[:, :-1] & is_large[:, 1:]
    for shift in range(3):
        is_jump[:, shift : shift + is_peak.shape[1]] |= is_peak
    return is_jump


@dataclass(frozen=True, eq=False)
class Sampling:
    """Curves at 30 fps, and where their frames are in the motion."""

    features: Features
    positions: Floats  # (N,) frames of the motion, which may be fractional
    n_frames: int  # of the motion

    def key_frames(self, keys: Bools) -> Ints:
        """Return the frames of the motion nearest to ``keys`` (N,), of two the later one; the last key is its last."""
        frames = np.floor(self.positions[keys] + 0.5 + 1e-9).astype(np.int32)
        frames[-1] = self.n_frames - 1
        return np.unique(np.append(np.int32(0), frames))


def sample_features(features: Features) -> Sampling:
    """Return the curves at 30 fps: every n-th frame if the ratio of the rates is whole, else interpolated linearly."""
    ratio = features.fps / RATE
    step = max(1, round(ratio))
    if abs(ratio - step) <= WHOLE_RATIO_TOLERANCE * step:
        positions = np.arange(0, features.n_frames, step, dtype=np.float64)
        values = features.values[::step]
    else:
        positions = frames_at_rate(features.n_frames, len(features.columns), features.fps, RATE)
        frames = np.arange(features.n_frames)
        values = np.stack([np.interp(positions, frames, curve) for curve in features.values.T], axis=1)
    return Sampling(replace(features, values=freeze(values), fps=RATE), positions, features.n_frames)


@dataclass(frozen=True, eq=False)
class JointKeys:
    """The keys of one joint, step by step."""

    joint: str
    axis_keys: Bools  # (A, N) keys of each of its curves
    fixed: Bools  # (N,) fixed on any axis
    overlap: Bools  # (N,) the union over the axes
    keys: Bools  # (N,) after reduction


def find_joint_keys(features: Features, options: RefineOptions) -> tuple[JointKeys, ...]:
    """Return the keys of every joint, in the order of the ``features``, which are at 30 fps."""
    keys, fixed = find_curve_keys(features.values, options)
    joints = []
    for joint, columns in features.joints.items():
        axes = keys[list(columns)]
        overlap: Bools = np.logical_or.reduce(axes)
        joint_fixed: Bools = np.logical_or.reduce(fixed[list(columns)])
        joints.append(JointKeys(joint, axes, joint_fixed, overlap, reduce_keys(overlap, joint_fixed)))
    return tuple(joints)


def reduce_keys(keys: Bools, fixed: Bools) -> Bools:
    """Return the keys (T,) that remain when those on adjacent frames are thinned; fixed ones always remain.

    Rule 1: of a run of exactly two adjacent keys, neither of them fixed, the later one remains. Rule 2: from left to
    right, of three keys on adjacent frames the middle one is removed if it is not fixed.
    """
    edges = np.flatnonzero(np.diff(keys, prepend=False, append=False))
    first, last = edges[::2], edges[1::2] - 1
    result = keys.copy()
    pairs = first[(last - first == 1) & ~fixed[first] & ~fixed[last]]
    result[pairs] = False
    loose = np.flatnonzero(result[:-2] & result[1:-1] & result[2:] & ~fixed[1:-1]) + 1
    for frame in loose.tolist():
        result[frame] = not result[frame - 1]  # the next frame is never removed before this one
    return result


def find_max_errors(values: Floats, key_frames: Ints, min_amplitude: float) -> tuple[float | None, ...]:
    """Return for each column of ``values`` (T, A) the largest error of the natural spline through the keys.

    It is a share of the column's amplitude; None if that is at most ``min_amplitude``.
    """
    times, frames = key_frames.astype(np.float64), np.arange(len(values), dtype=np.float64)
    errors: list[float | None] = []
    for curve in values.T:
        amplitude = float(np.ptp(curve))
        if amplitude <= min_amplitude:
            errors.append(None)
            continue
        spline = natural_spline(times, curve[key_frames], frames)
        errors.append(float(np.abs(spline - curve).max()) / amplitude)
    return tuple(errors)
