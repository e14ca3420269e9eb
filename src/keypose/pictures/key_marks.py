"""Frames of keys to mark in a picture, from any type of selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from keypose.arrays import Ints, freeze, freeze_ints
from keypose.errors import ModelError, OptionError
from keypose.model import KeyedMotion, Selection

Keys: TypeAlias = Selection | KeyedMotion | Sequence[int] | Ints | None


def key_frames(keys: Keys, n_frames: int) -> Ints:
    """Return the increasing frames (K,) of a selection, a keyed motion or a list of frames; empty for None."""
    if keys is None:
        return np.zeros(0, np.int32)
    if isinstance(keys, Selection | KeyedMotion):
        frames = keys.frames if isinstance(keys, Selection) else keys.keys
        if keys.n_frames != n_frames:
            raise OptionError(f"keys of {keys.n_frames} frames, expected those of the {n_frames} that are shown")
        return frames
    try:
        frames = freeze_ints(keys, (None,), "keys")
    except ModelError as error:
        raise OptionError(f"{error}; or a Selection or a KeyedMotion") from None
    if len(frames) and not 0 <= frames.min() <= frames.max() < n_frames:
        outside = frames[(frames < 0) | (frames >= n_frames)][0]
        raise OptionError(f"keys: frame {outside}, expected 0 to {n_frames - 1}")
    return freeze(np.unique(frames))
