"""Channels: the per-frame values of a motion to which curves are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.model import Motion, Skeleton
from keypose.rotations import ORDERS, align_signs, angle_between, to_euler, unwrap_euler

RotationKind: TypeAlias = Literal["quaternion", "euler"]
ROTATION_KINDS: tuple[RotationKind, ...] = get_args(RotationKind)

POP_RAD = np.pi / 2
MAX_POP_S = 0.1


@dataclass(frozen=True)
class Channels:
    """The values of every frame, continuous in each column."""

    translations: Floats  # (T, J, 3)
    rotations: Floats  # (T, J, 4) quaternions, or (T, J, 3) Euler angles in radians
    rotation_orders: tuple[str, ...] | None


def build_channels(motion: Motion, rotation_kind: RotationKind = "quaternion") -> Channels:
    """Return the channels of a motion, with pops of leaf joints (thumbs, finger tips) removed."""
    rotations = remove_pops(motion.rotations, leaf_joints(motion.skeleton), motion.fps)
    if rotation_kind == "quaternion":
        return Channels(motion.translations, align_signs(rotations), None)
    orders, angles = choose_rotation_orders(rotations)
    return Channels(motion.translations, angles, orders)


def leaf_joints(skeleton: Skeleton) -> Bools:
    """Return flags (J,) of the joints without children: their rotations move no other joint."""
    flags = np.ones(skeleton.n_joints, bool)
    flags[skeleton.parents[skeleton.parents >= 0]] = False
    return flags


def remove_pops(rotations: Floats, joints: Bools, fps: float) -> Floats:
    """Return ``rotations`` (T, J, 4) with pops of the flagged ``joints`` (J,) replaced by the rotation before them.

    A pop is a jump by over 90 degrees that returns within ``MAX_POP_S``.
    """
    max_frames = max(1, round(MAX_POP_S * fps))
    steps = angle_between(rotations[:-1, joints], rotations[1:, joints]) > POP_RAD
    if not steps.any():
        return rotations
    repaired = rotations.copy()
    columns = np.flatnonzero(joints)
    for column in np.flatnonzero(steps.any(axis=0)).tolist():
        curve = repaired[:, columns[column]]
        for jump in np.flatnonzero(steps[:, column]).tolist():
            before, after = curve[jump], curve[jump + 1 : jump + 2 + max_frames]
            is_back = angle_between(np.broadcast_to(before, after.shape), after) <= POP_RAD
            if is_back.any():
                curve[jump + 1 : jump + 1 + int(np.argmax(is_back))] = before
    return repaired


def choose_rotation_orders(rotations: Floats) -> tuple[tuple[str, ...], Floats]:
    """Return for each joint the Euler order whose middle angle stays farthest from gimbal lock, and the angles.

    The angles (T, J, 3) are in radians and unwrapped.
    """
    candidates = np.stack([to_euler(rotations, order) for order in ORDERS])  # (6, T, J, 3)
    best = np.abs(candidates[..., 1]).max(axis=1).argmin(axis=0)  # (J,)
    angles = np.stack([candidates[order, :, j] for j, order in enumerate(best.tolist())], axis=1)
    return tuple(ORDERS[order] for order in best.tolist()), unwrap_euler(angles)
