"""Resample the keys of one property of one node at the common keys of a keyed motion.

A cubic or linear span of a translation can be split anywhere without change. A cubic of a quaternion can be split too,
but its inner points do not have exactly length 1, as keys must. So each part is scaled by a factor that is linear in
time and makes both its ends unit quaternions; that changes the rotations by almost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.gltf.animation import Animation, Track
from keypose.formats.gltf.sampling import FLOAT32_STEP, ON_FRAME
from keypose.model import Curves
from keypose.model.curves import SpanPosition
from keypose.rotations import align_signs, normalise, slerp


@dataclass(frozen=True)
class KeyValues:
    """Values at common keys, with tangents per frame."""

    values: Floats  # (K, 3), or (K, 4) unit wxyz
    in_tangents: Floats
    out_tangents: Floats


@dataclass(frozen=True)
class TrackCurve:
    """The keys of a track with frame numbers; a STEP value holds until the frame before its next key."""

    animation: Animation
    track: Track
    frames: Ints  # (N,) increasing
    values: Floats  # (N, 3), or (N, 4) wxyz
    tangents: tuple[Floats, Floats] | None  # in, out per frame; None: linear

    @property
    def is_rotation(self) -> bool:
        """Whether it is a rotation."""
        return self.track.path == "rotation"

    def hull(self) -> Floats:
        """Return points (N or 3 N, 3 or 4) whose convex hull contains the curve: its keys and handles."""
        if self.tangents is None or len(self.frames) == 1:
            return self.values
        third = np.diff(self.frames).max() / 3
        in_tangents, out_tangents = self.tangents
        return np.concatenate((self.values, self.values - third * in_tangents, self.values + third * out_tangents))

    def is_exact_at(self, keys: Ints, *, cubic: bool) -> bool:
        """Return whether resampling at these keys is exact."""
        if not self.is_rotation or not np.ptp(self.hull(), axis=0).any():
            return True
        inner_keys = keys[(keys >= self.frames[0]) & (keys <= self.frames[-1])]
        if self.tangents is None:
            return not cubic or bool((np.diff(inner_keys) == 1).all())
        return bool(np.isin(inner_keys, self.frames).all())

    def resample(self, keys: Ints, *, cubic: bool) -> KeyValues:
        """Return the same curve with keys at all of ``keys`` (K,), which include its own."""
        if self.tangents is None:
            return self._resample_linear(keys, cubic=cubic)
        position = SpanPosition.locate(self.frames, keys.astype(np.float64))
        in_tangents, out_tangents = self.tangents
        values = Curves(self.values[:, None], in_tangents[:, None], out_tangents[:, None]).at(position)[:, 0]
        s, gap = position.fraction[:, None], position.gap[:, None]
        delta = self.values[position.after] - self.values[position.before]
        tangent = (
            6 * s * (1 - s) * delta / gap
            + (1 - 4 * s + 3 * s * s) * out_tangents[position.before]
            - (2 * s - 3 * s * s) * in_tangents[position.after]
        )
        is_inside = ((keys > self.frames[0]) & (keys < self.frames[-1]))[:, None]
        is_own_key = np.isin(keys, self.frames)[:, None]
        new_in_tangents, new_out_tangents = (
            np.where(is_own_key, side[position.before], np.where(is_inside, tangent, 0.0))
            for side in (in_tangents, out_tangents)
        )
        new_in_tangents[1:][keys[1:] <= self.frames[0]] = 0.0  # the curve is constant before and after its keys
        new_out_tangents[:-1][keys[:-1] >= self.frames[-1]] = 0.0
        key_values = KeyValues(values, new_in_tangents, new_out_tangents)
        return self._normalise(keys, key_values) if self.is_rotation else key_values

    def _resample_linear(self, keys: Ints, *, cubic: bool) -> KeyValues:
        position = SpanPosition.locate(self.frames, keys.astype(np.float64))
        first, last, fraction = self.values[position.before], self.values[position.after], position.fraction[:, None]
        values = normalise(slerp(first, last, fraction)) if self.is_rotation else first + fraction * (last - first)
        values[position.fraction == 0] = first[position.fraction == 0]
        if self.is_rotation:
            values = align_signs(values)
        in_tangents, out_tangents = np.zeros(values.shape), np.zeros(values.shape)
        if cubic and len(keys) > 1:
            gaps = np.diff(keys)[:, None]
            a, b = values[:-1], values[1:]
            if self.is_rotation:  # the great circle, at constant speed
                dot = np.clip(np.sum(a * b, axis=1, keepdims=True), -1.0, 1.0)
                speed = 1 / np.maximum(np.sinc(np.arccos(dot) / np.pi), 1e-9) / gaps
                out_tangents[:-1], in_tangents[1:] = speed * (b - dot * a), speed * (dot * b - a)
            else:
                out_tangents[:-1] = in_tangents[1:] = (b - a) / gaps
        return KeyValues(values, in_tangents, out_tangents)

    def _normalise(self, keys: Ints, key_values: KeyValues) -> KeyValues:
        self.animation.check_quaternions(key_values.values, f"{self.track.location}, key")
        factors = 1 / np.linalg.norm(key_values.values, axis=1, keepdims=True)
        growth = np.diff(factors, axis=0) / np.diff(keys)[:, None]
        in_tangents, out_tangents = key_values.in_tangents * factors, key_values.out_tangents * factors
        out_tangents[:-1] += key_values.values[:-1] * growth
        in_tangents[1:] += key_values.values[1:] * growth
        return KeyValues(key_values.values * factors, in_tangents, out_tangents)


def read_curve(animation: Animation, track: Track, fps: float) -> TrackCurve:
    """Read a track with frame numbers of its keys; raise FormatError for a key that is on no frame."""
    times = animation.key_times[track.times]
    exact_frames = (times - animation.start_s) * fps
    frames = np.round(exact_frames)
    is_off_frame = np.abs(exact_frames - frames) > ON_FRAME + FLOAT32_STEP * np.abs(times) * fps
    if len(times) > 1 and (is_off_frame.any() or (np.diff(frames) <= 0).any()):
        k = int(np.argmax(is_off_frame)) if is_off_frame.any() else 1 + int(np.argmin(np.diff(frames)))
        raise animation.source.error(
            f"{track.location}: the key at {times[k]:.6g} s has no frame of its own at {fps:g} frames per second; "
            f"fps= states another rate, kp.load samples the file at any rate"
        )
    values = animation.values(track)
    if track.interpolation == "CUBICSPLINE":
        in_tangents, values, out_tangents = np.moveaxis(values.reshape(len(times), 3, -1), 1, 0)
        return TrackCurve(animation, track, frames.astype(np.int32), values, (in_tangents / fps, out_tangents / fps))
    key_frames = frames.astype(np.int32)
    if track.interpolation == "STEP":
        key_frames, values = _add_hold_keys(key_frames, values)
    return TrackCurve(animation, track, key_frames, values, None)


def _add_hold_keys(frames: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return frames and values with an extra key before each next one that has another value."""
    hold_frames = frames[1:] - 1
    needs_hold = (hold_frames > frames[:-1]) & (values[1:] != values[:-1]).any(axis=1)
    all_frames = np.concatenate((frames, hold_frames[needs_hold]))
    order = np.argsort(all_frames)
    return all_frames[order], np.concatenate((values, values[:-1][needs_hold]))[order]
