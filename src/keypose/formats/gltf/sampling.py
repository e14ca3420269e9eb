"""Find the frame rate of a glTF animation and sample its tracks at frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.gltf.animation import Animation, Track
from keypose.rotations import normalise, slerp

DEFAULT_FPS = 30.0
COMMON_RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 120.0, 100.0, 240.0, 24e3 / 1001, 30e3 / 1001, 60e3 / 1001)
MIN_UNIFORM_FPS = 20.0  # evenly spaced keys below this rate are sparse keys, not frames
MIN_STEP_S = 1e-3
ON_FRAME = 0.02  # tolerance in frames for a key to be on a frame: exporters round to milliseconds
FLOAT32_STEP = 2.4e-7  # relative rounding of float32 times


def find_rate(key_times: Sequence[Floats], start_s: float) -> float | None:
    """Return the rate at which all keys are on frames: their own if they are even, else a common one, else None."""
    times = np.unique(np.concatenate(key_times)) if key_times else np.zeros(0)
    steps = np.diff(times)
    steps = steps[steps > MIN_STEP_S]
    if not steps.size:
        return None
    span = float(times[-1] - start_s)
    for rate in _likely_rates(round(span / float(steps.min())) / span):
        frames = (times - start_s) * rate
        slack = ON_FRAME + FLOAT32_STEP * np.abs(times) * rate
        if (np.abs(frames - np.round(frames)) <= slack).all():
            return rate
    return None


def _likely_rates(even: float) -> tuple[float, ...]:
    """Return the rates to try, likeliest first; ``even`` is the rate if every frame had a key."""
    if even < MIN_UNIFORM_FPS:
        return COMMON_RATES
    rates = sorted((float(round(even)), *COMMON_RATES), key=lambda rate: abs(rate - even))
    if abs(rates[0] - even) < 1e-4 * even:  # measured on float32 times
        return rates[0], *COMMON_RATES
    nearby = [rate for rate in COMMON_RATES if abs(rate - even) < 0.01 * even]  # measured on rounded times
    return *sorted(nearby, key=lambda rate: abs(rate - even)), even, *COMMON_RATES


def _slack(times: Floats, fps: float) -> Floats:
    """Return the rounding error (N,) in seconds of float32 key times."""
    return FLOAT32_STEP * np.abs(times) + 1e-5 / fps


def snap_to_frames(times: Floats, start_s: float, fps: float) -> Floats:
    """Return key times (K,) snapped to frames that they miss by rounding only."""
    frames = start_s + np.round((times - start_s) * fps) / fps
    return np.where(np.abs(times - frames) <= _slack(times, fps), frames, times)


@dataclass(frozen=True)
class _KeyIntervals:
    """The key interval that each frame lies in."""

    before: Ints  # (T,) the key at or before each frame
    after: Ints  # (T,)
    fraction: Floats  # (T, 1) from 0 at ``before`` to 1 at ``after``
    gap_s: Floats  # (T, 1)
    on_keys: bool  # every frame is on a key


class Sampler:
    """Samples tracks of one animation at times (T,) in seconds; fastest if tracks with the same keys are adjacent."""

    def __init__(self, animation: Animation, at_s: Floats, fps: float) -> None:
        self._animation = animation
        self._at_s = at_s
        self._fps = fps
        self._slack = _slack(at_s, fps)
        self._cached: tuple[int, _KeyIntervals] | None = None  # only the last one: there may be as many as tracks

    def sample(self, track: Track) -> Floats:
        """Return the values (T, 3) of a track, or (T, 4) unit wxyz for a rotation."""
        values = self._animation.values(track)
        n_keys = len(self._animation.key_times[track.times])
        is_cubic = track.interpolation == "CUBICSPLINE"
        intervals = self._find_intervals(track.times)
        if track.path != "rotation":
            return _interpolate(track.interpolation, values, intervals, n_keys)
        if track.interpolation == "LINEAR" and not intervals.on_keys:
            return normalise(slerp(values[intervals.before], values[intervals.after], intervals.fraction))
        rotations = _interpolate(track.interpolation, values, intervals, n_keys)
        self._animation.check_quaternions(rotations, f"{track.location}, frame")
        return normalise(rotations) if is_cubic else rotations

    def _find_intervals(self, accessor: int) -> _KeyIntervals:
        if self._cached is None or self._cached[0] != accessor:
            start, at = self._animation.start_s, self._at_s
            times = snap_to_frames(self._animation.key_times[accessor], start, self._fps)
            last = len(times) - 1
            after = np.searchsorted(times, at, side="right").clip(0, last)
            before = (np.searchsorted(times, at, side="right") - 1).clip(0, last)
            before = np.where(times[after] - at <= self._slack, after, before)
            gap = times[after] - times[before]
            elapsed = np.where(at - times[before] <= self._slack, 0.0, at - times[before])
            fraction = np.divide(elapsed, gap, out=np.zeros_like(gap), where=gap > 0).clip(0.0, 1.0)
            self._cached = accessor, _KeyIntervals(before, after, fraction[:, None], gap[:, None], not fraction.any())
        return self._cached[1]


def _interpolate(interpolation: str, values: Floats, intervals: _KeyIntervals, n_keys: int) -> Floats:
    """Interpolate key values at the frames, component by component."""
    if interpolation == "CUBICSPLINE":
        keys = values.reshape(n_keys, 3, -1)  # in-tangent, value, out-tangent; tangents per second
        u, dt = intervals.fraction, intervals.gap_s
        start, out_tangent = keys[intervals.before, 1], keys[intervals.before, 2] * dt
        end, in_tangent = keys[intervals.after, 1], keys[intervals.after, 0] * dt
        u2, u3 = u * u, u * u * u
        curve: Floats = (
            (2 * u3 - 3 * u2 + 1) * start + (u3 - 2 * u2 + u) * out_tangent
            + (3 * u2 - 2 * u3) * end + (u3 - u2) * in_tangent
        )  # fmt: skip
        return curve
    if interpolation == "STEP" or intervals.on_keys:
        return values[intervals.before]
    return values[intervals.before] * (1.0 - intervals.fraction) + values[intervals.after] * intervals.fraction
