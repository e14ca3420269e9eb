"""The residual under edits that change curves but should not change the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.model import KeyedMotion, Residual
from keypose.rotations import conjugate, log, multiply, rotate


def compensate_residual(new: KeyedMotion, old: KeyedMotion, first: int, last: int) -> KeyedMotion:
    """Return ``new`` with a residual that compensates how its curves differ from ``old`` in frames first to last.

    With its full residual ``new`` then equals ``old``; the residual of other frames does not change. Both have the same
    frames. A residual that has been retimed is expanded to one row per frame first.
    """
    if old.residual is None or last < first:
        return new
    frames = np.arange(first, last + 1, dtype=np.float64)
    target, sampled = old.sample(1.0, frames=frames), new.sample(frames=frames)
    inverse = conjugate(sampled.rotations)
    dense = expand_residual(old.residual, old.n_frames)
    rotation_vectors, shifts = dense.rotations.copy(), dense.shifts.copy()
    rotation_vectors[first : last + 1] = log(multiply(inverse, target.rotations))
    shifts[first : last + 1] = rotate(inverse, target.translations - sampled.translations)
    return replace(new, residual=Residual(freeze(rotation_vectors), freeze(shifts)))


def retime_residual(residual: Residual, before: Floats, after: Floats, n_frames: int) -> Residual:
    """Return the residual of a motion of ``n_frames`` in which frames ``before`` (A,) became ``after`` (A,).

    Both increase. The source of every frame is stored, so that frames between unmoved marks get exactly the detail
    that they had.
    """
    frames = np.arange(n_frames, dtype=np.float64)
    sources = residual.source_frames(np.interp(frames, after, before))
    return replace(residual, frames=freeze(frames), sources=freeze(sources))


def expand_residual(residual: Residual, n_frames: int) -> Residual:
    """Return the same residual with one row for each frame of the motion."""
    if residual.frames is None and len(residual) == n_frames:
        return residual
    source = residual.source_frames(np.arange(n_frames, dtype=np.float64))
    before = np.floor(source).astype(np.intp)
    after, fraction = np.minimum(before + 1, len(residual) - 1), (source - before)[:, None, None]
    rotation_vectors = residual.rotations[before] + fraction * (residual.rotations[after] - residual.rotations[before])
    shifts = residual.shifts[before] + fraction * (residual.shifts[after] - residual.shifts[before])
    return Residual(freeze(rotation_vectors), freeze(shifts))
