"""Keyed motions to edit, and assertions that hold after every edit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.curves.cubic_fit import build_channels
from keypose.curves.edit import Change
from keypose.curves.keyed_motion import add_residual, build_joint_keyed_motion, build_keyed_motion
from keypose.model import KeyedMotion, Motion
from keypose.model.keyed_motion import SpanPosition

SHARED_KINDS = ("cubic", "straight", "cubic euler", "straight euler")
JOINT_KINDS = ("cubic per joint", "cubic euler per joint", "straight per joint")
KINDS = (*SHARED_KINDS, *JOINT_KINDS)
KEYS = (0, 14, 23, 40, 52, 71, 89)


@lru_cache
def demo() -> Motion:
    return kp.demo_motion(fps=30)[60:150]


@lru_cache
def demo_keyed(kind: str = "cubic", keys: tuple[int, ...] = KEYS) -> KeyedMotion:
    return build_keyed(demo(), keys, kind)


@lru_cache
def walk(data_dir: Path, kind: str = "cubic") -> KeyedMotion:
    return build_keyed(kp.load(data_dir / "cmu120" / "07_05_walk.bvh"), range(0, 517, 12), kind)


@lru_cache
def kick(data_dir: Path) -> KeyedMotion:
    motion = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")[:700]
    return build_keyed(motion, range(0, 700, 20), "cubic")


def build_keyed(motion: Motion, keys: Sequence[int], kind: str = "cubic", residual: bool = True) -> KeyedMotion:
    channels = build_channels(motion, "euler" if "euler" in kind else "quaternion")
    interpolation, frames = "bezier" if "cubic" in kind else "linear", np.array(keys, np.int32)
    if "per joint" in kind:  # about two thirds of the keys, others for every joint
        is_key = np.random.default_rng(0).random((2, motion.n_joints, len(frames))) < 0.67
        is_key[..., [0, -1]] = True
        joint_keys = ([frames[own] for own in flags] for flags in is_key)
        keyed = build_joint_keyed_motion(motion, *joint_keys, interpolation, channels)
    else:
        keyed = build_keyed_motion(motion, frames, interpolation, channels)
    return add_residual(keyed, motion) if residual else keyed


def bits(keyed: KeyedMotion) -> list[bytes]:
    """Return the bytes of every stored array."""
    arrays = [keyed.keys, keyed.extremes]
    for curves in (keyed.translations, keyed.rotations):
        arrays += [curves.values, curves.in_tangents, curves.out_tangents, curves.is_key]
    if keyed.residual is not None:
        r = keyed.residual
        arrays += [r.rotations, r.shifts, r.frames, r.sources]
    return [b"" if array is None else array.tobytes() for array in arrays]


def samples(keyed: KeyedMotion, residual: float) -> np.ndarray:
    """Return the samples of all frames (T, J, 7)."""
    motion = keyed.sample(residual)
    return np.concatenate((motion.translations, motion.rotations), axis=-1)


def assert_same_outside(before: KeyedMotion, change: Change) -> None:
    """Assert that frames outside the stated range are bitwise the same, without and with the residual."""
    assert 0 <= change.first <= change.keyed.n_frames and change.last < change.keyed.n_frames
    for residual in (0.0, 1.0) if before.residual is not None else (0.0,):
        old, new = samples(before, residual), samples(change.keyed, residual)
        assert old[: change.first].tobytes() == new[: change.first].tobytes()
        behind = len(new) - 1 - change.last
        assert old[len(old) - behind :].tobytes() == new[len(new) - behind :].tobytes()


def assert_sound(keyed: KeyedMotion) -> None:
    """Assert that samples at keys are the keys, and that quaternion cubics stay away from zero."""
    at_keys = keyed.sample(frames=keyed.keys)
    for k, pose in enumerate(keyed.poses):
        assert (at_keys.rotations[k] == pose.rotations).all() and (at_keys.translations[k] == pose.translations).all()
    if keyed.rotation_orders is None and keyed.is_cubic:
        frames = np.linspace(0, keyed.n_frames - 1, 8 * keyed.n_frames)
        assert np.linalg.norm(keyed.rotations.at(SpanPosition.locate(keyed.keys, frames)), axis=-1).min() > 0.25


def max_distance_mm(keyed: KeyedMotion, a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest distance between two sets of points, in mm on a figure of 1.7 m."""
    return float(np.linalg.norm(a - b, axis=-1).max() * keyed.sample().mm_per_unit)
