"""Retime the residual of a file whose keys an artist may have moved in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.model import KeyedMotion, Motion, Residual
from keypose.rotations import angle_between

SAME_FRAMES = 1e-6  # frames nearer to each other count as one


def retime_residual(
    source: Source, saved: KeyedMotion, start: int, keys: NDArray[np.int64], motion: Motion
) -> Residual | None:
    """Return the residual of ``saved`` for ``motion``, the present frames, with ``keys`` (K,) at any frames.

    Frame 0 of ``saved`` is frame ``start`` of ``motion``. If there are as many keys as in ``saved``, but at other
    frames, the residual moves with them; else it is unknown which keys moved, and it stays. Adds a note about it.
    """
    if saved.residual is None:
        return None
    saved_keys = saved.keys.astype(np.int64)
    if not np.array_equal(keys, saved_keys + start):
        if _is_same_order(keys, saved_keys + start, saved, motion):
            source.note("the captured detail goes along with the keys that were moved in time")
            rate = saved.fps / motion.fps
            return warp_residual(saved.residual, saved_keys.astype(float), keys.astype(float), rate, motion.n_frames)
        source.note("keys were added or deleted: the captured detail stays on its frames")
    return warp_residual(saved.residual, np.zeros(1), np.array([float(start)]), 1.0, motion.n_frames)


def _is_same_order(keys: NDArray[np.int64], old: NDArray[np.int64], saved: KeyedMotion, motion: Motion) -> bool:
    """Return whether the n-th of ``keys`` was the n-th of ``old``.

    A key at the frame of another old key decides by its pose: its own if all keys were moved, the other one's if a key
    was deleted and one added elsewhere.
    """
    if len(keys) != len(old):
        return False
    old_index = {frame: k for k, frame in enumerate(old.tolist())}
    votes = 0
    for k, frame in enumerate(keys.tolist()):
        other = old_index.get(frame, k)
        if other != k and 0 <= frame < motion.n_frames:
            angles = [angle_between(motion.rotations[frame], saved.poses[n].rotations).mean() for n in (k, other)]
            votes += 1 if angles[0] <= angles[1] else -1
    return votes >= 0


def warp_residual(residual: Residual, before: Floats, after: Floats, rate: float, n_frames: int) -> Residual:
    """Return ``residual`` for a motion of ``n_frames`` in which frames ``before`` (A,) have become ``after`` (A,).

    Both increase. Before the first and after the last of them one new frame is ``rate`` old frames.
    """
    if rate == 1.0 and np.array_equal(before, after):
        return residual
    # The time map also bends where the residual begins and ends, or was bent before.
    bend_frames = np.array([0.0, len(residual) - 1.0]) if residual.frames is None else residual.frames
    last = n_frames - 1.0
    frames = np.concatenate((after, _warp_frames(bend_frames, before, after, 1.0 / rate), [0.0, last]))
    frames = np.unique(frames[(frames >= 0) & (frames <= last)])
    frames = frames[np.diff(frames, prepend=-1.0) > SAME_FRAMES]
    return residual.retime(np.maximum.accumulate(_warp_frames(frames, after, before, rate)), frames)


def _warp_frames(frames: Floats, old: Floats, new: Floats, rate: float) -> Floats:
    """Map ``frames`` (N,) by the piecewise linear map from ``old`` to ``new``."""
    outside = np.minimum(0.0, frames - old[0]) + np.maximum(0.0, frames - old[-1])
    return np.asarray(np.interp(frames, old, new) + rate * outside)
