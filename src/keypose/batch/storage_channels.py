"""Decoded motion brought back into the channels that its joints have, so that a BVH file keeps its structure.

A decoder that is off by less than the tolerance moves joints a little that never moved, and turns hinges a little about
other axes. What is written in BVH would then need more channels than the original had.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.model import Motion
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import from_euler, to_euler
from keypose.storage.error import ARM_MM, mm_per_unit_of


def within_channels(motion: Motion, tolerance_mm: float) -> Motion:
    """``motion`` without movement outside of its joints' channels, as far as that is within the tolerance."""
    translations = _at_their_offsets(motion, tolerance_mm / mm_per_unit_of(motion))
    rotations = _about_their_axes(motion, tolerance_mm / ARM_MM)
    if translations is None and rotations is None:
        return motion
    return replace(
        motion,
        translations=motion.translations if translations is None else give_away(translations),
        rotations=motion.rotations if rotations is None else give_away(rotations),
    )


def _at_their_offsets(motion: Motion, slack: float) -> Floats | None:
    """Translations that are the joint's offset along axes without a position channel; None: they are already."""
    s = motion.skeleton
    bound = np.array([[channel not in own for channel in POSITION_CHANNELS] for own in s.channels])  # (J, 3)
    off = np.abs(motion.translations - s.offsets).max(axis=0)
    snapped = bound & (off > 0) & (off <= slack)
    return np.where(snapped, s.offsets, motion.translations) if snapped.any() else None


def _about_their_axes(motion: Motion, slack: float) -> Floats | None:
    """Rotations about the axes of the joint's rotation channels alone; None: they are already."""
    rotations: Floats | None = None
    for j, (own, order) in enumerate(zip(motion.skeleton.channels, motion.skeleton.rotation_orders, strict=True)):
        missing = [f"{axis}rotation" not in own for axis in order]
        if not any(missing):
            continue
        angles = to_euler(motion.rotations[:, j], order)
        off = np.abs(angles[:, missing]).max()
        if not 0 < off <= slack:
            continue
        angles[:, missing] = 0.0
        rotations = motion.rotations.copy() if rotations is None else rotations
        rotations[:, j] = from_euler(angles, order)
    return rotations
