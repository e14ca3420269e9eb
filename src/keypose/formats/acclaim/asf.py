"""Read ASF, the skeleton file of an Acclaim pair: bones, their axes and their degrees of freedom.

A bone starts where its parent ends and runs ``length`` along ``direction``; here a joint is the start of a bone and has
the bone's name, the root is a joint of its own, and a bone without children gets an end site. Directions and axes are
in world axes of the rest pose, so every rest rotation but the root's is the identity. Angles are those about X, Y and Z
and rotate about fixed axes in the order that is written (extrinsic): ``axis 10 20 30 XYZ`` is
``C = Rz(30) Ry(20) Rx(10)``.

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
    """A skeleton and what is needed to compute its poses from the values of an AMC. Joint 0 is the root."""

    path: Path
    skeleton: Skeleton
    dof: tuple[tuple[str, ...], ...]  # (J,) the values of each joint in an AMC: "tx" ... "rz", "l"
    axes: Floats  # (J, 4) wxyz: the frame of a bone's values
    directions: Floats  # (J, 3) unit vectors from a bone's start to its end
    degrees: bool
    metres_per_unit: float | None


def read_skeleton(source: Source) -> AcclaimSkeleton:
    """Read the skeleton of an ASF file."""
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
        axes=_axis_rotations(joints, t.degrees),
        directions=directions,
        degrees=t.degrees,
        metres_per_unit=METRES_PER_INCH / t.length_unit if t.length_unit is not None else None,
    )


def _axis_rotations(joints: list[Bone], degrees: bool) -> Floats:
    """Return the unit quaternions (J, 4) of the axes: rotations about fixed axes, the first written applied first."""
    axis_angles = np.array([bone.axis for bone in joints])
    angles = np.deg2rad(axis_angles) if degrees else axis_angles
    rotations = np.empty((len(joints), 4))
    orders = np.array([bone.axis_order for bone in joints])
    for order in set(orders.tolist()):
        intrinsic = order[::-1]
        rotations[orders == order] = from_euler(
            angles[orders == order][:, [AXES.index(a) for a in intrinsic]], intrinsic
        )
    return rotations


def _channels(joints: list[Bone], parents: list[int]) -> tuple[tuple[str, ...], ...]:
    """Return the channels of each joint: all three rotations, as one about a bone's own axis is several about its
    parent's; positions for the root and for joints that their bone's values or a stretching parent move.
    """
    channels = []
    for bone, parent in zip(joints, parents, strict=True):
        moves = parent < 0 or STRETCH in joints[parent].dof or any(d in TRANSLATIONS for d in bone.dof)
        rotations = tuple(f"{axis}rotation" for axis in bone.order)
        channels.append((POSITION_CHANNELS if moves else ()) + rotations)
    return tuple(channels)


def _bone_vectors(source: Source, joints: list[Bone]) -> tuple[Floats, Floats]:
    """Return unit directions (J, 3), and vectors (J, 3) from the start of each bone to its end."""
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
    """Return the root and its bones, each after its parent, without recursion."""
    children: dict[str, list[str]] = {}
    for child, (parent, _) in t.parents.items():
        children.setdefault(parent, []).append(child)
    joints, depths = [], {ROOT: 1}
    stack = [ROOT]
    while stack:
        name = stack.pop()
        joints.append(t.bones[name] if name != ROOT else t.root)
        for child in reversed(children.get(name, [])):
            depths[child] = depths[name] + 1
            source.check_depth(depths[child], line=t.parents[child][1])
            stack.append(child)
    for name, bone in t.bones.items():  # each has one parent at most, so one that is not reached has none
        if name not in t.parents:
            raise source.error(f"bone {name!r} is in no line of :hierarchy, expected a parent for it", line=bone.line)
    for name, (_, line) in t.parents.items():  # ... or is in a cycle
        if name not in depths:
            raise source.error(f"bone {name!r} is its own ancestor or hangs on one that is", line=line)
    return joints
