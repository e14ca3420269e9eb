"""Whether an edit has key poses of an original: by the angles between bones, which no axes, unit or way up change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.model import KeyedMotion, Motion, Skeleton

ALIKE_DEG = 2.0  # of the median angle in a pose
MOVING_DEG = 5.0  # angles that change less say nothing: most fingers are stiff in every capture
LEAST_ANGLES, LEAST_KEYS = 3, 2  # to judge by
LEAST_BONE = 1e-6  # of the longest


@dataclass(frozen=True)
class Likeness:
    """Of so many key poses of the original, so many are in the edit."""

    keys: int
    alike: int


def likeness(edited: KeyedMotion | Motion, original: KeyedMotion) -> Likeness | None:
    """Compares the poses at the keys of the original; None where figures or keys are too few to tell.

    The n-th key is compared with the n-th where the edit has as many; else poses at the same time.
    """
    names = set(edited.skeleton.names) & set(original.skeleton.names)
    ours, theirs = (_bent(motion.skeleton, names) for motion in (edited, original))
    shared = sorted(ours.keys() & theirs.keys())
    at, keys = _times(edited, original)
    if len(shared) < LEAST_ANGLES or len(keys) < LEAST_KEYS:
        return None
    here = _angles_deg(_positions(edited, at), [ours[bend] for bend in shared])
    there = _angles_deg(_positions(original, keys), [theirs[bend] for bend in shared])
    known = np.isfinite(here).all(axis=0) & np.isfinite(there).all(axis=0)
    telling = known & (np.ptp(np.where(known, there, 0.0), axis=0) > MOVING_DEG)
    if telling.sum() < LEAST_ANGLES:
        return None
    off = np.median(np.abs(here - there)[:, telling], axis=1)
    return Likeness(len(keys), int((off <= ALIKE_DEG).sum()))


def _times(edited: KeyedMotion | Motion, original: KeyedMotion) -> tuple[Floats, Floats]:
    """Frames of the edit, and frames of the original that belong to them."""
    keys = original.keys.astype(np.float64)
    if isinstance(edited, KeyedMotion) and edited.n_keys == original.n_keys:
        return edited.keys.astype(np.float64), keys
    at = keys * (edited.fps / original.fps)
    inside = at <= edited.n_frames - 1
    return at[inside], keys[inside]


def _positions(motion: KeyedMotion | Motion, at: Floats) -> Floats:
    """Where joints are in the world (N, J, 3); of a dense motion straight between frames."""
    if isinstance(motion, KeyedMotion):
        return motion.sample(frames=at).world_positions()
    before = np.floor(at).astype(np.intp)
    after = np.minimum(before + 1, motion.n_frames - 1)
    world, part = motion.world_positions(), (at - before)[:, None, None]
    return np.asarray(world[before] + part * (world[after] - world[before]))


def _bent(skeleton: Skeleton, names: set[str]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """Joints of these names with the next two above them that have such, by their names."""

    def above(joint: int) -> int:
        joint = int(skeleton.parents[joint])
        while joint >= 0 and skeleton.names[joint] not in names:
            joint = int(skeleton.parents[joint])
        return joint

    bent = {}
    for tip, name in enumerate(skeleton.names):
        middle = above(tip) if name in names else -1
        base = above(middle) if middle >= 0 else -1
        if base >= 0:
            bent[skeleton.names[base], skeleton.names[middle], name] = (base, middle, tip)
    return bent


def _angles_deg(positions: Floats, bends: list[tuple[int, int, int]]) -> Floats:
    """The angles (N, B) between neighbouring bones; not a number where one has no length."""
    base, middle, tip = np.array(bends).T
    one, other = positions[:, middle] - positions[:, base], positions[:, tip] - positions[:, middle]
    lengths = np.linalg.norm(one, axis=2), np.linalg.norm(other, axis=2)
    longest = max(float(length.max()) for length in lengths)
    both = np.where(np.minimum(*lengths) > LEAST_BONE * longest, lengths[0] * lengths[1], np.nan)
    return np.asarray(np.rad2deg(np.arccos(np.clip(np.sum(one * other, axis=2) / both, -1.0, 1.0))))
