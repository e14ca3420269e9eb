"""Animations of a glTF file: at what rate they are, and their keys sampled at frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.gltf.animation import Animation, Track
from keypose.rotations import normalise, slerp

DEFAULT_FPS = 30.0
COMMON_RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 120.0, 100.0, 240.0, 24e3 / 1001, 30e3 / 1001, 60e3 / 1001)
LEAST_UNIFORM_RATE = 20.0  # even keys further apart are sparse keys, not the frames of a recording
LEAST_STEP_S = 1e-3
ON_FRAME = 0.02  # a key this part of a frame away from a frame stands on it: exporters round to milliseconds
FLOAT32_STEP = 2.4e-7  # times are float32: their rounding, relative


def find_rate(key_times: Sequence[Floats], start_s: float) -> float | None:
    """The frame rate on which all keys stand: their own if they are even, else a common one, else None."""
    times = np.unique(np.concatenate(key_times)) if key_times else np.zeros(0)
    steps = np.diff(times)
    steps = steps[steps > LEAST_STEP_S]
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
    """Rates to try, likeliest first, for keys that would be ``even`` frames per second if each had one."""
    if even < LEAST_UNIFORM_RATE:
        return COMMON_RATES
    known = sorted((float(round(even)), *COMMON_RATES), key=lambda rate: abs(rate - even))
    if abs(known[0] - even) < 1e-4 * even:  # measured on float32 times
        return known[0], *COMMON_RATES
    nearby = [rate for rate in COMMON_RATES if abs(rate - even) < 0.01 * even]  # measured on rounded times
    return *sorted(nearby, key=lambda rate: abs(rate - even)), even, *COMMON_RATES


def _slack(times: Floats, fps: float) -> Floats:
    """By how much (N,) float32 key times stand beside their frame."""
    return FLOAT32_STEP * np.abs(times) + 1e-5 / fps


def on_frames(times: Floats, start_s: float, fps: float) -> Floats:
    """Key times (K,) put on the frames that they missed by rounding alone."""
    frames = start_s + np.round((times - start_s) * fps) / fps
    return np.where(np.abs(times - frames) <= _slack(times, fps), frames, times)


@dataclass(frozen=True)
class _Places:
    """Where frames lie between keys."""

    before: Ints  # (T,) the key at or before each frame
    after: Ints  # (T,)
    part: Floats  # (T, 1) of the way from one to the other
    gap_s: Floats  # (T, 1)
    on_keys: bool  # every frame stands on a key


class Sampler:
    """Samples tracks of one animation at given times (T,) in seconds; best those with the same keys in turn."""

    def __init__(self, animation: Animation, at_s: Floats, fps: float) -> None:
        self._animation = animation
        self._at_s = at_s
        self._fps = fps
        self._slack = _slack(at_s, fps)
        self._last: tuple[int, _Places] | None = None  # one only: there may be as many as tracks

    def sample(self, track: Track) -> Floats:
        """The values (T, 3) of a track, or (T, 4) unit wxyz of a rotation."""
        values = self._animation.values(track)
        n_keys = len(self._animation.key_times[track.times])
        cubic = track.interpolation == "CUBICSPLINE"
        places = self._of(track.times)
        if track.path != "rotation":
            return _between(track.interpolation, values, places, n_keys)
        if track.interpolation == "LINEAR" and not places.on_keys:
            return normalise(slerp(values[places.before], values[places.after], places.part))
        turns = _between(track.interpolation, values, places, n_keys)
        self._animation.check_turns(turns, f"{track.where}, frame")
        return normalise(turns) if cubic else turns

    def _of(self, accessor: int) -> _Places:
        if self._last is None or self._last[0] != accessor:
            start, at = self._animation.start_s, self._at_s
            times = on_frames(self._animation.key_times[accessor], start, self._fps)
            last = len(times) - 1
            after = np.searchsorted(times, at, side="right").clip(0, last)
            before = (np.searchsorted(times, at, side="right") - 1).clip(0, last)
            before = np.where(times[after] - at <= self._slack, after, before)
            gap = times[after] - times[before]
            into = np.where(at - times[before] <= self._slack, 0.0, at - times[before])
            part = np.divide(into, gap, out=np.zeros_like(gap), where=gap > 0).clip(0.0, 1.0)
            self._last = accessor, _Places(before, after, part[:, None], gap[:, None], not part.any())
        return self._last[1]


def _between(interpolation: str, values: Floats, places: _Places, n_keys: int) -> Floats:
    """Key values, component by component, at the frames."""
    if interpolation == "CUBICSPLINE":
        keys = values.reshape(n_keys, 3, -1)  # in-tangent, value, out-tangent; tangents per second
        u, dt = places.part, places.gap_s
        start, leaving = keys[places.before, 1], keys[places.before, 2] * dt
        end, arriving = keys[places.after, 1], keys[places.after, 0] * dt
        u2, u3 = u * u, u * u * u
        curve: Floats = (
            (2 * u3 - 3 * u2 + 1) * start + (u3 - 2 * u2 + u) * leaving
            + (3 * u2 - 2 * u3) * end + (u3 - u2) * arriving
        )  # fmt: skip
        return curve
    if interpolation == "STEP" or places.on_keys:
        return values[places.before]
    return values[places.before] * (1.0 - places.part) + values[places.after] * places.part
