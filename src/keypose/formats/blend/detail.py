"""The captured detail of a file whose keys an artist may have moved in time: it goes along with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.model import KeyedMotion, Motion, Residual
from keypose.rotations import angle_between

SAME_FRAMES = 1e-6  # frames nearer to each other are one


def detail_of(
    source: Source, written: KeyedMotion, began: int, keys: NDArray[np.int64], shown: Motion
) -> Residual | None:
    """The detail that was written, for what is ``shown`` now, with ``keys`` (K,) anywhere; a note where it moves.

    What was written began at frame ``began`` of what is shown. Where there are as many keys as were written, but at
    other frames, detail goes along with them; else nobody can tell which keys moved, and it stays where it was.
    """
    if written.residual is None:
        return None
    old = written.keys.astype(np.int64)
    if not np.array_equal(keys, old + began):
        if _are_the_same(keys, old + began, written, shown):
            source.note("the captured detail goes along with the keys that were moved in time")
            rate = written.fps / shown.fps
            return following(written.residual, old.astype(float), keys.astype(float), rate, shown.n_frames)
        source.note("keys were added or deleted: the captured detail stays on its frames")
    return following(written.residual, np.zeros(1), np.array([float(began)]), 1.0, shown.n_frames)


def _are_the_same(keys: NDArray[np.int64], old: NDArray[np.int64], written: KeyedMotion, shown: Motion) -> bool:
    """Whether the n-th of ``keys`` was the n-th of ``old``.

    One that stands where another stood shows whose pose it has: its own if all were moved, that other one's if a key
    was deleted here and one added there.
    """
    if len(keys) != len(old):
        return False
    stood = {frame: k for k, frame in enumerate(old.tolist())}
    votes = 0
    for k, frame in enumerate(keys.tolist()):
        other = stood.get(frame, k)
        if other != k and 0 <= frame < shown.n_frames:
            off = [angle_between(shown.rotations[frame], written.poses[n].rotations).mean() for n in (k, other)]
            votes += 1 if off[0] <= off[1] else -1
    return votes >= 0


def following(residual: Residual, before: Floats, after: Floats, rate: float, n_frames: int) -> Residual:
    """``residual`` of a motion of ``n_frames`` in which frames ``before`` (A,) have become ``after`` (A,).

    Both increase. Before the first and after the last of them time goes on, ``rate`` old frames for each new one.
    """
    if rate == 1.0 and np.array_equal(before, after):
        return residual
    # Beside the frames that are given, time bends where the detail begins and ends, or was bent before.
    bends = np.array([0.0, len(residual) - 1.0]) if residual.frames is None else residual.frames
    last = n_frames - 1.0
    frames = np.concatenate((after, _warped(bends, before, after, 1.0 / rate), [0.0, last]))
    frames = np.unique(frames[(frames >= 0) & (frames <= last)])
    frames = frames[np.diff(frames, prepend=-1.0) > SAME_FRAMES]
    return residual.retimed(np.maximum.accumulate(_warped(frames, after, before, rate)), frames)


def _warped(frames: Floats, old: Floats, new: Floats, rate: float) -> Floats:
    """What ``frames`` (N,) become where ``old`` become ``new``."""
    beyond = np.minimum(0.0, frames - old[0]) + np.maximum(0.0, frames - old[-1])
    return np.asarray(np.interp(frames, old, new) + rate * beyond)
