"""Joints that move farther in the same time: a kick becomes more forceful."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.options import number
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.pieces import Piece, nearest_branch, pieces_of
from keypose.swings.editing.turning import turned_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.track import KeyedSpan, Track, mean_of

Joints = str | tuple[str, ...] | list[str]

WIDEST = 0.9 * np.pi  # between two keys: beyond half a turn they would be joined the other way round


def intensify(now: Swings, before: Unedited, joints: Joints, factor: Any) -> SwingChange:
    """All swings of some joints scaled about their middles, keyed spans about their means.

    Neighbours then move their common ends the same way. Hips and other roots are left alone unless they are
    named themselves.
    """
    times = number("factor", factor, least=0.0)
    rows = {}
    for j in _but_roots(now.skeleton, joints):
        old = pieces_of(now.tracks[j])
        if old:
            rows[j] = (old, [_intense(piece, times) for piece in old])
    if not rows:
        raise OptionError(f"joints={joints!r}: neither a swing nor a key")
    return fitted_in(now, before, rows)


def _but_roots(skeleton: Skeleton, joints: Joints) -> list[int]:
    """The joints that are meant; roots only where a name stands for one alone."""
    wanted: set[int] = set()
    for name in (joints,) if isinstance(joints, str) else joints:
        some = skeleton.joints(name)
        wanted.update(some if len(some) == 1 else set(some) - set(skeleton.roots))
    return sorted(wanted)


def _intense(piece: Piece, times: float) -> Piece:
    if times == 1.0:
        return piece
    if piece.turn is not None:
        return turned_about(piece, "middle", piece.turn * times)
    return _scaled_keys(piece, times)


def _scaled_keys(piece: Piece, times: float) -> Piece:
    """Keys farther from their mean, or nearer; more of them where they get too far from each other."""
    if len(piece.frames) == 1:
        return piece
    frames, off = piece.frames, _from_mean(piece.rotations)
    gaps, widest = np.diff(frames), np.linalg.norm(np.diff(off, axis=0), axis=1) * times
    parts = np.minimum(np.ceil(widest / WIDEST).astype(int), gaps)
    if (parts > 1).any():
        more = [
            np.linspace(a, b, n + 1).round() for a, b, n in zip(frames[:-1], frames[1:], parts, strict=True) if n > 1
        ]
        dense = np.union1d(frames, np.concatenate(more)).astype(np.int32)
        rotations = _between_keys(piece, dense)
        frames, off = dense, _from_mean(rotations)
    else:
        rotations = piece.rotations
    mean = mean_of(rotations)
    return replace(piece, frames=frames, rotations=normalise(multiply(mean, exp(times * off))), fixed=True)


def _from_mean(rotations: Floats) -> Floats:
    """Turns (K, 3) from the mean of rotations (K, 4) to each, that go on without jumps from key to key."""
    turns = log(multiply(conjugate(mean_of(rotations)), rotations))
    for k in np.flatnonzero(np.linalg.norm(np.diff(turns, axis=0), axis=1) > np.pi).tolist():
        turns[k + 1 :] = nearest_branch(turns[k + 1 :], np.tile(turns[k], (len(turns) - k - 1, 1)))
    return turns


def _between_keys(piece: Piece, frames: Ints) -> Floats:
    alone = Track("", piece.rotations[0], keyed=(KeyedSpan(piece.frames, piece.rotations),))
    return alone.sample(frames.astype(np.float64))
