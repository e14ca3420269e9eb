"""Snap decoded motion to the channels that its joints have, so that a BVH file keeps its structure.

A decoding error within the tolerance slightly moves joints that never moved, and rotates hinges slightly about other
axes. The BVH file would then need more channels than the original.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.model import Motion
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import from_euler, to_euler
from keypose.storage.error import ARM_MM, tolerance_mm_per_unit


def snap_to_channels(motion: Motion, tolerance_mm: float) -> Motion:
    """Return ``motion`` without movement outside of its joints' channels, where that is within the tolerance."""
    translations = _snap_translations(motion, tolerance_mm / tolerance_mm_per_unit(motion))
    rotations = _snap_rotations(motion, tolerance_mm / ARM_MM)
    if translations is None and rotations is None:
        return motion
    return replace(
        motion,
        translations=motion.translations if translations is None else freeze(translations),
        rotations=motion.rotations if rotations is None else freeze(rotations),
    )


def _snap_translations(motion: Motion, tolerance: float) -> Floats | None:
    """Return translations equal to the offset along axes without a position channel; None if nothing changes."""
    skeleton = motion.skeleton
    is_fixed = np.array(
        [[channel not in channels for channel in POSITION_CHANNELS] for channels in skeleton.channels]
    )  # (J, 3)
    max_offsets = np.abs(motion.translations - skeleton.offsets).max(axis=0)
    is_snapped = is_fixed & (max_offsets > 0) & (max_offsets <= tolerance)
    return np.where(is_snapped, skeleton.offsets, motion.translations) if is_snapped.any() else None


def _snap_rotations(motion: Motion, tolerance_rad: float) -> Floats | None:
    """Return rotations about the axes of each joint's rotation channels only; None if nothing changes."""
    rotations: Floats | None = None
    for j, (channels, order) in enumerate(zip(motion.skeleton.channels, motion.skeleton.rotation_orders, strict=True)):
        missing = [f"{axis}rotation" not in channels for axis in order]
        if not any(missing):
            continue
        angles = to_euler(motion.rotations[:, j], order)
        max_angle = np.abs(angles[:, missing]).max()
        if not 0 < max_angle <= tolerance_rad:
            continue
        angles[:, missing] = 0.0
        rotations = motion.rotations.copy() if rotations is None else rotations
        rotations[:, j] = from_euler(angles, order)
    return rotations
