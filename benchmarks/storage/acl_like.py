"""An honest rival: what the Animation Compression Library does, written anew from its author's articles.

Nicholas Frechette's articles and the documents of the library (github.com/nfrechette/acl, version 2) describe it: every
frame is kept; a track that never leaves its default is a flag, one that never changes is one value; the others are
scaled to their range over the clip, then over segments of 16 frames whose ranges take a byte per number; w of a
quaternion is left out; each track has in each segment its own number of bits, 0 (the segment holds one value) to 23, or
plain 32-bit numbers; bits are chosen by the error of points 3 cm off the joints, with all joints above as decoded.

Where this is kinder to it than the library: the error is a bound over all points of the promise, so plain numbers have
a w, which near half a turn cannot be had from the others; the bits of all tracks of a segment are chosen together, and
a rate takes 5 bits where the library takes 8.

The bytes: for each track 2 bits of kind, rotations before translations; constant values and clip ranges in 32-bit
numbers; for each segment where it begins in 4 bytes, the rates, the ranges, and the values frame by frame, filled up to
whole bytes. Names, bones and the rest are counted by the caller, as large as in a ``.kps`` file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.storage.acl_rates import Search
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
    kinds_of,
    rotations,
    tracks_of,
)
from benchmarks.storage.bits import Bits, packed

import keypose as kp

SEGMENT_FRAMES = 16
KIND_BITS, RATE_BITS = 2, 5
OFFSET_BYTES, RANGE_BYTES = 4, 6


def encode(motion: kp.Motion, tolerance_mm: float) -> bytes:
    """All frames within the tolerance."""
    values, defaults = tracks_of(motion)
    kinds = kinds_of(values, defaults, np.repeat((1.0, motion.height), motion.n_joints))
    values[kinds == DEFAULT] = defaults[kinds == DEFAULT, None]
    values[kinds == CONSTANT] = values[kinds == CONSTANT, :1]
    segments = Segments.of(motion.n_frames, SEGMENT_FRAMES)
    search = Search(motion, values, kinds, segments, tolerance_mm)
    rates = search.rates()
    head = packed(kinds, np.full(len(kinds), KIND_BITS)) + np.float32(values[kinds == CONSTANT, 0]).tobytes()
    head += np.float32([(ranges.least, ranges.extent) for ranges in search.ranges]).tobytes()
    blocks = [_segment(search, values, rates[:, s], s) for s in range(len(segments.starts))]
    table = np.cumsum([len(block) for block in blocks], dtype="<u4").tobytes()
    return head + table + b"".join(blocks)


def _segment(search: Search, values: Array, rates: Ints, s: int) -> bytes:
    """Rates, ranges or plain numbers, then the values of all other tracks frame by frame."""
    start, length = search.segments.starts[s], search.segments.lengths[s]
    frames = slice(start, start + length)
    stored, columns = b"", []
    for i, k in enumerate(search.tracks):
        numbers, of = np.zeros((length, 3), np.int64), search.ranges[i]
        if rates[i] == RAW_RATE:
            stored += np.float32(search.raw[k][frames]).tobytes()
        elif rates[i] == 0:
            stored += of.held[s].astype("<u2").tobytes()
        else:
            stored += of.bytes[s].tobytes()
            numbers = of.numbers(values[k, frames], np.full(length, s), np.full(length, rates[i]))
        columns.append(numbers)
    numbers = np.array(columns, np.int64).reshape(-1, length, 3).swapaxes(0, 1)
    return packed(rates, np.full(len(rates), RATE_BITS)) + stored + packed(numbers.ravel(), _widths(rates, length))


def _widths(rates: Ints, length: int) -> Ints:
    """Bits of each number, frame by frame, track by track; plain numbers are elsewhere."""
    bits = np.where(rates == RAW_RATE, 0, rates)
    return np.broadcast_to(bits[:, None], (length, len(rates), 3)).ravel()


def decode(data: bytes, like: kp.Motion) -> kp.Motion:
    """The frames; name, bones, rate and number of frames are those of ``like``, whose frames are not looked at."""
    joints, segments = like.n_joints, Segments.of(like.n_frames, SEGMENT_FRAMES)
    values = np.zeros((2 * joints, like.n_frames, 3))
    values[joints:] = like.skeleton.offsets[:, None]
    bits = Bits(data)
    kinds = bits.numbers(np.full(2 * joints, KIND_BITS))
    constant, animated = np.flatnonzero(kinds == CONSTANT), np.flatnonzero(kinds == ANIMATED)
    values[constant] = bits.floats(3 * len(constant)).reshape(-1, 1, 3)
    clip = bits.floats(6 * len(animated)).reshape(-1, 2, 3)
    bits.skip(OFFSET_BYTES * len(segments.starts))
    plain: list[tuple[int, slice, Array]] = []
    for start, length in zip(segments.starts.tolist(), segments.lengths.tolist(), strict=True):
        frames = slice(start, start + length)
        values[animated, frames], raw = _segment_values(bits, clip, animated < joints, length)
        plain += [(int(animated[i]), frames, numbers) for i, numbers in raw.items()]
    turns = rotations(values[:joints])
    for k, frames, numbers in plain:
        (turns if k < joints else values[joints:])[k % joints, frames] = numbers
    return replace(like, translations=values[joints:].swapaxes(0, 1), rotations=turns.swapaxes(0, 1))


def _segment_values(bits: Bits, clip: Array, is_turn: Bools, length: int) -> tuple[Array, dict[int, Array]]:
    """(tracks, frames, 3), and the plain numbers of tracks that have such."""
    rates = bits.numbers(np.full(len(clip), RATE_BITS))
    raw, stored = {}, {}
    for i, rate in enumerate(rates.tolist()):
        if rate == RAW_RATE:
            width = 4 if is_turn[i] else 3
            raw[i] = bits.floats(width * length).reshape(length, width)
        else:
            stored[i] = bits.take(RANGE_BYTES)
    numbers = bits.numbers(_widths(rates, length)).reshape(length, len(clip), 3).swapaxes(0, 1)
    out = np.zeros(numbers.shape, np.float32)
    at = np.zeros(length, np.int64)
    for i, range_ in stored.items():
        of = Ranges(
            *clip[i], np.frombuffer(range_, np.uint8).reshape(1, 2, 3), np.frombuffer(range_, "<u2").reshape(1, 3)
        )
        out[i] = of.values(numbers[i], at, np.full(length, rates[i])) if rates[i] else of.constant(at)
    return out.astype(float), raw
