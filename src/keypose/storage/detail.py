"""Captured detail of keys that are kept beside frames: the frames have it, so it is found in them again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.inbetween.keyed import with_residual
from keypose.model import KeyedMotion, Motion

IN_FRAMES = "the captured detail of these keys is in the frames beside them"
SAME_TURN_RAD, SAME_SHIFT = 1e-6, 1e-6  # of detail that is the same; shifts relative to the figure's height


def without_detail(keyed: KeyedMotion, motion: Motion) -> KeyedMotion:
    """``keyed`` without its residual, with a note, where that is what its curves leave out of ``motion``."""
    kept = keyed.residual
    if kept is None or kept.frames is not None or len(kept) != motion.n_frames:
        return keyed
    found = with_residual(keyed, motion).residual
    assert found is not None
    off_turn, off_shift = np.abs(found.turns - kept.turns).max(), np.abs(found.shifts - kept.shifts).max()
    if off_turn > SAME_TURN_RAD or off_shift > SAME_SHIFT * max(motion.height, 0.0):
        return keyed
    return replace(keyed, residual=None, notes=(*keyed.notes, IN_FRAMES))


def left_to_frames(keyed: KeyedMotion) -> bool:
    """Whether the detail of ``keyed`` was left to the frames beside it."""
    return keyed.residual is None and IN_FRAMES in keyed.notes


def with_detail(keyed: KeyedMotion, motion: Motion) -> KeyedMotion:
    """``keyed`` with what its curves leave out of ``motion``, where its detail was left to the frames."""
    if not left_to_frames(keyed):
        return keyed
    notes = tuple(note for note in keyed.notes if note != IN_FRAMES)
    return replace(with_residual(keyed, motion), notes=notes)
