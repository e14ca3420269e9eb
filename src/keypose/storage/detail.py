"""Captured detail of keys stored beside frames: it is omitted from the keys and recomputed from the frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.curves.keyed_motion import add_residual
from keypose.model import KeyedMotion, Motion

DETAIL_IN_FRAMES_NOTE = "the captured detail of these keys is in the frames beside them"
MAX_ROTATION_DIFFERENCE_RAD, MAX_SHIFT_DIFFERENCE = (
    1e-6,
    1e-6,
)  # of equal detail; shifts relative to the figure's height


def remove_detail(keyed: KeyedMotion, motion: Motion) -> KeyedMotion:
    """Return ``keyed`` without its residual and with a note, if the residual follows from its curves and ``motion``."""
    residual = keyed.residual
    if residual is None or residual.frames is not None or len(residual) != motion.n_frames:
        return keyed
    frames_residual = add_residual(keyed, motion).residual
    assert frames_residual is not None
    rotation_difference, shift_difference = (
        np.abs(frames_residual.rotations - residual.rotations).max(),
        np.abs(frames_residual.shifts - residual.shifts).max(),
    )
    if rotation_difference > MAX_ROTATION_DIFFERENCE_RAD or shift_difference > MAX_SHIFT_DIFFERENCE * max(
        motion.height, 0.0
    ):
        return keyed
    return replace(keyed, residual=None, notes=(*keyed.notes, DETAIL_IN_FRAMES_NOTE))


def is_detail_in_frames(keyed: KeyedMotion) -> bool:
    """Return whether the detail of ``keyed`` has to be recomputed from the frames beside it."""
    return keyed.residual is None and DETAIL_IN_FRAMES_NOTE in keyed.notes


def restore_detail(keyed: KeyedMotion, motion: Motion) -> KeyedMotion:
    """Return ``keyed`` with its residual against ``motion``, if its detail was omitted."""
    if not is_detail_in_frames(keyed):
        return keyed
    notes = tuple(note for note in keyed.notes if note != DETAIL_IN_FRAMES_NOTE)
    return replace(add_residual(keyed, motion), notes=notes)
