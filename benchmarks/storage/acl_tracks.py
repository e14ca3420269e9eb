"""What the ACL-like coder stores: tracks of three numbers, their ranges, and their values at a rate of bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import keypose as kp

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DEFAULT, CONSTANT, ANIMATED = 0, 1, 2
RAW_RATE = 24  # the rate above 23 bits: plain 32-bit numbers
RANGE_STEPS = 255  # a segment's range is stored in bytes of the clip's range
HELD_STEPS = 65535  # at rate 0 a segment holds one value, stored in 16 bits of the clip's range
SAME = 1e-7  # nothing moves by less than 32-bit numbers can say


@dataclass(frozen=True)
class Segments:
    """Frames in runs of about equal length."""

    starts: Ints  # (S,)
    lengths: Ints  # (S,)

    @staticmethod
    def of(n_frames: int, about: int) -> Segments:
        count = max(1, round(n_frames / about))
        edges = np.arange(count + 1) * n_frames // count
        return Segments(edges[:-1], np.diff(edges))

    @property
    def of_frame(self) -> Ints:
        """(T,) which segment each frame is in."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def largest(self, values: Array) -> Array:
        """(T, ...) -> (S, ...)."""
        return np.maximum.reduceat(values, self.starts)


@dataclass(frozen=True)
class Ranges:
    """Least values and extents of a track, of the clip in 32-bit numbers and of each segment in bytes of that."""

    least: Array  # (3,)
    extent: Array  # (3,)
    bytes: NDArray[np.uint8]  # (S, 2, 3) least and extent
    held: NDArray[np.uint16]  # (S, 3) the value of a segment that has one

    @staticmethod
    def of(values: Array, segments: Segments) -> Ranges:
        least = np.float32(values.min(axis=0)).astype(float)
        least = np.where(least > values.min(axis=0), np.nextafter(np.float32(least), np.float32(-np.inf)), least)
        extent = np.nextafter(np.float32(values.max(axis=0) - least), np.float32(np.inf)).astype(float)
        part = (values - least) / extent
        low = -segments.largest(-part)
        high = segments.largest(part)
        first = np.clip(np.floor(RANGE_STEPS * low), 0, RANGE_STEPS)
        wide = np.clip(np.ceil(RANGE_STEPS * high) - first, 0, RANGE_STEPS)
        held = np.clip(np.rint(HELD_STEPS * (low + high) / 2), 0, HELD_STEPS)
        return Ranges(least, extent, np.stack((first, wide), axis=1).astype(np.uint8), held.astype(np.uint16))

    def low(self, s: Ints) -> Array:
        return self.least + self.extent * (self.bytes[s, 0] / RANGE_STEPS)

    def width(self, s: Ints) -> Array:
        return self.extent * (self.bytes[s, 1] / RANGE_STEPS)

    def constant(self, s: Ints) -> Array:
        return self.least + self.extent * (self.held[s] / HELD_STEPS)

    def numbers(self, values: Array, s: Ints, rates: Ints) -> Ints:
        """What is stored of ``values`` (N, 3) in segments ``s`` at ``rates`` (N,), 1 to 23 bits."""
        steps = ((1 << rates) - 1)[:, None]
        width = self.width(s)
        part = np.divide(values - self.low(s), width, out=np.zeros(values.shape), where=width > 0)
        return np.rint(steps * np.clip(part, 0, 1)).astype(np.int64)

    def values(self, numbers: Ints, s: Ints, rates: Ints) -> Array:
        """And back, (N, 3)."""
        return self.low(s) + self.width(s) * (numbers / ((1 << rates) - 1)[:, None])

    def coded(self, values: Array, s: Ints, rates: Ints) -> Array:
        """Values as they come out again; at ``RAW_RATE`` as they are."""
        spread = np.clip(rates, 1, RAW_RATE - 1)
        out = self.values(self.numbers(values, s, spread), s, spread)
        out = np.where((rates == 0)[:, None], self.constant(s), out)
        return np.where((rates == RAW_RATE)[:, None], values, out).astype(np.float32).astype(float)


def rotation_values(turns: Array) -> Array:
    """x, y, z (..., 3) of quaternions (..., 4) whose w is made positive."""
    return np.where(turns[..., :1] < 0, -turns[..., 1:], turns[..., 1:])


def rotations(values: Array) -> Array:
    """Unit quaternions (..., 4) of x, y, z; w is what is left of 1."""
    w = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("...c,...c->...", values, values)))
    turns = np.concatenate((w[..., None], values), axis=-1)
    return turns / np.linalg.norm(turns, axis=-1, keepdims=True)


def tracks_of(motion: kp.Motion) -> tuple[Array, Array]:
    """All tracks (2 J, T, 3), rotations before translations, and their default values (2 J, 3)."""
    joints = motion.n_joints
    turns = np.swapaxes(rotation_values(motion.rotations), 0, 1)
    values = np.concatenate((turns, np.swapaxes(motion.translations, 0, 1)))
    return values.astype(np.float32).astype(float), np.concatenate((np.zeros((joints, 3)), motion.skeleton.offsets))


def kinds_of(values: Array, defaults: Array, scale: Array) -> Ints:
    """(K,) which tracks say nothing, one value, or one for each frame; ``scale`` (K,) is what counts as 1."""
    constant = (np.ptp(values, axis=1).max(axis=1)) <= SAME * scale
    default = constant & (np.abs(values[:, 0] - defaults).max(axis=1) <= SAME * scale)
    return np.where(default, DEFAULT, np.where(constant, CONSTANT, ANIMATED))
