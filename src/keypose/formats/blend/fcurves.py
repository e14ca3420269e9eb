"""Blender's F-curves: their tangents and common keys.

An F-curve is a Bezier curve in the plane of time and value: with handles a third of the gap away from their keys, as
Keypose writes them, it is a cubic of time. An artist's handles may be anywhere, and each channel may have its own keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints

CONSTANT, LINEAR, BEZIER = 0, 1, 2  # Blender's interpolation after a key
BREAKDOWN = 2  # a Blender key type
_N_BISECTIONS = 50  # number of bisections of a span, for the precision of a frame number


@dataclass(frozen=True)
class FCurve:
    """The keys of one channel, in order of time."""

    x: Floats  # (K,) frames
    y: Floats  # (K,)
    left_handles: Floats  # (K, 2) handles
    right_handles: Floats  # (K, 2)
    interpolation: NDArray[np.intp]  # (K,) after each key
    key_types: NDArray[np.intp]  # (K,)

    @staticmethod
    def from_table(table: Floats) -> FCurve:
        """Build from rows (K, 8) of left handle, key, right handle, interpolation and type."""
        rows = table[np.argsort(table[:, 2], kind="stable")]
        return FCurve(rows[:, 2], rows[:, 3], rows[:, :2], rows[:, 4:6], rows[:, 6].astype(int), rows[:, 7].astype(int))

    @property
    def is_still(self) -> bool:
        """Whether the value never changes."""
        values = np.concatenate((self.y, self.left_handles[1:, 1], self.right_handles[:-1, 1]))
        return bool((values == values[0]).all())

    def key_frames(self) -> NDArray[np.int64]:
        """Return the frames of the keys."""
        return np.rint(self.x).astype(np.int64)

    def tangents(self, times: Floats, *, before: bool) -> Floats:
        """Return the tangents (N,) just before or after ``times``; 0 outside the keys, where the curve is constant."""
        span = np.searchsorted(self.x, times, side="left" if before else "right") - 1
        is_inside = (span >= 0) & (span < len(self.x) - 1)
        tangents = np.zeros(len(times))
        if is_inside.any():
            tangents[is_inside] = self._compute_tangents(span[is_inside], times[is_inside])
        return tangents

    def _compute_tangents(self, span: NDArray[np.intp], times: Floats) -> Floats:
        x0, x3, y0, y3 = self.x[span], self.x[span + 1], self.y[span], self.y[span + 1]
        gap = np.maximum(x3 - x0, 1e-9)
        # Handles that overlap are shortened, as in Blender.
        out, back = (
            self.right_handles[span] - np.stack((x0, y0), 1),
            np.stack((x3, y3), 1) - self.left_handles[span + 1],
        )
        reach = np.abs(out[:, 0]) + np.abs(back[:, 0])
        factors = np.where(reach > gap, gap / np.maximum(reach, 1e-9), 1.0)[:, None]
        (x1, y1), (x2, y2) = (np.stack((x0, y0), 1) + factors * out).T, (np.stack((x3, y3), 1) - factors * back).T
        low, high = np.zeros(len(span)), np.ones(len(span))
        for _ in range(_N_BISECTIONS):
            s = (low + high) / 2
            is_early = _bezier(x0, x1, x2, x3, s) < times
            low, high = np.where(is_early, s, low), np.where(is_early, high, s)
        s = (low + high) / 2
        s = np.where(times <= x0, 0.0, np.where(times >= x3, 1.0, s))
        x_rate, y_rate = _rate(x0, x1, x2, x3, s), _rate(y0, y1, y2, y3, s)
        bezier_tangents = np.divide(y_rate, x_rate, out=np.zeros(len(span)), where=np.abs(x_rate) > 1e-9)
        kind = self.interpolation[span]
        return np.where(kind == CONSTANT, 0.0, np.where(kind == BEZIER, bezier_tangents, (y3 - y0) / gap))


def key_frames(curves: list[FCurve]) -> NDArray[np.int64]:
    """Return the frames (K,) at which any curve has a key, inside the scene's range or not."""
    return np.unique(np.concatenate([np.rint(curve.x) for curve in curves] or [np.zeros(0)])).astype(np.int64)


def common_keys(curves: list[FCurve], n_frames: int) -> tuple[Ints, Bools]:
    """Return the frames (K,) from 0 to ``n_frames - 1`` at which any curve has a key, and which are extremes (K,).

    A key outside of these frames becomes one at the first or last frame; the last frame before a jump gets a key.
    """
    is_extreme: dict[int, bool] = {}
    last = n_frames - 1
    for curve in curves:
        for k, (x, kind) in enumerate(
            zip(np.rint(curve.x).astype(int).tolist(), curve.key_types.tolist(), strict=True)
        ):
            frame = min(max(x, 0), last)
            is_extreme[frame] = is_extreme.get(frame, False) or (x == frame and kind != BREAKDOWN)
            has_jump = k > 0 and curve.interpolation[k - 1] == CONSTANT and curve.y[k - 1] != curve.y[k]
            if has_jump and 0 < x <= last:
                is_extreme.setdefault(x - 1, False)
    keys = sorted(is_extreme)
    return np.array(keys, np.int32), np.array([is_extreme[frame] for frame in keys], bool)


def _bezier(a: Floats, b: Floats, c: Floats, d: Floats, s: Floats) -> Floats:
    r = 1 - s
    return r * r * r * a + 3 * s * r * (r * b + s * c) + s * s * s * d


def _rate(a: Floats, b: Floats, c: Floats, d: Floats, s: Floats) -> Floats:
    r = 1 - s
    return 3 * (r * r * (b - a) + 2 * s * r * (c - b) + s * s * (d - c))
