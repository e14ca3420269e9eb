"""What curves are fitted to: the numbers of every frame that a keyed motion has at its keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.model import Motion, Skeleton
from keypose.rotations import ORDERS, angle_between, sign_continuous, to_euler, unwrap_euler

Turning: TypeAlias = Literal["quaternion", "euler"]
TURNINGS: tuple[Turning, ...] = get_args(Turning)

POP_RAD = np.pi / 2
LONGEST_POP_S = 0.1


@dataclass(frozen=True)
class Channels:
    """Numbers of every frame, each column without jumps."""

    translations: Floats  # (T, J, 3)
    rotations: Floats  # (T, J, 4) quaternions, or (T, J, 3) Euler angles in radians
    rotation_orders: tuple[str, ...] | None


def channels_of(motion: Motion, turning: Turning = "quaternion") -> Channels:
    """The channels of a motion; pops of joints that move nothing (thumbs, finger tips) are held over."""
    turns = without_pops(motion.rotations, leaves(motion.skeleton), motion.fps)
    if turning == "quaternion":
        return Channels(motion.translations, sign_continuous(turns), None)
    orders, angles = best_orders(turns)
    return Channels(motion.translations, angles, orders)


def leaves(skeleton: Skeleton) -> Bools:
    """(J,) the joints on which no other joint hangs: their turns move no joint."""
    flags = np.ones(skeleton.n_joints, bool)
    flags[skeleton.parents[skeleton.parents >= 0]] = False
    return flags


def without_pops(rotations: Floats, joints: Bools, fps: float) -> Floats:
    """``rotations`` (T, J, 4) where a joint that jumps by over 90 degrees and soon comes back holds still instead."""
    longest = max(1, round(LONGEST_POP_S * fps))
    steps = angle_between(rotations[:-1, joints], rotations[1:, joints]) > POP_RAD
    if not steps.any():
        return rotations
    mended = rotations.copy()
    columns = np.flatnonzero(joints)
    for column in np.flatnonzero(steps.any(axis=0)).tolist():
        curve = mended[:, columns[column]]
        for jump in np.flatnonzero(steps[:, column]).tolist():
            before, after = curve[jump], curve[jump + 1 : jump + 2 + longest]
            is_back = angle_between(np.broadcast_to(before, after.shape), after) <= POP_RAD
            if is_back.any():
                curve[jump + 1 : jump + 1 + int(np.argmax(is_back))] = before
    return mended


def best_orders(rotations: Floats) -> tuple[tuple[str, ...], Floats]:
    """For each joint the order of Euler angles whose middle angle stays farthest from the lock, and the angles.

    The angles (T, J, 3) are in radians and unwrapped.
    """
    tried = np.stack([to_euler(rotations, order) for order in ORDERS])  # (6, T, J, 3)
    best = np.abs(tried[..., 1]).max(axis=1).argmin(axis=0)  # (J,)
    angles = np.stack([tried[order, :, j] for j, order in enumerate(best.tolist())], axis=1)
    return tuple(ORDERS[order] for order in best.tolist()), unwrap_euler(angles)
