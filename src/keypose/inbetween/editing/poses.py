"""Poses of keys: where they stand in the world, and giving a key another pose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.nudging import nudged
from keypose.kinematics import up_axis
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.options import flag
from keypose.rotations import conjugate, log, multiply


class World(NamedTuple):
    """A pose, or many, in the world."""

    positions: Floats  # (..., J, 3) file units
    rotations: Floats  # (..., J, 4) wxyz


def world_of(keyed: KeyedMotion, key: int) -> World:
    """The pose of one key in the world."""
    return world_pose(keyed.skeleton, key_pose(keyed, key))


def key_pose(keyed: KeyedMotion, key: int) -> Pose:
    """The pose of one key."""
    return keyed.pose(float(keyed.keys[key]))


def world_pose(skeleton: Skeleton, pose: Pose) -> World:
    """A pose of ``skeleton`` in the world."""
    positions, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return World(positions[0], rotations[0])


def paste(
    keyed: KeyedMotion,
    frame: Any,
    pose: Pose,
    *,
    joints: str | tuple[str, ...] | list[str] = "all",
    keep_place: bool = True,
    spread_s: float = 0.0,
) -> Change:
    """The key at ``frame`` with another pose, or with some joints of it.

    With ``keep_place`` the hips stay over their spot on the ground; their height and turn are part of the pose.
    """
    key, chosen = key_at(keyed, frame), list(keyed.skeleton.joints(joints))
    if not isinstance(pose, Pose):
        raise OptionError(f"{type(pose).__name__} is no pose; edit.copy(frame) or motion[frame] is one")
    if len(pose.translations) != keyed.n_joints:
        raise OptionError(f"a pose of {len(pose.translations)} joints, expected {keyed.n_joints}")
    old = key_pose(keyed, key)
    translations, rotations = old.translations.copy(), old.rotations.copy()
    translations[chosen], rotations[chosen] = pose.translations[chosen], pose.rotations[chosen]
    roots = [root for root in keyed.skeleton.roots if root in chosen]
    if flag("keep_place", keep_place) and roots:
        stands_on = spot(keyed.skeleton)
        moved = world_pose(keyed.skeleton, Pose(translations, rotations)).positions - world_of(keyed, key).positions
        back = -moved[stands_on].mean(axis=0)
        back[up_axis(keyed.up)[0]] = 0.0
        translations[roots] += back
    return with_pose(keyed, key, Pose(translations, rotations), spread_s=spread_s)


def with_pose(keyed: KeyedMotion, key: int, pose: Pose, *, spread_s: float = 0.0) -> Change:
    """The key with another pose; joints that have it already keep their very numbers."""
    old = key_pose(keyed, key)
    same = (old.rotations == pose.rotations).all(axis=1) | (old.rotations == -pose.rotations).all(axis=1)
    turns = np.where(same[:, None], 0.0, log(multiply(conjugate(old.rotations), pose.rotations)))
    return nudged(keyed, key, turns=turns, shifts=pose.translations - old.translations, spread_s=spread_s)


def spot(skeleton: Skeleton) -> list[int]:
    """The joints that say where a figure stands: its hips, or else its roots."""
    parts = skeleton.anatomy.parts
    return [parts.index("hips")] if "hips" in parts else list(skeleton.roots)
