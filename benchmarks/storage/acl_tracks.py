"""Data of the ACL-like codec: tracks of three numbers, their ranges, and quantised values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import keypose as kp

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DEFAULT, CONSTANT, ANIMATED = 0, 1, 2
RAW_RATE = 24  # the rate above 23 bits: raw 32-bit numbers
RANGE_STEPS = 255  # a segment's range is stored in bytes of the clip's range
CONSTANT_STEPS = 65535  # at rate 0 a segment is one value, stored in 16 bits of the clip's range
RELATIVE_EPSILON = 1e-7  # below the precision of 32-bit numbers


@dataclass(frozen=True)
class Segments:
    """Frames in runs of about equal length."""

    starts: Ints  # (S,)
    lengths: Ints  # (S,)

    @staticmethod
    def build(n_frames: int, target_length: int) -> Segments:
        count = max(1, round(n_frames / target_length))
        edges = np.arange(count + 1) * n_frames // count
        return Segments(edges[:-1], np.diff(edges))

    @property
    def frame_segments(self) -> Ints:
        """Return the segment of each frame (T,)."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def max_per_segment(self, values: Array) -> Array:
        """Return the maximum of each segment: (T, ...) -> (S, ...)."""
        return np.maximum.reduceat(values, self.starts)


@dataclass(frozen=True)
class Ranges:
    """Minimum and extent of a track: of the clip in 32-bit numbers, of each segment in bytes of that range."""

    minimum: Array  # (3,)
    extent: Array  # (3,)
    segment_ranges: NDArray[np.uint8]  # (S, 2, 3) minimum and extent
    constants: NDArray[np.uint16]  # (S, 3) the value of a constant segment

    @staticmethod
    def build(values: Array, segments: Segments) -> Ranges:
        minimum = np.float32(values.min(axis=0)).astype(float)
        minimum = np.where(
            minimum > values.min(axis=0), np.nextafter(np.float32(minimum), np.float32(-np.inf)), minimum
        )
        extent = np.nextafter(np.float32(values.max(axis=0) - minimum), np.float32(np.inf)).astype(float)
        fraction = (values - minimum) / extent
        low = -segments.max_per_segment(-fraction)
        high = segments.max_per_segment(fraction)
        first = np.clip(np.floor(RANGE_STEPS * low), 0, RANGE_STEPS)
        width = np.clip(np.ceil(RANGE_STEPS * high) - first, 0, RANGE_STEPS)
        constants = np.clip(np.rint(CONSTANT_STEPS * (low + high) / 2), 0, CONSTANT_STEPS)
        return Ranges(minimum, extent, np.stack((first, width), axis=1).astype(np.uint8), constants.astype(np.uint16))

    def low(self, s: Ints) -> Array:
        return self.minimum + self.extent * (self.segment_ranges[s, 0] / RANGE_STEPS)

    def width(self, s: Ints) -> Array:
        return self.extent * (self.segment_ranges[s, 1] / RANGE_STEPS)

    def constant(self, s: Ints) -> Array:
        return self.minimum + self.extent * (self.constants[s] / CONSTANT_STEPS)

    def quantise(self, values: Array, s: Ints, rates: Ints) -> Ints:
        """Quantise ``values`` (N, 3) of segments ``s`` at ``rates`` (N,), 1 to 23 bits."""
        steps = ((1 << rates) - 1)[:, None]
        width = self.width(s)
        fraction = np.divide(values - self.low(s), width, out=np.zeros(values.shape), where=width > 0)
        return np.rint(steps * np.clip(fraction, 0, 1)).astype(np.int64)

    def dequantise(self, numbers: Ints, s: Ints, rates: Ints) -> Array:
        """Return the values (N, 3) of quantised numbers."""
        return self.low(s) + self.width(s) * (numbers / ((1 << rates) - 1)[:, None])

    def round_trip(self, values: Array, s: Ints, rates: Ints) -> Array:
        """Return the values after quantising and back; unchanged at ``RAW_RATE``."""
        spread = np.clip(rates, 1, RAW_RATE - 1)
        out = self.dequantise(self.quantise(values, s, spread), s, spread)
        out = np.where((rates == 0)[:, None], self.constant(s), out)
        return np.where((rates == RAW_RATE)[:, None], values, out).astype(np.float32).astype(float)


def quaternion_to_xyz(quaternions: Array) -> Array:
    """Return x, y, z (..., 3) of quaternions (..., 4) after making w positive."""
    return np.where(quaternions[..., :1] < 0, -quaternions[..., 1:], quaternions[..., 1:])


def xyz_to_quaternion(values: Array) -> Array:
    """Return unit quaternions (..., 4) of x, y, z, with w from the unit length."""
    w = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("...c,...c->...", values, values)))
    quaternions = np.concatenate((w[..., None], values), axis=-1)
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def build_tracks(motion: kp.Motion) -> tuple[Array, Array]:
    """Return all tracks (2 J, T, 3), rotations before translations, and their default values (2 J, 3)."""
    joints = motion.n_joints
    rotation_tracks = np.swapaxes(quaternion_to_xyz(motion.rotations), 0, 1)
    values = np.concatenate((rotation_tracks, np.swapaxes(motion.translations, 0, 1)))
    return values.astype(np.float32).astype(float), np.concatenate((np.zeros((joints, 3)), motion.skeleton.offsets))


def classify_tracks(values: Array, defaults: Array, scale: Array) -> Ints:
    """Return the kind (K,) of each track: default, constant or animated; ``scale`` (K,) is the unit of each."""
    constant = (np.ptp(values, axis=1).max(axis=1)) <= RELATIVE_EPSILON * scale
    default = constant & (np.abs(values[:, 0] - defaults).max(axis=1) <= RELATIVE_EPSILON * scale)
    return np.where(default, DEFAULT, np.where(constant, CONSTANT, ANIMATED))
