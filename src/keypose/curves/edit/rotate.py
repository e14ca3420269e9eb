"""Rotate a joint at a key."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.curves.edit.arguments import find_key, parse_rotation
from keypose.curves.edit.change import Change
from keypose.curves.edit.offset import offset_key
from keypose.curves.edit.poses import key_world_pose
from keypose.model import KeyedMotion
from keypose.rotations import conjugate, rotate
from keypose.validation import check_choice

Space: TypeAlias = Literal["local", "parent", "world"]
SPACES: tuple[Space, ...] = get_args(Space)


def rotate_joint(
    keyed: KeyedMotion,
    frame: Any,
    joint: str,
    *,
    euler_degrees: ArrayLike | None = None,
    order: str = "XYZ",
    axis: ArrayLike | None = None,
    degrees: float | None = None,
    quaternion: ArrayLike | None = None,
    space: Space = "local",
    spread_s: float = 0.0,
) -> Change:
    """Rotate a joint at the key at ``frame``, about its own axes, its parent's or the world's, the shorter way.

    The rotation is ``euler_degrees`` (3,) in intrinsic ``order``, ``degrees`` about ``axis`` (3,), or a ``quaternion``
    (4,). A world rotation is spread as the rotation in the parent's frame that it is at the key.
    """
    check_choice("space", space, SPACES)
    key, j = find_key(keyed, frame), keyed.skeleton.joint(joint)
    rotation_vector = parse_rotation(euler_degrees, order, axis, degrees, quaternion)
    parent = int(keyed.skeleton.parents[j])
    if space == "world" and parent >= 0:
        rotation_vector = rotate(conjugate(key_world_pose(keyed, key).rotations[parent]), rotation_vector)
    rotation_vectors = np.zeros((keyed.n_joints, 3))
    rotation_vectors[j] = rotation_vector
    return offset_key(keyed, key, rotation_vectors=rotation_vectors, in_parent=space != "local", spread_s=spread_s)
