"""Joints as Blender shows them, places and turns in the world, as local poses of a skeleton."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.formats.base import Source
from keypose.formats.child import Facts
from keypose.model import Skeleton
from keypose.rotations import angle_between, conjugate, multiply, normalise, rotate

_END = "_end"
_STILL_RAD = 1e-3


def checked_parents(source: Source, facts: Facts, joints: int) -> Ints:
    """The parent (J,) of each joint."""
    parents = facts.get("parents")
    if not isinstance(parents, list) or len(parents) != joints:
        raise source.error("not one parent for each joint")
    if not all(type(p) is int and -1 <= p < j for j, p in enumerate(parents)):
        raise source.error("a joint comes before its parent, expected parents first")
    return np.array(parents, np.int32)


def local_poses(parents: Ints, world: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Local translations and rotations of world positions (..., J, 3) and rotations (..., J, 4)."""
    child = np.flatnonzero(parents >= 0)
    above = parents[child]
    back = conjugate(turns[..., above, :])
    translations, rotations = world.copy(), turns.copy()
    translations[..., child, :] = rotate(back, world[..., child, :] - world[..., above, :])
    rotations[..., child, :] = normalise(multiply(back, turns[..., child, :]))
    return translations, rotations


def with_end_sites(
    names: list[str], parents: Ints, translations: Floats, rotations: Floats, offsets: Floats
) -> tuple[Skeleton, Ints]:
    """The skeleton with leaves that only mark the end of a limb as end sites, and the joints that are left."""
    inner = set(parents.tolist())
    size = float(np.abs(offsets).max())
    moves = np.ptp(translations, axis=0).max(axis=1) > 1e-4 * size
    turning = angle_between(rotations, np.broadcast_to(rotations[:1], rotations.shape)).max(axis=0) > _STILL_RAD
    is_end: Bools = np.array(
        [
            parent >= 0 and name == names[parent] + _END and j not in inner and not moves[j] and not turning[j]
            for j, (name, parent) in enumerate(zip(names, parents.tolist(), strict=True))
        ]
    )
    kept, ends = np.flatnonzero(~is_end).astype(np.int32), np.flatnonzero(is_end)
    place = np.full(len(names), -1)
    place[kept] = np.arange(len(kept))
    above = parents[kept]
    skeleton = Skeleton(
        names=tuple(names[j] for j in kept.tolist()),
        parents=np.where(above >= 0, place[np.maximum(above, 0)], -1).astype(np.int32),
        offsets=offsets[kept],
        end_offsets=offsets[ends].reshape(-1, 3),
        end_joints=place[parents[ends]].astype(np.int32),
    )
    return skeleton, kept
