"""Move a hand or foot to a target: inverse kinematics of two bones, in closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.curves.edit.arguments import check_vector, find_key
from keypose.curves.edit.change import Change
from keypose.curves.edit.directions import (
    SAME_SINE,
    any_orthogonal,
    first_nonzero_direction,
    orthogonal_part,
    rotation_between,
    shortest_rotation,
    unit_vectors,
)
from keypose.curves.edit.limbs import Limb, bend_normal, find_hinge, find_limb
from keypose.curves.edit.poses import WorldPose, key_pose, set_pose, world_pose
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, rotate
from keypose.validation import check_bool


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

    The limb keeps the plane in which it is bent. Towards a goal out of reach the limb is stretched (or folded), and
    ``missed`` is the remaining distance. With ``keep_rotation`` the hand or foot keeps its world rotation.
    """
    key, limb = find_key(keyed, frame), find_limb(keyed.skeleton, end)
    if (to is None) == (by is None):
        raise OptionError("say where the end goes in one way: to= or by=")
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
    """Return local rotations (..., 4) of a limb's joints that bring its end to ``goals`` (..., 3); the misses (...,).

    ``hinge`` is the limb's hinge, used where it is straight; the end gets ``end_rotations`` (..., 4) in the world, or
    follows its parent if None.
    """
    upper, middle, end = (world.positions[..., j, :] for j in (limb.upper, limb.middle, limb.end))
    solution = solve_two_bones(upper, middle, end, bend_normal(skeleton, world, limb, hinge), goals)

    def to_local(joint: int, parent_rotation: Floats, world_rotation: Floats) -> Floats:
        parent = int(skeleton.parents[joint])
        above = multiply(parent_rotation, world.rotations[..., parent, :]) if parent >= 0 else parent_rotation
        return normalise(multiply(conjugate(above), world_rotation))

    # each joint carries those below it, twist joints in between too
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

    The limb is rotated towards the goal the shortest way, its plane of ``normal`` (..., 3) with it, and bent in that
    plane until its length is the distance of the goal, as nearly as possible.
    """
    first, second = middle - upper, end - middle
    a, b, distance = _lengths(first), _lengths(second), _lengths(goal - upper)
    along = first_nonzero_direction(end - upper, first)  # the latter where it is fully folded
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
