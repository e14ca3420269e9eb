"""The captured detail of a file whose keys an artist may have moved in time: it goes along with them."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.model import Residual

SAME_FRAMES = 1e-6  # frames nearer to each other are one


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
