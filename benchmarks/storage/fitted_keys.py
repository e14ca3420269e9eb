"""Fitted keys of ``kp.unbake``, stored in as few bits as the bound allows.

Keys are chosen by ``kp.unbake(tolerance_mm=...)``, with a tolerance for joints only. While a point around a joint
exceeds the tolerance, the frame with its largest error becomes a key, too. Curves are cubic Euler angles in the best
order of each joint, which have fewer numbers than quaternions; flips of the capture, mostly of thumbs and finger tips,
which ``kp.unbake`` removes on purpose, are stored frame by frame.

The bits of an animated number depend on the number of steps in its range; rotations, translations and the two kinds of
tangents have their own steps, all proportional to one scale, the largest within the tolerance.

The bytes, which are counted here rather than written: numbers of keys and flips, widest gap and steps; for each column
2 bits for default (no tangent, no rotation, the bone's offset), constant (32 bits) or animated (its minimum in 32 bits,
its width in 8); gaps between keys; all columns key by key; flips with joint, first frame and length in 8 bytes and
rotations in 4 x 16 bits. Names, bones and other data are counted by the caller, with the same size as in a ``.kps``
file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from benchmarks.storage.figure import Array, Figure

import keypose as kp
from keypose.arrays import runs
from keypose.curves.capture_faults import flag_flips

FIT_SHARE = 0.85  # of the tolerance is for the curves, the rest for rounding
MAX_GAP_S = 0.3  # between keys within 1 mm, proportional to the root of the tolerance; larger gaps do not help
HALVINGS = 7
OCTAVES = (-14.0, 2.0)
HEAD_BYTES, FLIP_BYTES, FLIP_ROTATION_BYTES = 24, 8, 8
KIND_BITS, MINIMUM_BITS, WIDTH_BITS, ORDER_BITS = 2, 32, 8, 3
METRE_MM = 1000.0
FLIP_STEPS = 32767


@dataclass(frozen=True)
class StoredSize:
    """Size and error of the stored keys."""

    n_bytes: int
    n_keys: int
    error_mm: float


def store(motion: kp.Motion, tolerance_mm: float) -> StoredSize:
    """Return the smaller of two encodings within the tolerance: selected keys, or every third frame.

    With the latter, a cubic passes exactly through the two frames between two keys, so that the whole tolerance is for
    rounding.
    """
    figure = Figure.build(motion)
    every_third = np.union1d(np.arange(0, motion.n_frames, 3), motion.n_frames - 1)
    candidates = (
        _fit_keys(motion, figure, tolerance_mm),
        kp.unbake(motion, every_third, rotation="euler", residual=False),
    )
    sizes = [_find_coarsest(motion, figure, keyed, tolerance_mm) for keyed in candidates]
    return min((some for some in sizes if some is not None), key=lambda some: some.n_bytes)


def _find_coarsest(motion: kp.Motion, figure: Figure, keyed: kp.KeyedMotion, tolerance_mm: float) -> StoredSize | None:
    """Return the size at the coarsest steps within the tolerance; None if there are none."""
    best, low, high = None, *OCTAVES
    for _ in range(HALVINGS):
        octave = (low + high) / 2
        size = _round_to_grid(motion, figure, keyed, tolerance_mm * 2.0**octave)
        if size.error_mm <= tolerance_mm:
            best, low = size, octave
        else:
            high = octave
    return best


def _fit_keys(motion: kp.Motion, figure: Figure, tolerance_mm: float) -> kp.KeyedMotion:
    """Fit the fewest keys for the joints, then add keys for the points around them."""
    max_gap_frames = max(4, round(MAX_GAP_S * motion.fps * tolerance_mm**0.5))
    keys = kp.unbake(
        motion, tolerance_mm=tolerance_mm, max_gap_frames=max_gap_frames, residual=False, polish=False
    ).keys
    while True:
        keyed = kp.unbake(motion, keys, rotation="euler", residual=False)
        errors = figure.errors_mm(Figure.build(_restore_flips(motion, keyed.sample())))
        exceeding = np.flatnonzero(errors > FIT_SHARE * tolerance_mm)
        if not len(np.setdiff1d(exceeding, keys)):
            return keyed
        span = np.searchsorted(keys, exceeding)
        worst_frames = [
            exceeding[span == span_index][np.argmax(errors[exceeding[span == span_index]])]
            for span_index in np.unique(span)
        ]
        keys = np.union1d(keys, worst_frames)


def _restore_flips(motion: kp.Motion, sampled: kp.Motion) -> kp.Motion:
    """Return the motion with flips restored, rounded as stored."""
    is_flip = flag_flips(motion).is_turned
    rotations = sampled.rotations.copy()
    rotations[is_flip] = np.rint(FLIP_STEPS * motion.rotations[is_flip]) / FLIP_STEPS
    return replace(sampled, rotations=rotations / np.linalg.norm(rotations, axis=-1, keepdims=True))


def _round_to_grid(motion: kp.Motion, figure: Figure, keyed: kp.KeyedMotion, scale_mm: float) -> StoredSize:
    """Quantise every number with steps that move a point a metre away by about ``scale_mm``; return size and error."""
    gap = float(np.median(np.diff(keyed.keys))) if keyed.n_keys > 1 else 1.0
    rounded_curves, bits = {}, 0
    for name, step, default in (
        ("rotations", scale_mm / METRE_MM, 0.0),
        ("translations", scale_mm / motion.mm_per_unit, motion.skeleton.offsets),
    ):
        curves = getattr(keyed, name)
        values, value_bits = _quantise(curves.values, step, default)
        in_tangents, in_bits = _quantise(curves.in_tangents, 2 * step / gap, 0.0)
        out_tangents, out_bits = _quantise(curves.out_tangents, 2 * step / gap, 0.0)
        rounded_curves[name] = replace(curves, values=values, in_tangents=in_tangents, out_tangents=out_tangents)
        bits += value_bits + in_bits + out_bits
    is_flip, gaps = flag_flips(motion).is_turned, np.diff(keyed.keys)
    bits += ORDER_BITS * motion.n_joints + len(gaps) * int(gaps.max(initial=1)).bit_length()
    n_flips = sum(len(list(runs(column))) for column in is_flip.T)
    n_bytes = HEAD_BYTES + (bits + 7) // 8 + FLIP_BYTES * n_flips + FLIP_ROTATION_BYTES * int(is_flip.sum())
    sampled = _restore_flips(motion, replace(keyed, **rounded_curves).sample())
    return StoredSize(n_bytes, keyed.n_keys, float(figure.errors_mm(Figure.build(sampled)).max()))


def _quantise(values: Array, step: float, default: Array | float) -> tuple[Array, int]:
    """Return values (K, J, C) on a grid from the minimum of each column, and the bits that they take."""
    minimum = np.float32(values.min(axis=0)).astype(float)
    step = float(np.float32(step))
    numbers = np.maximum(0, np.rint((values - minimum) / step)).astype(np.int64)
    widths = np.array([int(max_number).bit_length() for max_number in numbers.max(axis=0).ravel()]).reshape(
        minimum.shape
    )
    is_default = (widths == 0) & (np.abs(minimum - default) < step / 2)
    minimum = np.where(is_default, default, minimum)
    column_bits = (
        KIND_BITS * widths.size + MINIMUM_BITS * int((~is_default).sum()) + WIDTH_BITS * int((widths > 0).sum())
    )
    return minimum + step * numbers, column_bits + len(values) * int(widths.sum())
