"""Blender's F-curves as cubics over common keys.

An F-curve is a Bezier curve in the plane of time and value: with handles a third of the gap away from their keys, as we
write them, it is a cubic of time. An artist's handles may be anywhere, and each channel may have keys of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints

CONSTANT, LINEAR, BEZIER = 0, 1, 2  # Blender's numbers for the interpolation after a key
BREAKDOWN = 2  # and for a type of key
_STEPS = 50  # halvings of a span: to the last bit of a frame


@dataclass(frozen=True)
class FCurve:
    """The keys of one channel, in time."""

    x: Floats  # (K,) frames
    y: Floats  # (K,)
    left: Floats  # (K, 2) handles
    right: Floats  # (K, 2)
    interpolation: NDArray[np.intp]  # (K,) after each key
    kinds: NDArray[np.intp]  # (K,)

    @staticmethod
    def of(table: Floats) -> FCurve:
        """From rows (K, 8) of left handle, key, right handle, interpolation and type."""
        rows = table[np.argsort(table[:, 2], kind="stable")]
        return FCurve(rows[:, 2], rows[:, 3], rows[:, :2], rows[:, 4:6], rows[:, 6].astype(int), rows[:, 7].astype(int))

    def slopes(self, times: Floats, *, before: bool) -> Floats:
        """The slopes (N,) just before or after ``times``; 0 beyond the keys, where the curve holds."""
        span = np.searchsorted(self.x, times, side="left" if before else "right") - 1
        inside = (span >= 0) & (span < len(self.x) - 1)
        slopes = np.zeros(len(times))
        if inside.any():
            slopes[inside] = self._slopes(span[inside], times[inside])
        return slopes

    def _slopes(self, span: NDArray[np.intp], times: Floats) -> Floats:
        x0, x3, y0, y3 = self.x[span], self.x[span + 1], self.y[span], self.y[span + 1]
        gap = np.maximum(x3 - x0, 1e-9)
        # Handles that reach over each other are drawn back, as Blender does.
        out, back = self.right[span] - np.stack((x0, y0), 1), np.stack((x3, y3), 1) - self.left[span + 1]
        reach = np.abs(out[:, 0]) + np.abs(back[:, 0])
        shorter = np.where(reach > gap, gap / np.maximum(reach, 1e-9), 1.0)[:, None]
        (x1, y1), (x2, y2) = (np.stack((x0, y0), 1) + shorter * out).T, (np.stack((x3, y3), 1) - shorter * back).T
        low, high = np.zeros(len(span)), np.ones(len(span))
        for _ in range(_STEPS):
            s = (low + high) / 2
            early = _bezier(x0, x1, x2, x3, s) < times
            low, high = np.where(early, s, low), np.where(early, high, s)
        s = (low + high) / 2
        s = np.where(times <= x0, 0.0, np.where(times >= x3, 1.0, s))
        along, climb = _rate(x0, x1, x2, x3, s), _rate(y0, y1, y2, y3, s)
        bent = np.divide(climb, along, out=np.zeros(len(span)), where=np.abs(along) > 1e-9)
        kind = self.interpolation[span]
        return np.where(kind == CONSTANT, 0.0, np.where(kind == BEZIER, bent, (y3 - y0) / gap))


def key_frames(curves: list[FCurve]) -> NDArray[np.int64]:
    """The frames (K,) at which any curve has a key, wherever they lie."""
    return np.unique(np.concatenate([np.rint(curve.x) for curve in curves] or [np.zeros(0)])).astype(np.int64)


def common_keys(curves: list[FCurve], n_frames: int) -> tuple[Ints, Bools]:
    """The frames (K,) at which any curve has a key, from 0 to ``n_frames - 1``, and which are extremes.

    Where keys lie outside, the first or last frame stands for them; before a jump the frame that holds gets a key.
    """
    frames: dict[int, bool] = {}
    last = n_frames - 1
    for curve in curves:
        for k, (x, kind) in enumerate(zip(np.rint(curve.x).astype(int).tolist(), curve.kinds.tolist(), strict=True)):
            frame = min(max(x, 0), last)
            frames[frame] = frames.get(frame, False) or (x == frame and kind != BREAKDOWN)
            jumps = k > 0 and curve.interpolation[k - 1] == CONSTANT and curve.y[k - 1] != curve.y[k]
            if jumps and 0 < x <= last:
                frames.setdefault(x - 1, False)
    found = sorted(frames)
    return np.array(found, np.int32), np.array([frames[frame] for frame in found], bool)


def _bezier(a: Floats, b: Floats, c: Floats, d: Floats, s: Floats) -> Floats:
    r = 1 - s
    return r * r * r * a + 3 * s * r * (r * b + s * c) + s * s * s * d


def _rate(a: Floats, b: Floats, c: Floats, d: Floats, s: Floats) -> Floats:
    r = 1 - s
    return 3 * (r * r * (b - a) + 2 * s * r * (c - b) + s * s * (d - c))
