"""Mirror a pose: swap left and right about the figure's upright middle plane.

Relative to the rest pose a joint is rotated by ``g`` in the world. Mirrored, its partner is rotated by ``n g r``, where
``r`` is the normal of the rest pose's middle plane and ``n`` that of the mirror, both as quaternions without a real
part: two reflections and the rotation between them. The axes of the joints are arbitrary, but the rest pose must be
symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.curves.edit.change import Change, find_key
from keypose.curves.edit.directions import any_orthogonal, unit_vectors
from keypose.curves.edit.poses import WorldPose, base_joints, key_pose, paste, world_pose
from keypose.errors import OptionError, format_count
from keypose.kinematics import up_axis
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, rotate

# Maximum distance of a joint of the rest pose from the mirror image of its partner, as a share of the extent.
MAX_ASYMMETRY = 0.1
SNAP_COSINE = np.cos(np.deg2rad(5.0))  # a middle plane within 5 degrees of an axis plane is snapped to it
MIN_LEVEL_PART = 0.1  # minimum level part of the direction from right to left that defines the mirror plane


@dataclass(frozen=True)
class Symmetry:
    """The symmetry of a rest pose about its middle plane."""

    rest_pose: Pose
    world: WorldPose
    normal: Floats  # (3,) from right to left
    partners: list[int]
    asymmetry: float  # share of the figure's extent


def mirror(
    keyed: KeyedMotion,
    frame: Any,
    *,
    joints: str | tuple[str, ...] | list[str] = "all",
    spread_s: float = 0.0,
) -> Change:
    """Return the key at ``frame`` with its own pose mirrored, or some joints of it."""
    pose = mirror_pose(keyed, key_pose(keyed, find_key(keyed, frame)))
    return paste(keyed, frame, pose, joints=joints, keep_position=False, spread_s=spread_s)


def mirror_pose(keyed: KeyedMotion, pose: Pose) -> Pose:
    """Return ``pose`` with left and right swapped; the hips keep their position and heading."""
    if len(pose.translations) != keyed.n_joints:
        raise OptionError(f"a pose of {format_count(len(pose.translations), 'joint')}", expected=f"{keyed.n_joints}")
    skeleton, symmetry = keyed.skeleton, find_symmetry(keyed.name, keyed.skeleton, keyed.reference_pose)
    world, rest_world = world_pose(skeleton, pose), symmetry.world
    rotations_from_rest = multiply(
        world.rotations, conjugate(rest_world.rotations)
    )  # from the rest pose to the pose, in the world
    hips = base_joints(skeleton)[0]
    normal = _mirror_normal(keyed, rotations_from_rest[hips], symmetry.normal)
    image = multiply(multiply(_pure_quaternion(normal), rotations_from_rest), _pure_quaternion(symmetry.normal))[
        symmetry.partners
    ]
    world_rotations = normalise(multiply(image, rest_world.rotations))
    rotations, translations = world_rotations.copy(), symmetry.rest_pose.translations.copy()
    for j, parent in enumerate(skeleton.parents.tolist()):
        partner = symmetry.partners[j]
        partner_parent = int(skeleton.parents[partner])
        if parent < 0:
            position = _reflect(world.positions[partner] - world.positions[hips], normal) + world.positions[hips]
            translations[j] = position if j != hips else pose.translations[j]
            continue
        rotations[j] = normalise(multiply(conjugate(world_rotations[parent]), world_rotations[j]))
        offset = pose.translations[partner] - symmetry.rest_pose.translations[partner]
        if offset.any():  # the partner of a joint that is offset from the rest pose gets the mirrored offset
            mirrored_offset = _reflect(
                rotate(rest_world.rotations[partner_parent], offset) if partner_parent >= 0 else offset, symmetry.normal
            )
            translations[j] += rotate(conjugate(rest_world.rotations[parent]), mirrored_offset)
    return Pose(translations, rotations)


def find_symmetry(name: str, skeleton: Skeleton, reference_pose: Pose | None) -> Symmetry:
    """Return the symmetry of the rest pose (identity rotations) or of the reference pose, whichever is better."""
    if len(skeleton.roots) > 1:
        raise OptionError(
            f"{len(skeleton.roots)} joints have no parent", subject=name, hint="mirroring needs one figure"
        )
    best = _measure_symmetry(skeleton, Pose(skeleton.offsets, np.tile(IDENTITY, (skeleton.n_joints, 1))))
    if reference_pose is not None:
        other = _measure_symmetry(skeleton, reference_pose)
        if other.asymmetry < 0.5 * best.asymmetry:
            best = other
    if best.asymmetry > MAX_ASYMMETRY:
        raise OptionError(
            f"left and right of its rest pose differ by {best.asymmetry:.0%} of its extent",
            subject=name,
            hint=f"up to {MAX_ASYMMETRY:.0%} can be mirrored",
        )
    return best


def _measure_symmetry(skeleton: Skeleton, rest_pose: Pose) -> Symmetry:
    partners = list(skeleton.anatomy.mirror_partners())
    body_parts = skeleton.anatomy.body_parts
    left_joints = [
        j for j, part in enumerate(body_parts) if part is not None and part.startswith("left_") and partners[j] != j
    ]
    world = world_pose(skeleton, rest_pose)
    if not left_joints:
        raise OptionError("no joint is recognised as left or right, so that nothing can be mirrored", code="no_body")
    normal = unit_vectors(
        (world.positions[left_joints] - world.positions[[partners[j] for j in left_joints]]).sum(axis=0)
    )
    axis = int(np.argmax(np.abs(normal)))
    if abs(normal[axis]) > SNAP_COSINE:
        normal = np.eye(3)[axis] * np.sign(normal[axis])
    relative = world.positions - world.positions[base_joints(skeleton)[0]]
    distance = (
        np.linalg.norm(_reflect(relative, normal) - relative[partners], axis=-1).max() if normal.any() else np.inf
    )
    extent = float(np.ptp(world.positions, axis=0).max())
    return Symmetry(rest_pose, world, normal, partners, float(distance) / extent if extent > 0 else np.inf)


def _mirror_normal(keyed: KeyedMotion, hips_rotation: Floats, rest_normal: Floats) -> Floats:
    """Return the level normal (3,) of the mirror: left of the hips or, if that points up, orthogonal to the spine."""
    up = up_axis(keyed.up)[0]
    level = rotate(hips_rotation, rest_normal)
    level[up] = 0.0
    if np.linalg.norm(level) > MIN_LEVEL_PART:
        return unit_vectors(level)
    # the figure lies on its side: the mirror plane is along the body
    normal = np.cross(np.eye(3)[up], rotate(hips_rotation, np.eye(3)[up]))
    return unit_vectors(normal) if np.linalg.norm(normal) > MIN_LEVEL_PART else any_orthogonal(np.eye(3)[up])


def _reflect(v: Floats, normal: Floats) -> Floats:
    image: Floats = v - 2.0 * (v @ normal)[..., None] * normal
    return image


def _pure_quaternion(v: Floats) -> Floats:
    return np.concatenate(((0.0,), v))
