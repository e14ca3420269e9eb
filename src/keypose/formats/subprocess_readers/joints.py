"""Convert world positions and rotations of Blender's bones to local poses of a skeleton."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.formats.base import Source
from keypose.formats.subprocess_readers import Facts
from keypose.model import Skeleton
from keypose.rotations import angle_between, conjugate, multiply, normalise, rotate

_END = "_end"
_STILL_RAD = 1e-3


def read_parents(source: Source, facts: Facts, joints: int) -> Ints:
    """Return the parent (J,) of each joint; raise FormatError unless parents come first."""
    parents = facts.get("parents")
    if not isinstance(parents, list) or len(parents) != joints:
        raise source.error("not one parent for each joint", code="inconsistent")
    if not all(type(p) is int and -1 <= p < j for j, p in enumerate(parents)):
        raise source.error("a joint comes before its parent", code="inconsistent", expected="parents first")
    return np.array(parents, np.int32)


def compute_local_poses(parents: Ints, world_positions: Floats, world_rotations: Floats) -> tuple[Floats, Floats]:
    """Return local translations and rotations of world positions (..., J, 3) and rotations (..., J, 4)."""
    child = np.flatnonzero(parents >= 0)
    parent = parents[child]
    parent_inverse = conjugate(world_rotations[..., parent, :])
    translations, rotations = world_positions.copy(), world_rotations.copy()
    translations[..., child, :] = rotate(
        parent_inverse, world_positions[..., child, :] - world_positions[..., parent, :]
    )
    rotations[..., child, :] = normalise(multiply(parent_inverse, world_rotations[..., child, :]))
    return translations, rotations


def build_skeleton(
    names: list[str], parents: Ints, translations: Floats, rotations: Floats, offsets: Floats
) -> tuple[Skeleton, Ints]:
    """Return the skeleton and the indices of its joints; leaves ``NAME_end`` that never move become end sites."""
    inner = set(parents.tolist())
    size = float(np.abs(offsets).max())
    is_moving = np.ptp(translations, axis=0).max(axis=1) > 1e-4 * size
    is_rotating = angle_between(rotations, np.broadcast_to(rotations[:1], rotations.shape)).max(axis=0) > _STILL_RAD
    is_end: Bools = np.array(
        [
            parent >= 0 and name == names[parent] + _END and j not in inner and not is_moving[j] and not is_rotating[j]
            for j, (name, parent) in enumerate(zip(names, parents.tolist(), strict=True))
        ]
    )
    joints, ends = np.flatnonzero(~is_end).astype(np.int32), np.flatnonzero(is_end)
    index = np.full(len(names), -1)
    index[joints] = np.arange(len(joints))
    joint_parents = parents[joints]
    skeleton = Skeleton(
        names=tuple(names[j] for j in joints.tolist()),
        parents=np.where(joint_parents >= 0, index[np.maximum(joint_parents, 0)], -1).astype(np.int32),
        offsets=offsets[joints],
        end_offsets=offsets[ends].reshape(-1, 3),
        end_joints=index[parents[ends]].astype(np.int32),
    )
    return skeleton, joints
