"""The rig for Blender: bones with heads, tails and rolls at rest, Z up, and a visible body.

The channels of a bone are relative to its rest axes. Bones along limbs, as an animator expects them, have other axes
than their joints; for quaternion curves the conversion is a linear map. Euler angles are only preserved in the axes of
the joints. Therefore the rest axes of bones with Euler angles are those of the joints, all upright, and custom shapes
draw these bones along their limbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats
from keypose.formats.figure import SIDES, Figure, bind_pose, build_figure, world_pose
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.formats.subprocess_readers import Arrays
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, from_matrix, multiply, rotate, to_matrix

MIN_BONE_OF_SIZE = 1e-3  # a child that is nearer is at the same position
SHORT_BONE_OF_SIZE = 0.04  # length of the bone of a joint without a target
TIP_OF_BONE = 0.5  # of a leaf joint without an end site: length relative to its parent's bone
MAX_TIP_OF_SIZE = 0.1


@dataclass(frozen=True)
class Rig:
    """A skeleton at rest in Blender's world, Z up."""

    skeleton: Skeleton
    rest: Pose  # the pose in which its bones rest, in the file's axes and unit
    scale: float  # Blender's units per file unit
    world_rotations: Floats  # (J, 4) of the joints at rest
    heads: Floats  # (J, 3)
    tails: Floats  # (J, 3)
    normals: Floats  # (J, 3) the third axis of each bone
    limb_vectors: Floats  # (J, 3) from each joint to the end of its limb
    body: Figure  # in Blender's world

    @property
    def sides(self) -> list[str]:
        """The side of the body that each joint is on."""
        return [_side(body_part) for body_part in self.skeleton.anatomy.body_parts]

    def arrays(self) -> Arrays:
        """Return the arrays for the script in the child process."""
        triangles = self.body.triangles
        materials = [np.full(len(faces), k) for k, faces in enumerate(triangles.values())]
        return {
            "heads": self.heads,
            "tails": self.tails,
            "normals": self.normals,
            "limb_vectors": self.limb_vectors,
            "world_rotations": self.world_rotations,
            "rest_rotations": self.rest.rotations,
            "rest_translations": self.rest.translations * self.scale,
            "vertices": self.body.positions,
            "joint_of_vertex": self.body.joints,
            "triangles": np.concatenate(list(triangles.values())),
            "material_of_triangle": np.concatenate(materials),
        }


def build_rig(motion: Motion, scale: float, *, along_limbs: bool, keep_angles: bool = False) -> Rig:
    """Build the rig of a motion at ``scale``. ``keep_angles``: the joints are not rotated at rest, so that Euler angles
    are preserved."""
    rest = _unrotated_pose(motion) if keep_angles else bind_pose(motion)
    s = motion.skeleton
    z_up = rotation_to_z_up(motion.up)
    world_positions, world_rotations, ends = world_pose(s, rest)
    size = (
        motion.height or float(np.ptp(np.concatenate((world_positions, ends)), axis=0).max()) or 1.0 / scale
    ) * scale
    body = build_figure(s, world_positions, ends, size / scale)
    world_rotations = multiply(z_up, world_rotations)
    heads, ends = rotate(z_up, world_positions) * scale, rotate(z_up, ends) * scale
    limb_vectors = _limb_vectors(s, heads, ends, size)
    if along_limbs:
        axes, normals = limb_vectors, _normals(limb_vectors)
    else:
        lengths = np.linalg.norm(limb_vectors, axis=1, keepdims=True)
        axes, normals = (
            rotate(world_rotations, np.array((0.0, 1.0, 0.0))) * lengths,
            rotate(world_rotations, np.array((0.0, 0.0, 1.0))),
        )
    return Rig(
        skeleton=s,
        rest=rest,
        scale=scale,
        world_rotations=world_rotations,
        heads=heads,
        tails=heads + axes,
        normals=normals,
        limb_vectors=limb_vectors,
        body=replace(body, positions=rotate(z_up, body.positions) * scale),
    )


def rotation_to_z_up(up: Up) -> Floats:
    """Return the rotation (4,) that brings ``up`` to Blender's Z; with Y up, Z becomes Blender's front."""
    to_y, to_z = (np.rint(to_matrix(np.array(q))) for q in (ROTATION_TO_Y_UP[up], ROTATION_TO_Y_UP["-Z"]))
    return from_matrix(to_z @ to_y)


def _unrotated_pose(motion: Motion) -> Pose:
    """Return the bind pose with every rotation the identity."""
    bind = bind_pose(replace(motion, reference_pose=None))
    return Pose(bind.translations, np.tile(IDENTITY, (motion.n_joints, 1)))


def _side(body_part: str | None) -> str:
    side = (body_part or "").split("_")[0]
    return side if side in SIDES else "middle"


def _limb_vectors(skeleton: Skeleton, heads: Floats, ends: Floats, size: float) -> Floats:
    """Return the vectors (J, 3) from each joint to the joint or end site that its bone points at."""
    sides = [_side(body_part) for body_part in skeleton.anatomy.body_parts]
    targets: list[list[tuple[str, Floats]]] = [[] for _ in heads]
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            targets[parent].append((sides[j], heads[j] - heads[parent]))
    leaf = [not joint_targets for joint_targets in targets]
    for j, end in zip(skeleton.end_joints.tolist(), ends, strict=True):
        if leaf[j]:
            targets[j].append((sides[j], end - heads[j]))
    vectors = np.zeros(heads.shape)
    for j, parent in enumerate(skeleton.parents.tolist()):
        far_targets = [(side, v) for side, v in targets[j] if np.linalg.norm(v) > MIN_BONE_OF_SIZE * size]
        vector = _main_direction(far_targets, MIN_BONE_OF_SIZE * size)
        vectors[j] = (
            vector if vector is not None else _tip_vector(vectors[parent] if parent >= 0 else None, leaf[j], size)
        )
    return vectors


def _main_direction(targets: Sequence[tuple[str, Floats]], min_length: float) -> Floats | None:
    """Return the vector to the only target in the middle of the body, else to the mean of all targets."""
    if not targets:
        return None
    middle = [v for side, v in targets if side == "middle"]
    if len(middle) == 1:
        return middle[0]
    mean = np.mean([v for _, v in targets], axis=0)
    return mean if np.linalg.norm(mean) > min_length else targets[0][1]


def _tip_vector(parent_vector: Floats | None, is_leaf: bool, size: float) -> Floats:
    """Return the bone vector of a joint without a target: along its parent's bone, upward for a root."""
    if parent_vector is None:
        return np.array((0.0, 0.0, SHORT_BONE_OF_SIZE * size))
    length = float(np.linalg.norm(parent_vector))
    tip_length = (
        min(TIP_OF_BONE * length, MAX_TIP_OF_SIZE * size) if is_leaf else min(length, SHORT_BONE_OF_SIZE * size)
    )
    return parent_vector / length * tip_length


def _normals(axes: Floats) -> Floats:
    """Return the third axes (J, 3) of bones along ``axes``: the first axis points sideways, else the third upward."""
    y = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    z = np.cross((1.0, 0.0, 0.0), y)
    sideways = np.linalg.norm(z, axis=1, keepdims=True) < 0.5
    z = np.where(sideways, np.array((0.0, 0.0, 1.0)) - y[:, 2:] * y, z)
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))
