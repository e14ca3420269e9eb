"""ASF, the skeleton half of Acclaim's pair of files: bones, their axes, and what of each an AMC moves.

A bone starts where its parent ends and runs ``length`` along ``direction``; here a joint is the start of
a bone and carries the bone's name, the root is a joint of its own, and a bone without children gets an
end site. Directions and axes are given in the world of the rest pose, so every rest rotation but the
root's is the identity. Angles are those about X, Y and Z and turn about fixed axes in the order that is
written (extrinsic): ``axis 10 20 30 XYZ`` is ``C = Rz(30) Ry(20) Rx(10)``.

The length unit is a divisor to inches, as CMU and the format's own example use it: ``length 0.45``
makes one file unit 1/0.45 inch = 0.05644 m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from keypose.arrays import Floats
from keypose.formats.acclaim.asf_text import METRES_PER_INCH, ROOT, STRETCH, TRANSLATIONS, AsfText, Bone, read_text
from keypose.formats.base import Source
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import AXES, from_euler


@dataclass(frozen=True, eq=False)
class AcclaimSkeleton:
    """A skeleton and all that is needed to turn an AMC's values into its poses. Joint 0 is the root."""

    path: Path
    skeleton: Skeleton
    dof: tuple[tuple[str, ...], ...]  # (J,) the values of each joint in an AMC: "tx" ... "rz", "l"
    axes: Floats  # (J, 4) wxyz: the frame in which a bone's values are meant
    directions: Floats  # (J, 3) unit vectors from a bone's start to its end
    degrees: bool
    metres_per_unit: float | None


def read_skeleton(source: Source) -> AcclaimSkeleton:
    """The skeleton that an ASF file describes."""
    t = read_text(source)
    joints = _joints_parents_first(source, t)
    index = {bone.name: j for j, bone in enumerate(joints)}
    parents = [-1] + [index[t.parents[bone.name][0]] for bone in joints[1:]]
    directions, vectors = _bone_vectors(source, joints)
    offsets = np.array([t.position] + [vectors[parent] for parent in parents[1:]])
    leaves = sorted(set(range(1, len(joints))) - set(parents))
    return AcclaimSkeleton(
        path=source.path,
        skeleton=Skeleton(
            names=tuple(index),
            parents=np.array(parents, np.int32),
            offsets=offsets,
            rotation_orders=tuple(bone.order for bone in joints),
            channels=_channels(joints, parents),
            end_offsets=vectors[leaves],
            end_joints=np.array(leaves, np.int32),
        ),
        dof=tuple(bone.dof for bone in joints),
        axes=_axis_turns(joints, t.degrees),
        directions=directions,
        degrees=t.degrees,
        metres_per_unit=METRES_PER_INCH / t.length_unit if t.length_unit is not None else None,
    )


def _axis_turns(joints: list[Bone], degrees: bool) -> Floats:
    """The unit quaternions (J, 4) of the axes: turns about fixed axes, the first written applied first."""
    given = np.array([bone.axis for bone in joints])
    angles = np.deg2rad(given) if degrees else given
    turns = np.empty((len(joints), 4))
    orders = np.array([bone.axis_order for bone in joints])
    for order in set(orders.tolist()):
        intrinsic = order[::-1]
        turns[orders == order] = from_euler(angles[orders == order][:, [AXES.index(a) for a in intrinsic]], intrinsic)
    return turns


def _channels(joints: list[Bone], parents: list[int]) -> tuple[tuple[str, ...], ...]:
    """All three turns for every joint: one turn about a bone's own axis is several about its parent's.

    The root has positions too, and so has a joint that its bone's values or a stretching parent move.
    """
    channels = []
    for bone, parent in zip(joints, parents, strict=True):
        moves = parent < 0 or STRETCH in joints[parent].dof or any(d in TRANSLATIONS for d in bone.dof)
        turns = tuple(f"{axis}rotation" for axis in bone.order)
        channels.append((POSITION_CHANNELS if moves else ()) + turns)
    return tuple(channels)


def _bone_vectors(source: Source, joints: list[Bone]) -> tuple[Floats, Floats]:
    """Unit directions (J, 3), and vectors (J, 3) from the start of each bone to its end."""
    directions, vectors = np.zeros((2, len(joints), 3))
    for j, bone in enumerate(joints):
        if bone.direction is None or bone.length is None:
            missing = "direction" if bone.direction is None else "length"
            raise source.error(f"bone {bone.name!r} has no {missing}", line=bone.line)
        norm = math.hypot(*bone.direction)
        if norm == 0.0 and bone.length != 0.0:
            raise source.error(f"bone {bone.name!r} has length {bone.length:g} but direction 0 0 0", line=bone.line)
        if not math.isfinite(norm):
            raise source.error(f"bone {bone.name!r} has a direction too long to compute with", line=bone.line)
        if norm > 0.0:
            directions[j] = [d / norm for d in bone.direction]
        vectors[j] = directions[j] * bone.length
    return directions, vectors


def _joints_parents_first(source: Source, t: AsfText) -> list[Bone]:
    """The root and its bones, each after its parent, without recursion."""
    children: dict[str, list[str]] = {}
    for child, (parent, _) in t.parents.items():
        children.setdefault(parent, []).append(child)
    joints, depths = [], {ROOT: 1}
    waiting = [ROOT]
    while waiting:
        name = waiting.pop()
        joints.append(t.bones[name] if name != ROOT else t.root)
        for child in reversed(children.get(name, [])):
            depths[child] = depths[name] + 1
            source.check_depth(depths[child], line=t.parents[child][1])
            waiting.append(child)
    for name, bone in t.bones.items():  # each has one parent at most, so what is not reached hangs on nothing
        if name not in t.parents:
            raise source.error(f"bone {name!r} is in no line of :hierarchy, expected a parent for it", line=bone.line)
    for name, (_, line) in t.parents.items():  # ... or runs in a circle
        if name not in depths:
            raise source.error(f"bone {name!r} is its own ancestor or hangs on one that is", line=line)
    return joints
