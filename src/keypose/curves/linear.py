"""Linear in-betweens: constant linear and angular speed, the shorter way round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Ints, freeze, freeze_ints
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import normalise, slerp

Frames = NDArray[np.integer[Any]]


class FrameSpans(NamedTuple):
    """Positions of frames between keys; outside the keys the nearest one holds."""

    before: Frames  # (N,) the key at or before each frame
    after: Frames  # (N,) the next key
    fraction: Floats  # (N,) of the span, 0 at a key


def interpolate_linear(motion: Motion, keys: ArrayLike) -> Motion:
    """Return ``motion`` rebuilt from its poses at ``keys`` (increasing frames); at the keys it is unchanged.

    Before the first key and after the last one the nearest key pose holds.
    """
    frames = freeze_ints(keys, (None,), "keys")
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames or (np.diff(frames) <= 0).any():
        raise OptionError(f"keys {frames.tolist()[:12]}, expected increasing frames from 0 to {motion.n_frames - 1}")
    translations, rotations = interpolate_poses(motion, locate_frames(frames, np.arange(motion.n_frames)))
    return replace(motion, translations=freeze(translations), rotations=freeze(rotations))


def locate_frames(keys: Ints, frames: Frames) -> FrameSpans:
    """Return the positions of ``frames`` (N,) between increasing ``keys``."""
    clipped_frames = np.clip(frames, keys[0], keys[-1])
    span = np.searchsorted(keys, clipped_frames, side="right") - 1
    before, after = keys[span], keys[np.minimum(span + 1, len(keys) - 1)]
    return FrameSpans(before, after, (clipped_frames - before) / np.maximum(1, after - before))


def interpolate_poses(motion: Motion, spans: FrameSpans) -> tuple[Floats, Floats]:
    """Return local translations (N, J, 3) and rotations (N, J, 4); key poses and held ones are exact copies."""
    translations, rotations = motion.translations[spans.before], motion.rotations[spans.before]
    is_between = spans.fraction > 0
    a, b, fraction = spans.before[is_between], spans.after[is_between], spans.fraction[is_between, None, None]
    translations[is_between] = motion.translations[a] * (1 - fraction) + motion.translations[b] * fraction
    rotations[is_between] = normalise(slerp(motion.rotations[a], motion.rotations[b], fraction))
    return translations, rotations
