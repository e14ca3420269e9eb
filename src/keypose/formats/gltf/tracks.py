"""The keys of one property of one node, put on the keys that a keyed motion has in common.

A cubic or straight span of a translation can be cut anywhere and stays what it is. The cubic of a quaternion can be cut
too, but its inner points have not quite length 1, as keys here have. So each piece is stretched along its way, from
what makes its first point a unit to what makes its last one so; that moves the turns by almost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.gltf.animation import Animation, Track
from keypose.formats.gltf.sampling import FLOAT32_STEP, ON_FRAME
from keypose.model.curves import Curves, Place
from keypose.rotations import normalise, sign_continuous, slerp


@dataclass(frozen=True)
class Pieces:
    """Values at common keys with the slopes on both sides of each, per frame."""

    values: Floats  # (K, 3), or (K, 4) unit wxyz
    arriving: Floats
    leaving: Floats


@dataclass(frozen=True)
class TrackCurve:
    """The keys of a track as frames; what steps, holds until the frame before its next key."""

    animation: Animation
    track: Track
    frames: Ints  # (N,) increasing
    values: Floats  # (N, 3), or (N, 4) wxyz
    slopes: tuple[Floats, Floats] | None  # arriving, leaving per frame; None: straight

    @property
    def turns(self) -> bool:
        """Whether it is a rotation."""
        return self.track.path == "rotation"

    def hull(self) -> Floats:
        """Points (N or 3 N, 3 or 4) between which the curve stays: its keys and handles."""
        if self.slopes is None or len(self.frames) == 1:
            return self.values
        third = np.diff(self.frames).max() / 3
        arriving, leaving = self.slopes
        return np.concatenate((self.values, self.values - third * arriving, self.values + third * leaving))

    def is_exact_on(self, keys: Ints, *, cubic: bool) -> bool:
        """Whether nothing at all is lost on these keys."""
        if not self.turns or not np.ptp(self.hull(), axis=0).any():
            return True
        between = keys[(keys >= self.frames[0]) & (keys <= self.frames[-1])]
        if self.slopes is None:
            return not cubic or bool((np.diff(between) == 1).all())
        return bool(np.isin(between, self.frames).all())

    def on(self, keys: Ints, *, cubic: bool) -> Pieces:
        """The same curve with all of ``keys`` (K,), among which are its own."""
        if self.slopes is None:
            return self._straight_on(keys, cubic=cubic)
        place = Place.of(self.frames, keys.astype(np.float64))
        arriving, leaving = self.slopes
        values = Curves(self.values[:, None], arriving[:, None], leaving[:, None]).at(place)[:, 0]
        s, gap = place.part[:, None], place.gap[:, None]
        climb = self.values[place.after] - self.values[place.before]
        slope = (
            6 * s * (1 - s) * climb / gap
            + (1 - 4 * s + 3 * s * s) * leaving[place.before]
            - (2 * s - 3 * s * s) * arriving[place.after]
        )
        inside = ((keys > self.frames[0]) & (keys < self.frames[-1]))[:, None]
        own = np.isin(keys, self.frames)[:, None]
        came, went = (np.where(own, side[place.before], np.where(inside, slope, 0.0)) for side in (arriving, leaving))
        came[1:][keys[1:] <= self.frames[0]] = 0.0  # what holds before and after its keys
        went[:-1][keys[:-1] >= self.frames[-1]] = 0.0
        return self._unit(keys, Pieces(values, came, went)) if self.turns else Pieces(values, came, went)

    def _straight_on(self, keys: Ints, *, cubic: bool) -> Pieces:
        place = Place.of(self.frames, keys.astype(np.float64))
        first, last, part = self.values[place.before], self.values[place.after], place.part[:, None]
        values = normalise(slerp(first, last, part)) if self.turns else first + part * (last - first)
        values[place.part == 0] = first[place.part == 0]
        if self.turns:
            values = sign_continuous(values)
        arriving, leaving = np.zeros(values.shape), np.zeros(values.shape)
        if cubic and len(keys) > 1:
            gaps = np.diff(keys)[:, None]
            a, b = values[:-1], values[1:]
            if self.turns:  # the great circle, at constant speed
                dot = np.clip(np.sum(a * b, axis=1, keepdims=True), -1.0, 1.0)
                speed = 1 / np.maximum(np.sinc(np.arccos(dot) / np.pi), 1e-9) / gaps
                leaving[:-1], arriving[1:] = speed * (b - dot * a), speed * (dot * b - a)
            else:
                leaving[:-1] = arriving[1:] = (b - a) / gaps
        return Pieces(values, arriving, leaving)

    def _unit(self, keys: Ints, pieces: Pieces) -> Pieces:
        self.animation.check_turns(pieces.values, f"{self.track.where}, key")
        stretch = 1 / np.linalg.norm(pieces.values, axis=1, keepdims=True)
        growth = np.diff(stretch, axis=0) / np.diff(keys)[:, None]
        arriving, leaving = pieces.arriving * stretch, pieces.leaving * stretch
        leaving[:-1] += pieces.values[:-1] * growth
        arriving[1:] += pieces.values[1:] * growth
        return Pieces(pieces.values * stretch, arriving, leaving)


def read_curve(animation: Animation, track: Track, fps: float) -> TrackCurve:
    """A track with its keys as frames; a key beside all frames is an error."""
    times = animation.key_times[track.times]
    exact = (times - animation.start_s) * fps
    frames = np.round(exact)
    off = np.abs(exact - frames) > ON_FRAME + FLOAT32_STEP * np.abs(times) * fps
    if len(times) > 1 and (off.any() or (np.diff(frames) <= 0).any()):
        k = int(np.argmax(off)) if off.any() else 1 + int(np.argmin(np.diff(frames)))
        raise animation.source.error(
            f"{track.where}: the key at {times[k]:.6g} s has no frame of its own at {fps:g} frames per second; "
            f"fps= states another rate, kp.load samples the file at any rate"
        )
    values = animation.values(track)
    if track.interpolation == "CUBICSPLINE":
        arriving, values, leaving = np.moveaxis(values.reshape(len(times), 3, -1), 1, 0)
        return TrackCurve(animation, track, frames.astype(np.int32), values, (arriving / fps, leaving / fps))
    whole = frames.astype(np.int32)
    if track.interpolation == "STEP":
        whole, values = _held(whole, values)
    return TrackCurve(animation, track, whole, values, None)


def _held(frames: Ints, values: Floats) -> tuple[Ints, Floats]:
    """A further key before each next one that has another value."""
    before = frames[1:] - 1
    wanted = (before > frames[:-1]) & (values[1:] != values[:-1]).any(axis=1)
    all_frames = np.concatenate((frames, before[wanted]))
    order = np.argsort(all_frames)
    return all_frames[order], np.concatenate((values, values[:-1][wanted]))[order]
