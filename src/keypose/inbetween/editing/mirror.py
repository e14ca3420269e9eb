"""Mirror a pose: left and right exchanged about the figure's own upright middle plane.

Against the rest pose a joint is turned by ``g`` in the world. Seen in the mirror its partner is turned by ``n g r``,
where ``r`` is the normal of the rest pose's middle plane and ``n`` that of the mirror, both as quaternions without a
real part: two reflections and the turn between them. Nothing is asked of the joints' own axes, only that the rest
pose is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.directions import any_square_to, unit
from keypose.inbetween.editing.poses import World, key_pose, paste, spot, world_pose
from keypose.kinematics import up_axis
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, rotate

MOST_ASYMMETRY = 0.1  # of the figure's extent: how far a joint of the rest pose may be from its partner's image
SNAP_COSINE = np.cos(np.deg2rad(5.0))  # a middle plane so near to that of two axes is meant to be it
UPRIGHT_PART = 0.1  # of the way from right to left that must be level for it to tell where the mirror stands


@dataclass(frozen=True)
class Symmetry:
    """A rest pose and its middle plane."""

    rest: Pose
    world: World
    normal: Floats  # (3,) from right to left
    partners: list[int]
    asymmetry: float  # of the figure's extent


def mirror(
    keyed: KeyedMotion,
    frame: Any,
    *,
    joints: str | tuple[str, ...] | list[str] = "all",
    spread_s: float = 0.0,
) -> Change:
    """The key at ``frame`` with its own pose mirrored, or with some joints of that."""
    pose = mirrored(keyed, key_pose(keyed, key_at(keyed, frame)))
    return paste(keyed, frame, pose, joints=joints, keep_place=False, spread_s=spread_s)


def mirrored(keyed: KeyedMotion, pose: Pose) -> Pose:
    """``pose`` with left and right exchanged; the hips stay where they are and face the same way."""
    if len(pose.translations) != keyed.n_joints:
        raise OptionError(f"a pose of {len(pose.translations)} joints, expected {keyed.n_joints}")
    skeleton, symmetry = keyed.skeleton, symmetry_of(keyed.name, keyed.skeleton, keyed.reference_pose)
    world, rest = world_pose(skeleton, pose), symmetry.world
    turned = multiply(world.rotations, conjugate(rest.rotations))  # from rest to pose, in the world
    hips = spot(skeleton)[0]
    normal = _mirror_normal(keyed, turned[hips], symmetry.normal)
    image = multiply(multiply(_pure(normal), turned), _pure(symmetry.normal))[symmetry.partners]
    after = normalise(multiply(image, rest.rotations))
    rotations, translations = after.copy(), symmetry.rest.translations.copy()
    for j, parent in enumerate(skeleton.parents.tolist()):
        partner = symmetry.partners[j]
        above = int(skeleton.parents[partner])
        if parent < 0:
            place = _reflected(world.positions[partner] - world.positions[hips], normal) + world.positions[hips]
            translations[j] = place if j != hips else pose.translations[j]
            continue
        rotations[j] = normalise(multiply(conjugate(after[parent]), after[j]))
        off = pose.translations[partner] - symmetry.rest.translations[partner]
        if off.any():  # a joint that is shifted against the rest pose: its partner is, in the mirror
            seen = _reflected(rotate(rest.rotations[above], off) if above >= 0 else off, symmetry.normal)
            translations[j] += rotate(conjugate(rest.rotations[parent]), seen)
    return Pose(translations, rotations)


def symmetry_of(name: str, skeleton: Skeleton, reference_pose: Pose | None) -> Symmetry:
    """The more symmetric of the rest pose, all turns nothing, and the reference pose, where there is one."""
    if len(skeleton.roots) > 1:
        raise OptionError(f"{name}: {len(skeleton.roots)} joints have no parent; mirroring needs one figure")
    found = _symmetry(skeleton, Pose(skeleton.offsets, np.tile(IDENTITY, (skeleton.n_joints, 1))))
    if reference_pose is not None:
        other = _symmetry(skeleton, reference_pose)
        if other.asymmetry < 0.5 * found.asymmetry:
            found = other
    if found.asymmetry > MOST_ASYMMETRY:
        raise OptionError(
            f"{name}: left and right of its rest pose differ by {found.asymmetry:.0%} of its extent; "
            f"up to {MOST_ASYMMETRY:.0%} can be mirrored"
        )
    return found


def _symmetry(skeleton: Skeleton, rest: Pose) -> Symmetry:
    partners = list(skeleton.anatomy.mirrored())
    parts = skeleton.anatomy.parts
    left = [j for j, part in enumerate(parts) if part is not None and part.startswith("left_") and partners[j] != j]
    world = world_pose(skeleton, rest)
    if not left:
        raise OptionError("no joint is recognised as left or right, so that nothing can be mirrored")
    normal = unit((world.positions[left] - world.positions[[partners[j] for j in left]]).sum(axis=0))
    axis = int(np.argmax(np.abs(normal)))
    if abs(normal[axis]) > SNAP_COSINE:
        normal = np.eye(3)[axis] * np.sign(normal[axis])
    about = world.positions - world.positions[spot(skeleton)[0]]
    off = np.linalg.norm(_reflected(about, normal) - about[partners], axis=-1).max() if normal.any() else np.inf
    extent = float(np.ptp(world.positions, axis=0).max())
    return Symmetry(rest, world, normal, partners, float(off) / extent if extent > 0 else np.inf)


def _mirror_normal(keyed: KeyedMotion, turned: Floats, rest_normal: Floats) -> Floats:
    """The level normal (3,) of the mirror: the hips' way to the left or, where that points up, square to the spine."""
    up = up_axis(keyed.up)[0]
    level = rotate(turned, rest_normal)
    level[up] = 0.0
    if np.linalg.norm(level) > UPRIGHT_PART:
        return unit(level)
    # lying on one side: the mirror stands along the body
    normal = np.cross(np.eye(3)[up], rotate(turned, np.eye(3)[up]))
    return unit(normal) if np.linalg.norm(normal) > UPRIGHT_PART else any_square_to(np.eye(3)[up])


def _reflected(v: Floats, normal: Floats) -> Floats:
    image: Floats = v - 2.0 * (v @ normal)[..., None] * normal
    return image


def _pure(v: Floats) -> Floats:
    return np.concatenate(((0.0,), v))
