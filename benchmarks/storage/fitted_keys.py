"""Fitted keys of ``kp.unbake``, stored in as few bits as the bound allows.

Keys are chosen by ``kp.unbake(tolerance_mm=...)``, whose tolerance is for joints only; where a point off a joint is
still too far, its worst frame becomes a key as well, until none is. Curves are cubic Euler angles in each joint's best
order, which have fewer numbers than quaternions; pops of thumbs and finger tips, which ``kp.unbake`` holds over on
purpose, are stored frame by frame.

A number that changes takes as many bits as its range has steps; turns, translations and the two kinds of slopes have
each their own step, and all of them are one scale, the widest that keeps within the tolerance.

The bytes, which are counted here rather than written: numbers of keys and pops, widest gap and steps; for each column 2
bits that say whether it is usual (no slope, no turn, the bone's offset), constant (32 bits) or changing (its least
value in 32 bits, its width in 8); gaps between keys; all columns key by key; pops with joint, first frame and length in
8 bytes and turns in 4 x 16 bits.
Names, bones and the rest are counted by the caller, as large as in a ``.kps`` file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from benchmarks.storage.figure import Array, Figure

import keypose as kp
from keypose.arrays import runs
from keypose.inbetween.channels import leaves, without_pops

FITTED_SHARE = 0.85  # of the tolerance is for the curves; what they leave of it is for rounding
WIDEST_GAP_S = 0.3  # between keys within 1 mm, and in proportion to the root of the tolerance: wider ones do not help
HALVINGS = 7
OCTAVES = (-14.0, 2.0)
HEAD_BYTES, POP_BYTES, POP_TURN_BYTES = 24, 8, 8
KIND_BITS, LEAST_BITS, WIDTH_BITS, ORDER_BITS = 2, 32, 8, 3
METRE_MM = 1000.0
POP_STEPS = 32767


@dataclass(frozen=True)
class Stored:
    """How many bytes there are, and how far off what comes out of them is."""

    n_bytes: int
    n_keys: int
    error_mm: float


def store(motion: kp.Motion, tolerance_mm: float) -> Stored:
    """Keys whose curves keep all points within the tolerance once rounded: chosen ones, or every third frame.

    A cubic goes through the two frames between such keys exactly, so that all of the tolerance is for rounding.
    """
    figure = Figure.of(motion)
    third = np.union1d(np.arange(0, motion.n_frames, 3), motion.n_frames - 1)
    tried = (_keyed(motion, figure, tolerance_mm), kp.unbake(motion, third, rotation="euler", residual=False))
    found = [_coarsest(motion, figure, keyed, tolerance_mm) for keyed in tried]
    return min((some for some in found if some is not None), key=lambda some: some.n_bytes)


def _coarsest(motion: kp.Motion, figure: Figure, keyed: kp.KeyedMotion, tolerance_mm: float) -> Stored | None:
    """The coarsest steps that keep within the tolerance; None: none do."""
    best, low, high = None, *OCTAVES
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = _rounded(motion, figure, keyed, tolerance_mm * 2.0**middle)
        if found.error_mm <= tolerance_mm:
            best, low = found, middle
        else:
            high = middle
    return best


def _keyed(motion: kp.Motion, figure: Figure, tolerance_mm: float) -> kp.KeyedMotion:
    """Fewest keys for the joints, then more for the points off them."""
    widest = max(4, round(WIDEST_GAP_S * motion.fps * tolerance_mm**0.5))
    keys = kp.unbake(motion, tolerance_mm=tolerance_mm, greatest_gap_frames=widest, residual=False, polish=False).keys
    while True:
        keyed = kp.unbake(motion, keys, rotation="euler", residual=False)
        errors = figure.errors_mm(Figure.of(_with_pops(motion, keyed.sample())))
        bad = np.flatnonzero(errors > FITTED_SHARE * tolerance_mm)
        if not len(np.setdiff1d(bad, keys)):
            return keyed
        span = np.searchsorted(keys, bad)
        worst = [bad[span == one][np.argmax(errors[bad[span == one]])] for one in np.unique(span)]
        keys = np.union1d(keys, worst)


def _pops(motion: kp.Motion) -> np.ndarray:
    """(T, J) what kp.unbake holds over."""
    held = without_pops(motion.rotations, leaves(motion.skeleton), motion.fps)
    return np.asarray((held != motion.rotations).any(axis=-1))


def _with_pops(motion: kp.Motion, sampled: kp.Motion) -> kp.Motion:
    """The frames with pops put back, rounded as they are stored."""
    at = _pops(motion)
    turns = sampled.rotations.copy()
    turns[at] = np.rint(POP_STEPS * motion.rotations[at]) / POP_STEPS
    return replace(sampled, rotations=turns / np.linalg.norm(turns, axis=-1, keepdims=True))


def _rounded(motion: kp.Motion, figure: Figure, keyed: kp.KeyedMotion, scale_mm: float) -> Stored:
    """Every number on its grid: steps that move a point a metre away by about ``scale_mm``."""
    gap = float(np.median(np.diff(keyed.keys))) if keyed.n_keys > 1 else 1.0
    made, bits = {}, 0
    for name, step, usual in (
        ("rotations", scale_mm / METRE_MM, 0.0),
        ("translations", scale_mm / motion.mm_per_unit, motion.skeleton.offsets),
    ):
        curves = getattr(keyed, name)
        values, bits_of_values = _on_grid(curves.values, step, usual)
        arriving, bits_of_arriving = _on_grid(curves.arriving, 2 * step / gap, 0.0)
        leaving, bits_of_leaving = _on_grid(curves.leaving, 2 * step / gap, 0.0)
        made[name] = replace(curves, values=values, arriving=arriving, leaving=leaving)
        bits += bits_of_values + bits_of_arriving + bits_of_leaving
    at, gaps = _pops(motion), np.diff(keyed.keys)
    bits += ORDER_BITS * motion.n_joints + len(gaps) * int(gaps.max(initial=1)).bit_length()
    n_pops = sum(len(list(runs(column))) for column in at.T)
    n_bytes = HEAD_BYTES + (bits + 7) // 8 + POP_BYTES * n_pops + POP_TURN_BYTES * int(at.sum())
    played = _with_pops(motion, replace(keyed, **made).sample())
    return Stored(n_bytes, keyed.n_keys, float(figure.errors_mm(Figure.of(played)).max()))


def _on_grid(values: Array, step: float, usual: Array | float) -> tuple[Array, int]:
    """Values (K, J, C) on a grid from the least of each column, and the bits that they take."""
    least = np.float32(values.min(axis=0)).astype(float)
    step = float(np.float32(step))
    numbers = np.maximum(0, np.rint((values - least) / step)).astype(np.int64)
    widths = np.array([int(most).bit_length() for most in numbers.max(axis=0).ravel()]).reshape(least.shape)
    is_usual = (widths == 0) & (np.abs(least - usual) < step / 2)
    least = np.where(is_usual, usual, least)
    columns = KIND_BITS * widths.size + LEAST_BITS * int((~is_usual).sum()) + WIDTH_BITS * int((widths > 0).sum())
    return least + step * numbers, columns + len(values) * int(widths.sum())
