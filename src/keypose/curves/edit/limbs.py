"""Arms and legs as two bones: which joints they are, and which way they bend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.anatomy.body_parts import part_name
from keypose.arrays import Floats
from keypose.curves.edit.directions import any_orthogonal, first_nonzero_direction, orthogonal_part, unit_vectors
from keypose.curves.edit.poses import WorldPose
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Skeleton
from keypose.rotations import conjugate, rotate

_SEGMENTS = {"hand": ("upper_arm", "forearm"), "foot": ("thigh", "shin")}

# The sine of the bend angle: below the first the plane of a limb is noise, from the second on it is reliable.
STRAIGHT_SINE, BENT_SINE = 0.02, 0.1


@dataclass(frozen=True)
class Limb:
    """Three joints, each a descendant of the one before it, perhaps with twist or roll joints in between."""

    upper: int  # shoulder or hip joint
    middle: int  # elbow or knee
    end: int  # wrist or ankle
    is_leg: bool
    bends_one_way: bool = False  # if bent against its hinge, it is treated as straight

    @property
    def joints(self) -> list[int]:
        """The three joints, from the body outwards."""
        return [self.upper, self.middle, self.end]


def find_limb(skeleton: Skeleton, end: str) -> Limb:
    """Return the limb that ends in a hand or foot."""
    joint = skeleton.joint(end)
    candidates = find_limbs(skeleton)
    for limb in candidates.values():
        if limb.end == joint:
            return limb
    possible = ", ".join(candidates) or "none: no hand or foot hangs on a recognised forearm or shin"
    raise OptionError(f"{end!r} is not the end of an arm or leg of two bones, expected one of: {possible}")


def find_limbs(skeleton: Skeleton) -> dict[str, Limb]:
    """Return, by body part, the limbs of all hands and feet whose two bones are recognised and connected."""
    joint_of = {part: j for j, part in enumerate(skeleton.anatomy.body_parts) if part is not None}
    limbs = {}
    for segment, above in _SEGMENTS.items():
        for side in ("left", "right", ""):
            body_parts = [part_name(side, name) for name in (*above, segment)]
            if all(part in joint_of for part in body_parts):
                upper, middle, end = (joint_of[part] for part in body_parts)
                if is_descendant(skeleton, middle, upper) and is_descendant(skeleton, end, middle):
                    limbs[body_parts[-1]] = Limb(upper, middle, end, segment == "foot")
    return limbs


def is_descendant(skeleton: Skeleton, joint: int, ancestor: int) -> bool:
    """Return whether ``ancestor`` is among the ancestors of ``joint``."""
    above = int(skeleton.parents[joint])
    while above >= 0 and above != ancestor:
        above = int(skeleton.parents[above])
    return above == ancestor


def bend_planes(positions: Floats, limb: Limb) -> tuple[Floats, Floats]:
    """Return the normals (..., 3) of the planes in which a limb is bent, and the sines (...,) of the bend angles."""
    upper = unit_vectors(positions[..., limb.middle, :] - positions[..., limb.upper, :])
    lower = unit_vectors(positions[..., limb.end, :] - positions[..., limb.middle, :])
    normal = np.cross(upper, lower)
    return unit_vectors(normal), np.linalg.norm(normal, axis=-1)


def find_hinge(keyed: KeyedMotion, limb: Limb) -> Floats | None:
    """Return the normal (3,) of a limb's plane at the key of its largest bend, in the upper joint's frame, or None."""
    return find_motion_hinge(keyed.sample(frames=keyed.keys), limb)


def find_motion_hinge(motion: Motion, limb: Limb) -> Floats | None:
    """Return the same over all frames of a motion; None if the limb is never bent."""
    normals, sines = bend_planes(motion.world_positions(), limb)
    widest = int(np.argmax(sines))
    if sines[widest] < BENT_SINE:
        return None
    return rotate(conjugate(motion.world_rotations()[widest, limb.upper]), normals[widest])


def bend_normal(skeleton: Skeleton, world: WorldPose, limb: Limb, hinge: Floats | None) -> Floats:
    """Return the world normals (..., 3) of the planes in which a limb is bent or, if nearly straight, would bend.

    The latter is that of its ``hinge``, rotated by the upper joint; for a limb that is never bent, the plane in which
    a knee goes forwards (towards the toes) and an elbow backwards.
    """
    normal, sine = bend_planes(world.positions, limb)
    default_normal = _default_bend_normal(skeleton, world, limb, hinge)
    if limb.bends_one_way:
        sine = sine * np.maximum(np.sum(normal * default_normal, axis=-1), 0.0)  # only if bent towards its hinge
    weight = np.clip((sine - STRAIGHT_SINE) / (BENT_SINE - STRAIGHT_SINE), 0.0, 1.0)[..., None]
    return first_nonzero_direction((1 - weight) * default_normal + weight * normal, default_normal, min_length=1e-3)


def _default_bend_normal(skeleton: Skeleton, world: WorldPose, limb: Limb, hinge: Floats | None) -> Floats:
    upper, middle, end = (world.positions[..., j, :] for j in (limb.upper, limb.middle, limb.end))
    along = first_nonzero_direction(end - upper, middle - upper)
    candidates = []
    if hinge is not None:
        candidates.append(orthogonal_part(rotate(world.rotations[..., limb.upper, :], hinge), along))
    feet = [joints for joints in skeleton.anatomy.feet().values() if len(joints) == 2]
    if feet:
        toe_directions = sum(
            unit_vectors(world.positions[..., toes, :] - world.positions[..., foot, :]) for foot, toes in feet
        )
        # the middle joint moves in the direction v = along x normal
        candidates.append(np.cross((1.0 if limb.is_leg else -1.0) * toe_directions, along))
    return first_nonzero_direction(*candidates, any_orthogonal(along), min_length=1e-3)
