"""A rival codec: the algorithm of the Animation Compression Library, reimplemented from its author's articles.

Nicholas Frechette's articles and the documents of the library (github.com/nfrechette/acl, version 2) describe it: every
frame is stored; a track at its default is a flag, a constant track is one value; the others are scaled to their range
over the clip, then over segments of 16 frames whose ranges take a byte per number; w of a quaternion is omitted; each
track has in each segment its own number of bits, 0 (the segment holds one value) to 23, or plain 32-bit numbers; bits
are chosen by the error of points 3 cm off the joints, with all joints above as decoded.

Differences in its favour: the error is bounded over all measured points, so raw numbers include w, which cannot be
recovered near a rotation of 180 degrees; the bits of all tracks of a segment are chosen together, and a rate takes 5
bits where the library takes 8.

The bytes: for each track 2 bits of kind, rotations before translations; constant values and clip ranges in 32-bit
numbers; for each segment its offset in 4 bytes, the rates, the ranges, and the values frame by frame, padded to whole
bytes. Names, bones and other data are counted by the caller, with the same size as in a ``.kps`` file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.storage.acl_rates import RateSearch
from benchmarks.storage.acl_tracks import (
    ANIMATED,
    CONSTANT,
    DEFAULT,
    RAW_RATE,
    Array,
    Bools,
    Ints,
    Ranges,
    Segments,
    build_tracks,
    classify_tracks,
    xyz_to_quaternion,
)
from benchmarks.storage.bits import BitReader, pack_bits

import keypose as kp

SEGMENT_FRAMES = 16
KIND_BITS, RATE_BITS = 2, 5
OFFSET_BYTES, RANGE_BYTES = 4, 6


def encode(motion: kp.Motion, tolerance_mm: float) -> bytes:
    """Encode all frames within the tolerance."""
    values, defaults = build_tracks(motion)
    kinds = classify_tracks(values, defaults, np.repeat((1.0, motion.height), motion.n_joints))
    values[kinds == DEFAULT] = defaults[kinds == DEFAULT, None]
    values[kinds == CONSTANT] = values[kinds == CONSTANT, :1]
    segments = Segments.build(motion.n_frames, SEGMENT_FRAMES)
    search = RateSearch(motion, values, kinds, segments, tolerance_mm)
    rates = search.rates()
    header = pack_bits(kinds, np.full(len(kinds), KIND_BITS)) + np.float32(values[kinds == CONSTANT, 0]).tobytes()
    header += np.float32([(ranges.minimum, ranges.extent) for ranges in search.ranges]).tobytes()
    blocks = [_encode_segment(search, values, rates[:, s], s) for s in range(len(segments.starts))]
    table = np.cumsum([len(block) for block in blocks], dtype="<u4").tobytes()
    return header + table + b"".join(blocks)


def _encode_segment(search: RateSearch, values: Array, rates: Ints, s: int) -> bytes:
    """Return the bytes of a segment: rates, ranges or raw numbers, then quantised values frame by frame."""
    start, length = search.segments.starts[s], search.segments.lengths[s]
    frames = slice(start, start + length)
    constant_bytes, columns = b"", []
    for i, k in enumerate(search.tracks):
        numbers, track_ranges = np.zeros((length, 3), np.int64), search.ranges[i]
        if rates[i] == RAW_RATE:
            constant_bytes += np.float32(search.raw[k][frames]).tobytes()
        elif rates[i] == 0:
            constant_bytes += track_ranges.constants[s].astype("<u2").tobytes()
        else:
            constant_bytes += track_ranges.segment_ranges[s].tobytes()
            numbers = track_ranges.quantise(values[k, frames], np.full(length, s), np.full(length, rates[i]))
        columns.append(numbers)
    numbers = np.array(columns, np.int64).reshape(-1, length, 3).swapaxes(0, 1)
    return (
        pack_bits(rates, np.full(len(rates), RATE_BITS))
        + constant_bytes
        + pack_bits(numbers.ravel(), _bit_widths(rates, length))
    )


def _bit_widths(rates: Ints, length: int) -> Ints:
    """Return the bits of each number, by frame and track; 0 for tracks stored as raw numbers."""
    bits = np.where(rates == RAW_RATE, 0, rates)
    return np.broadcast_to(bits[:, None], (length, len(rates), 3)).ravel()


def decode(data: bytes, like: kp.Motion) -> kp.Motion:
    """Decode the frames; everything except rotations and translations is copied from ``like``."""
    joints, segments = like.n_joints, Segments.build(like.n_frames, SEGMENT_FRAMES)
    values = np.zeros((2 * joints, like.n_frames, 3))
    values[joints:] = like.skeleton.offsets[:, None]
    bits = BitReader(data)
    kinds = bits.read_ints(np.full(2 * joints, KIND_BITS))
    constant, animated = np.flatnonzero(kinds == CONSTANT), np.flatnonzero(kinds == ANIMATED)
    values[constant] = bits.read_floats(3 * len(constant)).reshape(-1, 1, 3)
    clip = bits.read_floats(6 * len(animated)).reshape(-1, 2, 3)
    bits.skip_bytes(OFFSET_BYTES * len(segments.starts))
    plain: list[tuple[int, slice, Array]] = []
    for start, length in zip(segments.starts.tolist(), segments.lengths.tolist(), strict=True):
        frames = slice(start, start + length)
        values[animated, frames], raw = _decode_segment(bits, clip, animated < joints, length)
        plain += [(int(animated[i]), frames, numbers) for i, numbers in raw.items()]
    quaternions = xyz_to_quaternion(values[:joints])
    for k, frames, numbers in plain:
        (quaternions if k < joints else values[joints:])[k % joints, frames] = numbers
    return replace(like, translations=values[joints:].swapaxes(0, 1), rotations=quaternions.swapaxes(0, 1))


def _decode_segment(bits: BitReader, clip: Array, is_rotation: Bools, length: int) -> tuple[Array, dict[int, Array]]:
    """Return values (tracks, frames, 3), and the raw numbers by track."""
    rates = bits.read_ints(np.full(len(clip), RATE_BITS))
    raw, range_bytes = {}, {}
    for i, rate in enumerate(rates.tolist()):
        if rate == RAW_RATE:
            width = 4 if is_rotation[i] else 3
            raw[i] = bits.read_floats(width * length).reshape(length, width)
        else:
            range_bytes[i] = bits.read_bytes(RANGE_BYTES)
    numbers = bits.read_ints(_bit_widths(rates, length)).reshape(length, len(clip), 3).swapaxes(0, 1)
    out = np.zeros(numbers.shape, np.float32)
    at = np.zeros(length, np.int64)
    for i, data in range_bytes.items():
        track_ranges = Ranges(
            *clip[i], np.frombuffer(data, np.uint8).reshape(1, 2, 3), np.frombuffer(data, "<u2").reshape(1, 3)
        )
        out[i] = (
            track_ranges.dequantise(numbers[i], at, np.full(length, rates[i]))
            if rates[i]
            else track_ranges.constant(at)
        )
    return out.astype(float), raw
