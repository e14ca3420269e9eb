"""Straight in-betweens: translations at constant speed, rotations at constant turning speed along the shorter way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import frozen_ints, give_away
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import normalise, slerp


def linear(motion: Motion, keys: ArrayLike) -> Motion:
    """``motion`` rebuilt from its poses at ``keys`` (increasing frames) alone; at the keys it is unchanged.

    Before the first key and after the last one the nearest key pose holds.
    """
    frames = frozen_ints(keys, (None,), "keys")
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames or (np.diff(frames) <= 0).any():
        raise OptionError(f"keys {frames.tolist()[:12]}, expected increasing frames from 0 to {motion.n_frames - 1}")
    at = np.clip(np.arange(motion.n_frames), frames[0], frames[-1])
    span = np.clip(np.searchsorted(frames, at, side="right") - 1, 0, max(0, len(frames) - 2))
    before, after = frames[span], frames[np.minimum(span + 1, len(frames) - 1)]
    part = ((at - before) / np.maximum(1, after - before))[:, None, None]
    translations = motion.translations[before] * (1 - part) + motion.translations[after] * part
    rotations = normalise(slerp(motion.rotations[before], motion.rotations[after], part))
    for made, given in ((translations, motion.translations), (rotations, motion.rotations)):
        made[: frames[0]], made[frames], made[frames[-1] :] = given[frames[0]], given[frames], given[frames[-1]]
    return replace(motion, translations=give_away(translations), rotations=give_away(rotations))
