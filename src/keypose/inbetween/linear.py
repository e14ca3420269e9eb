"""Straight in-betweens: translations at constant speed, rotations at constant turning speed along the shorter way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Ints, frozen_ints, give_away
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import normalise, slerp

Frames = NDArray[np.integer[Any]]


class Between(NamedTuple):
    """Where frames lie between keys; before the first and after the last key the nearest one holds."""

    before: Frames  # (N,) key at or before each frame
    after: Frames  # (N,) the next key
    part: Floats  # (N,) of the way, 0 at a key


def linear(motion: Motion, keys: ArrayLike) -> Motion:
    """``motion`` rebuilt from its poses at ``keys`` (increasing frames) alone; at the keys it is unchanged.

    Before the first key and after the last one the nearest key pose holds.
    """
    frames = frozen_ints(keys, (None,), "keys")
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames or (np.diff(frames) <= 0).any():
        raise OptionError(f"keys {frames.tolist()[:12]}, expected increasing frames from 0 to {motion.n_frames - 1}")
    translations, rotations = poses_between(motion, between(frames, np.arange(motion.n_frames)))
    return replace(motion, translations=give_away(translations), rotations=give_away(rotations))


def between(keys: Ints, frames: Frames) -> Between:
    """Where ``frames`` (N,) lie between increasing ``keys``."""
    inside = np.clip(frames, keys[0], keys[-1])
    span = np.searchsorted(keys, inside, side="right") - 1
    before, after = keys[span], keys[np.minimum(span + 1, len(keys) - 1)]
    return Between(before, after, (inside - before) / np.maximum(1, after - before))


def poses_between(motion: Motion, where: Between) -> tuple[Floats, Floats]:
    """Local translations (N, J, 3) and rotations (N, J, 4); key poses and held ones keep their very numbers."""
    translations, rotations = motion.translations[where.before], motion.rotations[where.before]
    off_key = where.part > 0
    a, b, part = where.before[off_key], where.after[off_key], where.part[off_key, None, None]
    translations[off_key] = motion.translations[a] * (1 - part) + motion.translations[b] * part
    rotations[off_key] = normalise(slerp(motion.rotations[a], motion.rotations[b], part))
    return translations, rotations
