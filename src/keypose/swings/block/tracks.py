"""Tracks and paths of packed swings."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.model import Curves
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate, to_matrix
from keypose.swings.block.byte_io import Reader, Writer
from keypose.swings.swing import KeyedSpan, Path
from keypose.swings.track import Track

SWINGS, RESTS, RESTS_ARE_MEAN, KEYS = 1, 2, 4, 8  # flags of a track
EVERY_FRAME, CUBIC = 4, 8  # flags beside the number of angles of keys
KEY_BYTES = 64  # memory of one key when it is read
_NO_SPANS: tuple[Ints, Ints] = (np.zeros(0, np.int32), np.zeros(0, np.int32))
Floats32 = NDArray[np.float32]

_ENCODED_SPANS: WeakKeyDictionary[KeyedSpan, tuple[int, Floats32]] = WeakKeyDictionary()

ACCURACY_RAD = 1e-6  # of restored rotations
FREE = 3  # the number of angles of a rotation without fixed axes
MAX_SAMPLES = 512  # number of rotations from which axes are fitted; all rotations are checked


def write_track(out: Writer, track: Track, *, left_out: bool) -> None:
    """Write a track without its mean rotation, which is in a table; keys of a left-out joint are in a section of their
    own."""
    rests_are_mean = bool((np.float32(log(track.rest_rotations)) == np.float32(log(track.mean_rotation))).all())
    flags = SWINGS * bool(track.n_swings) | RESTS * bool(len(track.rest_starts)) | KEYS * bool(track.keyed)
    out.write_byte(flags | RESTS_ARE_MEAN * (rests_are_mean and bool(flags & RESTS)))
    if flags & SWINGS:
        with out.section("swings"):
            _write_spans(out, track.starts, track.ends)
            out.write_floats(np.concatenate((log(track.start_rotations), track.rotation_vectors), axis=1))
    if flags & RESTS:
        with out.section("rests"):
            _write_spans(out, track.rest_starts, track.rest_ends)
            if not rests_are_mean:
                out.write_floats(log(track.rest_rotations))
    if flags & KEYS:
        with out.section("left_out" if left_out else "keys"):
            out.write_varint(len(track.keyed))
            for span in track.keyed:
                angles, numbers = _encode_span(span)
                _write_keys(out, span.frames, angles)
                out.write_floats(numbers)


def _encode_span(span: KeyedSpan) -> tuple[int, Floats32]:
    """Return ``encode_rotations`` of a span, cached: those of left-out joints are the same for every threshold."""
    if span not in _ENCODED_SPANS:
        _ENCODED_SPANS[span] = encode_rotations(span.rotations)
    return _ENCODED_SPANS[span]


def read_track(block: Reader, joint: str, mean_rotation: Floats, n_frames: int) -> Track:
    """Read a track."""
    flags = block.read_byte(f"what {joint} does", SWINGS | RESTS | RESTS_ARE_MEAN | KEYS)
    starts, ends = _read_spans(block, joint, n_frames, 26) if flags & SWINGS else _NO_SPANS
    values = block.read_floats(len(starts), 6, f"swings of {joint}")
    min_bytes = 2 if flags & RESTS_ARE_MEAN else 14
    rest_starts, rest_ends = _read_spans(block, joint, n_frames, min_bytes) if flags & RESTS else _NO_SPANS
    if flags & RESTS_ARE_MEAN:
        block.claim_memory(len(rest_starts), KEY_BYTES, "rests")
        rests = np.tile(mean_rotation, (len(rest_starts), 1))
    else:
        rests = block.read_rotations(len(rest_starts), f"rests of {joint}")
    spans = block.read_count(f"keyed spans of {joint}", 15) if flags & KEYS else 0
    return Track(
        joint,
        mean_rotation,
        starts,
        ends,
        block.decode_rotations(values[:, :3], f"swings of {joint}"),
        values[:, 3:],
        rest_starts,
        rest_ends,
        rests,
        tuple(_read_keyed_span(block, joint, n_frames) for _ in range(spans)),
    )


def _write_spans(out: Writer, starts: Ints, ends: Ints) -> None:
    """Write the number of spans, and the differences of successive starts and ends from frame 0."""
    out.write_varint(len(starts))
    out.write_varints(np.diff(np.stack((starts, ends), axis=1).ravel(), prepend=0))


def _read_spans(block: Reader, joint: str, n_frames: int, min_bytes: int) -> tuple[Ints, Ints]:
    at = block.at
    steps = block.read_varints(2 * block.read_count(f"spans of {joint}", min_bytes), f"spans of {joint}")
    edges = np.cumsum(steps)
    if edges[-1:].sum() >= n_frames:
        raise block.error(
            f"{joint}: something outside the clip", at, code="inconsistent", expected=f"frames 0 to {n_frames - 1}"
        )
    frames = edges.astype(np.int32)
    return frames[::2], frames[1::2]


def _read_keyed_span(block: Reader, joint: str, n_frames: int) -> KeyedSpan:
    frames, form = _read_keys(block, joint, n_frames, EVERY_FRAME | FREE)
    label, angles = f"keys of {joint}", form & 3
    if angles == FREE:
        return KeyedSpan(frames, block.read_rotations(len(frames), label))
    numbers = block.read_floats(1, count_numbers(angles, len(frames)), label)[0]
    block.decode_rotations(numbers[None, :3], label)
    return KeyedSpan(frames, decode_rotations(angles, numbers, len(frames)))


def write_path(out: Writer, path: Path) -> None:
    """Write the keys of a path, without the in-tangent of the first and the out-tangent of the last key."""
    curves = path.curves
    _write_keys(out, path.keys, CUBIC * curves.is_cubic)
    out.write_floats(curves.values)
    if curves.in_tangents is not None and curves.out_tangents is not None:
        out.write_floats(curves.out_tangents[:-1])
        out.write_floats(curves.in_tangents[1:])


def read_path(block: Reader, joint: str, n_frames: int) -> Path:
    """Read a path."""
    frames, form = _read_keys(block, joint, n_frames, EVERY_FRAME | CUBIC)
    keys = len(frames)
    values = block.read_floats(keys, 3, f"path of {joint}")[:, None]
    if not form & CUBIC:
        return Path(joint, frames, Curves(values))
    out_tangents, in_tangents = np.zeros((2, keys, 1, 3))
    out_tangents[:-1, 0] = block.read_floats(keys - 1, 3, f"tangents of {joint}")
    in_tangents[1:, 0] = block.read_floats(keys - 1, 3, f"tangents of {joint}")
    return Path(joint, frames, Curves(values, in_tangents, out_tangents))


def _write_keys(out: Writer, frames: Ints, form: int) -> None:
    """Write the frames of keys; for a key on every frame only the first one and the count."""
    every = len(frames) > 1 and int(frames[-1] - frames[0]) == len(frames) - 1
    out.write_byte(form | EVERY_FRAME * every)
    out.write_varint(len(frames))
    out.write_varints(frames[:1] if every else np.diff(frames, prepend=0))


def _read_keys(block: Reader, joint: str, n_frames: int, allowed_bits: int) -> tuple[Ints, int]:
    at, form = block.at, block.read_byte(f"the form of keys of {joint}")
    if form & ~allowed_bits:
        raise block.error(
            f"the form of keys of {joint} is {form}", at, code="inconsistent", expected=f"bits of {allowed_bits}"
        )
    keys = block.read_varint(f"the number of keys of {joint}", n_frames)
    if not keys:
        raise block.error(f"no keys of {joint}", at, code="missing_data", expected="at least one")
    if not form & EVERY_FRAME and keys > block.n_left:
        raise block.error(f"{keys} keys of {joint}, but {block.n_left} bytes are left", at, code="truncated")
    block.claim_memory(keys, KEY_BYTES, f"keys of {joint}")
    if form & EVERY_FRAME:
        frames = block.read_varints(1, f"keys of {joint}") + np.arange(keys)
    else:
        frames = np.cumsum(block.read_varints(keys, f"keys of {joint}"))
    if frames[-1] >= n_frames:
        raise block.error(
            f"{joint}: a key outside the clip", at, code="inconsistent", expected=f"frames 0 to {n_frames - 1}"
        )
    return frames.astype(np.int32), form


def count_numbers(angles: int, keys: int) -> int:
    """Return the number of stored numbers: a fixed rotation, axes, and angles for each key."""
    return 3 * keys if angles == FREE else 3 + 3 * angles + angles * keys


def encode_rotations(rotations: Floats) -> tuple[int, Floats32]:
    """Return the number of angles (0 to 3) of rotations (K, 4), and as few numbers as possible that restore them."""
    keys = len(rotations)
    for angles, find in enumerate((_fit_constant, _fit_one_axis, fit_two_axes)):
        if count_numbers(angles, keys) < count_numbers(FREE, keys) or not angles:
            numbers: Floats32 = find(rotations).astype(np.float32)
            if (
                angle_between(decode_rotations(angles, numbers.astype(np.float64), keys), rotations).max()
                <= ACCURACY_RAD
            ):
                return angles, numbers
    return FREE, log(rotations).astype(np.float32).ravel()


def decode_rotations(angles: int, numbers: Floats, keys: int) -> Floats:
    """Return the rotations (K, 4) of coded numbers."""
    if angles == FREE:
        return exp(numbers.reshape(keys, 3))
    base, axes = exp(numbers[:3]), numbers[3 : 3 + 3 * angles].reshape(angles, 3)
    if angles == 0:
        return np.tile(base, (keys, 1))
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0, lengths, 1.0)
    key_angles = numbers[3 + 3 * angles :].reshape(keys, angles)
    after = exp(key_angles[:, -1:] * axes[-1])
    if angles == 1:
        return normalise(multiply(base, after))
    return normalise(multiply(exp(key_angles[:, :1] * axes[0]), multiply(base, after)))


def _fit_constant(rotations: Floats) -> Floats:
    return log(rotations[0])


def _fit_one_axis(rotations: Floats) -> Floats:
    """Return base, axis, angles: ``R = B exp(a v)``."""
    rotation_vectors = log(multiply(conjugate(rotations[:1]), rotations))
    axis = np.linalg.svd(sample_rows(rotation_vectors), full_matrices=False)[2][0]
    return np.concatenate((log(rotations[0]), axis, rotation_vectors @ axis))


def fit_two_axes(rotations: Floats) -> Floats:
    """Return base, two axes, pairs of angles: ``R = exp(a u) B exp(b v)``."""
    matrices = to_matrix(sample_rows(rotations)).reshape(-1, 9)
    null = np.linalg.svd(np.column_stack((matrices, np.ones(len(matrices)))), full_matrices=False)[2][
        -1
    ]  # 10 rows or more
    u, _, v = np.linalg.svd(null[:9].reshape(3, 3))
    first, second = u[:, 0], v[0]
    base = rotations[0]
    rotated = rotate(rotations, np.broadcast_to(second, (len(rotations), 3)))
    back = rotate(conjugate(rotations), np.broadcast_to(first, (len(rotations), 3)))
    pairs = np.stack((angles_about(first, rotated[:1], rotated), angles_about(second, back, back[:1])), axis=1)
    return np.concatenate((log(base), first, second, pairs.ravel()))


def angles_about(axis: Floats, before: Floats, after: Floats) -> Floats:
    """Return angles (K,) about ``axis`` from ``before`` to ``after``, (K, 3) or one for all."""
    ahead, side = before - (before @ axis)[:, None] * axis, np.cross(axis, before)
    return np.asarray(np.arctan2(np.sum(after * side, axis=1), np.sum(after * ahead, axis=1)))


def sample_rows(rows: Floats) -> Floats:
    """Return up to ``MAX_SAMPLES`` evenly spaced rows."""
    return np.asarray(rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_SAMPLES)).astype(int)])
