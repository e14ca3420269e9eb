"""Straight in-betweens: translations at constant speed, rotations at constant turning speed along the shorter way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import frozen_ints, give_away
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import normalise, slerp


def linear(motion: Motion, keys: ArrayLike, at: ArrayLike | None = None) -> Motion:
    """``motion`` rebuilt from its poses at ``keys`` (increasing frames) alone; at the keys it is unchanged.

    Before the first key and after the last one the nearest key pose holds. ``at`` limits the answer to some frames.
    """
    frames = frozen_ints(keys, (None,), "keys")
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames or (np.diff(frames) <= 0).any():
        raise OptionError(f"keys {frames.tolist()[:12]}, expected increasing frames from 0 to {motion.n_frames - 1}")
    wanted = np.arange(motion.n_frames) if at is None else np.asarray(at)
    inside = np.clip(wanted, frames[0], frames[-1])
    span = np.searchsorted(frames, inside, side="right") - 1
    before, after = frames[span], frames[np.minimum(span + 1, len(frames) - 1)]
    part = ((inside - before) / np.maximum(1, after - before))[:, None, None]
    between = part[:, 0, 0] > 0  # keys and held poses keep their very numbers
    translations, rotations = motion.translations[before], motion.rotations[before]
    a, b, part = before[between], after[between], part[between]
    translations[between] = motion.translations[a] * (1 - part) + motion.translations[b] * part
    rotations[between] = normalise(slerp(motion.rotations[a], motion.rotations[b], part))
    return replace(motion, translations=give_away(translations), rotations=give_away(rotations))
