"""Count the key poses of an original that an edit still has, by angles between bones, which do not depend on axes or
units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.model import KeyedMotion, Motion, Skeleton

MATCH_DEG = 2.0  # maximum median difference of the angles of a pose
MIN_RANGE_DEG = 5.0  # angles that vary less are ignored: most fingers are stiff in every capture
MIN_ANGLES, MIN_KEYS = 3, 2  # fewer are not compared
MIN_BONE_RATIO = 1e-6  # relative to the longest bone


@dataclass(frozen=True)
class PoseMatch:
    """How many key poses the original has, and how many of them are in the edit."""

    n_keys: int
    n_matches: int


def match_poses(edited: KeyedMotion | Motion, original: KeyedMotion) -> PoseMatch | None:
    """Compare poses at the keys of the original; None if there are too few shared bones or keys.

    With the same number of keys, the n-th keys are compared; otherwise poses at the same time.
    """
    names = set(edited.skeleton.names) & set(original.skeleton.names)
    edited_bends, original_bends = (_find_bends(motion.skeleton, names) for motion in (edited, original))
    shared_bends = sorted(edited_bends.keys() & original_bends.keys())
    edited_frames, original_frames = _corresponding_frames(edited, original)
    if len(shared_bends) < MIN_ANGLES or len(original_frames) < MIN_KEYS:
        return None
    edited_angles = _angles_deg(_positions_at(edited, edited_frames), [edited_bends[bend] for bend in shared_bends])
    original_angles = _angles_deg(
        _positions_at(original, original_frames), [original_bends[bend] for bend in shared_bends]
    )
    is_finite = np.isfinite(edited_angles).all(axis=0) & np.isfinite(original_angles).all(axis=0)
    is_moving = is_finite & (np.ptp(np.where(is_finite, original_angles, 0.0), axis=0) > MIN_RANGE_DEG)
    if is_moving.sum() < MIN_ANGLES:
        return None
    errors_deg = np.median(np.abs(edited_angles - original_angles)[:, is_moving], axis=1)
    return PoseMatch(len(original_frames), int((errors_deg <= MATCH_DEG).sum()))


def _corresponding_frames(edited: KeyedMotion | Motion, original: KeyedMotion) -> tuple[Floats, Floats]:
    """Return frames of the edit and the corresponding frames of the original."""
    keys = original.keys.astype(np.float64)
    if isinstance(edited, KeyedMotion) and edited.n_keys == original.n_keys:
        return edited.keys.astype(np.float64), keys
    edited_frames = keys * (edited.fps / original.fps)
    is_inside = edited_frames <= edited.n_frames - 1
    return edited_frames[is_inside], keys[is_inside]


def _positions_at(motion: KeyedMotion | Motion, frames: Floats) -> Floats:
    """Return world positions (N, J, 3) at fractional frames, interpolated linearly if the motion is dense."""
    if isinstance(motion, KeyedMotion):
        return motion.sample(frames=frames).world_positions()
    before = np.floor(frames).astype(np.intp)
    after = np.minimum(before + 1, motion.n_frames - 1)
    world, fraction = motion.world_positions(), (frames - before)[:, None, None]
    return np.asarray(world[before] + fraction * (world[after] - world[before]))


def _find_bends(skeleton: Skeleton, names: set[str]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """Return (base, middle, tip) joints by their names: each named joint with its next two named ancestors."""

    def find_ancestor(joint: int) -> int:
        joint = int(skeleton.parents[joint])
        while joint >= 0 and skeleton.names[joint] not in names:
            joint = int(skeleton.parents[joint])
        return joint

    bends = {}
    for tip, name in enumerate(skeleton.names):
        middle = find_ancestor(tip) if name in names else -1
        base = find_ancestor(middle) if middle >= 0 else -1
        if base >= 0:
            bends[skeleton.names[base], skeleton.names[middle], name] = (base, middle, tip)
    return bends


def _angles_deg(positions: Floats, bends: list[tuple[int, int, int]]) -> Floats:
    """Return the angles (N, B) between neighbouring bones; NaN where a bone has no length."""
    base, middle, tip = np.array(bends).T
    lower, upper = positions[:, middle] - positions[:, base], positions[:, tip] - positions[:, middle]
    lengths = np.linalg.norm(lower, axis=2), np.linalg.norm(upper, axis=2)
    max_length = max(float(length.max()) for length in lengths)
    products = np.where(np.minimum(*lengths) > MIN_BONE_RATIO * max_length, lengths[0] * lengths[1], np.nan)
    return np.asarray(np.rad2deg(np.arccos(np.clip(np.sum(lower * upper, axis=2) / products, -1.0, 1.0))))
