"""Arms and legs as two bones, and moving a hand or foot to a target: inverse kinematics in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from keypose.anatomy.body_parts import part_name
from keypose.arrays import Floats
from keypose.curves.edit.change import Change, check_vector, find_key
from keypose.curves.edit.directions import (
    SAME_SINE,
    any_orthogonal,
    first_nonzero_direction,
    orthogonal_part,
    rotation_between,
    shortest_rotation,
    unit_vectors,
)
from keypose.curves.edit.poses import WorldPose, key_pose, set_pose, world_pose
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, rotate
from keypose.validation import check_bool

_SEGMENTS = {"hand": ("upper_arm", "forearm"), "foot": ("thigh", "shin")}

# Sines of the bend angle of a limb: below the first its plane is undetermined, above the second it is reliable.
STRAIGHT_SINE, BENT_SINE = 0.02, 0.1


class TwoBoneSolution(NamedTuple):
    """The rotations of two bones that reach a goal."""

    upper: Floats  # (..., 4) world rotation of the upper joint
    middle: Floats  # (..., 4) world rotation of the middle joint
    missed: Floats  # (...,) remaining distance of the end from the goal


def reach(
    keyed: KeyedMotion,
    frame: Any,
    end: str,
    *,
    to: ArrayLike | None = None,
    by: ArrayLike | None = None,
    keep_rotation: bool = False,
    spread_s: float = 0.0,
) -> Change:
    """Move a hand or foot ``to`` a world position (3,), or ``by`` an offset (3,), at the key at ``frame``.

    The plane in which the limb is bent does not change. If the goal is out of reach, the limb is stretched (or folded)
    towards it, and ``missed`` is the remaining distance. With ``keep_rotation`` the world rotation of the hand or foot
    does not change.
    """
    key, limb = find_key(keyed, frame), find_limb(keyed.skeleton, end)
    if (to is None) == (by is None):
        raise OptionError(expected="one of to= and by=")
    pose = key_pose(keyed, key)
    world = world_pose(keyed.skeleton, pose)
    goal = (
        world.positions[limb.end] + check_vector("by", by)
        if by is not None
        else check_vector("to", [] if to is None else to)
    )
    end_rotation = world.rotations[limb.end] if check_bool("keep_rotation", keep_rotation) else None
    limb_rotations, missed = solve_limb(keyed.skeleton, world, limb, find_hinge(keyed, limb), goal, end_rotation)
    rotations = pose.rotations.copy()
    rotations[list(limb_rotations)] = list(limb_rotations.values())
    return replace(set_pose(keyed, key, Pose(pose.translations, rotations), spread_s=spread_s), missed=float(missed))


def solve_limb(
    skeleton: Skeleton, world: WorldPose, limb: Limb, hinge: Floats | None, goals: Floats, end_rotations: Floats | None
) -> tuple[dict[int, Floats], Floats]:
    """Return local rotations (..., 4) of the joints of a limb that bring its end to ``goals`` (..., 3), and the
    remaining distances (...,).

    ``hinge`` is the hinge of the limb, used in poses in which it is straight. The end gets the world rotations
    ``end_rotations`` (..., 4); None: it moves with its parent.
    """
    upper, middle, end = (world.positions[..., j, :] for j in (limb.upper, limb.middle, limb.end))
    solution = solve_two_bones(upper, middle, end, bend_normal(skeleton, world, limb, hinge), goals)

    def to_local(joint: int, parent_rotation: Floats, world_rotation: Floats) -> Floats:
        parent = int(skeleton.parents[joint])
        above = multiply(parent_rotation, world.rotations[..., parent, :]) if parent >= 0 else parent_rotation
        return normalise(multiply(conjugate(above), world_rotation))

    # each joint moves its descendants, also twist joints in between
    upper_turn, middle_turn = (world.rotations[..., j, :] for j in (limb.upper, limb.middle))
    rotations = {
        limb.upper: to_local(limb.upper, np.array(IDENTITY), multiply(solution.upper, upper_turn)),
        limb.middle: to_local(limb.middle, solution.upper, multiply(solution.middle, middle_turn)),
    }
    if end_rotations is not None:
        rotations[limb.end] = to_local(limb.end, solution.middle, end_rotations)
    return rotations, solution.missed


def solve_two_bones(upper: Floats, middle: Floats, end: Floats, normal: Floats, goal: Floats) -> TwoBoneSolution:
    """Return the rotations of two bones, ``upper`` to ``middle`` to ``end`` (..., 3), that bring the end to ``goal``.

    The limb is rotated towards the goal by the shortest rotation, together with its plane of ``normal`` (..., 3), and
    bent in that plane until its length is as near as possible to the distance of the goal.
    """
    first, second = middle - upper, end - middle
    a, b, distance = _lengths(first), _lengths(second), _lengths(goal - upper)
    along = first_nonzero_direction(end - upper, first)  # the second where the limb is fully folded
    normal = first_nonzero_direction(orthogonal_part(normal, along), any_orthogonal(along))
    direction = np.where(distance > SAME_SINE * (a + b), unit_vectors(goal - upper), along)
    length = np.clip(distance, np.abs(a - b), a + b)
    plane = unit_vectors(orthogonal_part(rotate(shortest_rotation(along, direction, normal), normal), direction))
    # the upper bone's angle from the direction of the goal, by the law of cosines
    twice = 2 * a * length
    cosine = np.clip((a * a + length * length - b * b) / np.where(twice > 0, twice, 1.0), -1.0, 1.0)
    new_first = a * (cosine * direction + np.sqrt(1 - cosine * cosine) * np.cross(direction, plane))
    new_second = length * direction - new_first
    upper_turn = rotation_between((unit_vectors(first), normal), (unit_vectors(new_first), plane))
    middle_turn = rotation_between((unit_vectors(second), normal), (unit_vectors(new_second), plane))
    missed = np.abs(distance - length)
    return TwoBoneSolution(upper_turn, middle_turn, np.where(missed > 1e-12 * (a + b), missed, 0.0)[..., 0])


def _lengths(v: Floats) -> Floats:
    return np.asarray(np.linalg.norm(v, axis=-1, keepdims=True))


@dataclass(frozen=True)
class Limb:
    """Three joints, each a descendant of the one before it, perhaps with twist or roll joints in between."""

    upper: int  # shoulder or hip joint
    middle: int  # elbow or knee
    end: int  # wrist or ankle
    is_leg: bool
    bends_one_way: bool = False  # whether it is treated as straight if bent against its hinge

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
    possible = ", ".join(candidates) or "none: no arm or leg is recognised"
    raise OptionError(
        f"{end!r} is not the end of an arm or leg of two bones",
        code=None if candidates else "no_body",
        value=end,
        expected=f"one of: {possible}",
    )


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

    For a nearly straight limb that is the plane of its ``hinge``, rotated by the upper joint; for a limb that is never
    bent, the plane in which a knee moves forwards (towards the toes) and an elbow backwards.
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
