"""Poses of keys: in the world, and setting another one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.curves.edit.arguments import find_key
from keypose.curves.edit.change import Change
from keypose.curves.edit.offset import offset_key
from keypose.errors import OptionError
from keypose.kinematics import up_axis
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.rotations import conjugate, log, multiply
from keypose.validation import check_bool


class WorldPose(NamedTuple):
    """One or many poses in world space."""

    positions: Floats  # (..., J, 3) file units
    rotations: Floats  # (..., J, 4) wxyz


def key_world_pose(keyed: KeyedMotion, key: int) -> WorldPose:
    """Return the pose of one key in the world."""
    return world_pose(keyed.skeleton, key_pose(keyed, key))


def key_pose(keyed: KeyedMotion, key: int) -> Pose:
    """Return the pose of one key."""
    return keyed.pose(float(keyed.keys[key]))


def world_pose(skeleton: Skeleton, pose: Pose) -> WorldPose:
    """Return a pose of ``skeleton`` in the world."""
    positions, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return WorldPose(positions[0], rotations[0])


def paste(
    keyed: KeyedMotion,
    frame: Any,
    pose: Pose,
    *,
    joints: str | tuple[str, ...] | list[str] = "all",
    keep_position: bool = True,
    spread_s: float = 0.0,
) -> Change:
    """Return a change that sets the pose of the key at ``frame``, or some joints of it.

    With ``keep_position`` the hips keep their position on the ground; their height and rotation are part of the pose.
    """
    key, indices = find_key(keyed, frame), list(keyed.skeleton.joints(joints))
    if not isinstance(pose, Pose):
        raise OptionError(f"{type(pose).__name__} is no pose; edit.copy(frame) or motion[frame] is one")
    if len(pose.translations) != keyed.n_joints:
        raise OptionError(f"a pose of {len(pose.translations)} joints, expected {keyed.n_joints}")
    old_pose = key_pose(keyed, key)
    translations, rotations = old_pose.translations.copy(), old_pose.rotations.copy()
    translations[indices], rotations[indices] = pose.translations[indices], pose.rotations[indices]
    roots = [root for root in keyed.skeleton.roots if root in indices]
    if check_bool("keep_position", keep_position) and roots:
        new_positions = world_pose(keyed.skeleton, Pose(translations, rotations)).positions
        shift = new_positions - key_world_pose(keyed, key).positions
        correction = -shift[base_joints(keyed.skeleton)].mean(axis=0)
        correction[up_axis(keyed.up)[0]] = 0.0
        translations[roots] += correction
    return set_pose(keyed, key, Pose(translations, rotations), spread_s=spread_s)


def set_pose(keyed: KeyedMotion, key: int, pose: Pose, *, spread_s: float = 0.0) -> Change:
    """Return a change that sets the pose of a key; joints that have it already are exact copies."""
    old_pose = key_pose(keyed, key)
    is_same = (old_pose.rotations == pose.rotations).all(axis=1) | (old_pose.rotations == -pose.rotations).all(axis=1)
    rotation_vectors = np.where(is_same[:, None], 0.0, log(multiply(conjugate(old_pose.rotations), pose.rotations)))
    return offset_key(
        keyed,
        key,
        rotation_vectors=rotation_vectors,
        shifts=pose.translations - old_pose.translations,
        spread_s=spread_s,
    )


def base_joints(skeleton: Skeleton) -> list[int]:
    """Return the joints that define the position of a figure: its hips, or else its roots."""
    body_parts = skeleton.anatomy.body_parts
    return [body_parts.index("hips")] if "hips" in body_parts else list(skeleton.roots)
