"""Curves through keys: smooth in position, velocity and acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError

Keys = Sequence[tuple[float, ...]]  # (time in s, value, value, ...) with increasing times
Derivatives = Mapping[float, tuple[Sequence[float], Sequence[float]]]  # time -> velocities, accelerations

SWAY_HZ = (0.11, 0.27, 0.43)  # too slow to be noticed


def interpolate_keys(t: Floats, keys: Keys, derivatives: Derivatives | None = None) -> Floats:
    """Return the curves (T, D) at times ``t`` (T,) in s through ``keys`` of D values each; (T,) if D is 1.

    Between two keys is the quintic with the velocities and accelerations of both, so the curve is C2 and the same at
    any frame rate. At a key the acceleration is 0, and the velocity is 0 at extrema and between the slopes to the
    neighbours elsewhere: the curve rests where its keys rest and does not overshoot. ``derivatives`` sets velocity and
    acceleration of single keys instead. Outside its keys the curve is constant.
    """
    table = np.array(keys, dtype=float)
    times, p = table[:, 0], table[:, 1:]
    if len(times) == 1:
        times, p = np.array((times[0], times[0] + 1.0)), np.repeat(p, 2, axis=0)
    if (np.diff(times) <= 0).any():
        raise OptionError(f"keys at {times.tolist()} s, expected increasing times")
    v, a = _easy_velocities(times, p), np.zeros_like(p)
    for time, (velocity, acceleration) in (derivatives or {}).items():
        k = int(np.flatnonzero(times == time)[0])
        v[k], a[k] = velocity, acceleration
    k0 = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    k1 = k0 + 1
    h = (times[k1] - times[k0])[:, None]
    u = np.clip((t - times[k0])[:, None] / h, 0.0, 1.0)
    u3, u4, u5 = u**3, u**4, u**5
    curve: Floats = (
        p[k0] * (1 - 10 * u3 + 15 * u4 - 6 * u5)
        + p[k1] * (10 * u3 - 15 * u4 + 6 * u5)
        + v[k0] * h * (u - 6 * u3 + 8 * u4 - 3 * u5)
        + v[k1] * h * (-4 * u3 + 7 * u4 - 3 * u5)
        + a[k0] * h**2 * (u**2 - 3 * u3 + 3 * u4 - u5) / 2
        + a[k1] * h**2 * (u3 - 2 * u4 + u5) / 2
    )
    return curve[:, 0] if p.shape[1] == 1 else curve


def _easy_velocities(times: Floats, p: Floats) -> Floats:
    """Return velocities: 0 at ends and extrema, else the harmonic mean of the slopes on both sides."""
    secants = np.diff(p, axis=0) / np.diff(times)[:, None]
    before, after = secants[:-1], secants[1:]
    is_monotone = before * after > 0
    total = np.where(is_monotone, before + after, 1.0)
    v = np.zeros_like(p)
    v[1:-1] = np.where(is_monotone, 2.0 * before * after / total, 0.0)
    return v


def sway(t: Floats, seed: int, channels: int) -> Floats:
    """Return slow random sway (T, channels) within +-1, by seed."""
    random = np.random.default_rng(seed)
    waves = np.zeros((len(t), channels))
    for hz in SWAY_HZ:
        phases = random.uniform(0.0, 2.0 * np.pi, channels)
        rates = hz * random.uniform(0.85, 1.15, channels)
        waves += np.sin(2.0 * np.pi * t[:, None] * rates + phases) / len(SWAY_HZ)
    return waves
