"""Put a hand or foot somewhere: inverse kinematics of two bones, in closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at, vector
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.directions import (
    SAME_SINE,
    any_square_to,
    first_direction,
    shortest_turn,
    square_to,
    turn_between,
    unit,
)
from keypose.inbetween.editing.limbs import Limb, bend_normal, hinge, limb_of
from keypose.inbetween.editing.poses import World, key_pose, with_pose, world_pose
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.options import flag
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, rotate


class Reached(NamedTuple):
    """What two bones can do about a goal."""

    upper: Floats  # (..., 4) what the upper joint turns by in the world
    middle: Floats  # (..., 4) and the middle one
    missed: Floats  # (...,) how far the end stays from the goal


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
    """A hand or foot brought ``to`` a place (3,) in the world, or ``by`` a way (3,), at the key at ``frame``.

    The limb keeps the plane in which it is bent. A goal out of reach is pointed at with the limb stretched (or
    folded), and ``missed`` says how far it stays off. With ``keep_rotation`` the hand or foot does not turn in the
    world.
    """
    key, limb = key_at(keyed, frame), limb_of(keyed.skeleton, end)
    if (to is None) == (by is None):
        raise OptionError("say where the end goes in one way: to= or by=")
    pose = key_pose(keyed, key)
    world = world_pose(keyed.skeleton, pose)
    goal = world.positions[limb.end] + vector("by", by) if by is not None else vector("to", [] if to is None else to)
    turn = world.rotations[limb.end] if flag("keep_rotation", keep_rotation) else None
    turns, missed = reaching(keyed.skeleton, world, limb, hinge(keyed, limb), goal, turn)
    rotations = pose.rotations.copy()
    rotations[list(turns)] = list(turns.values())
    return replace(with_pose(keyed, key, Pose(pose.translations, rotations), spread_s=spread_s), missed=float(missed))


def reaching(
    skeleton: Skeleton, world: World, limb: Limb, usual: Floats | None, goals: Floats, turns: Floats | None
) -> tuple[dict[int, Floats], Floats]:
    """Local turns (..., 4) of a limb's joints that bring its end to ``goals`` (..., 3), and how far it misses (...,).

    ``usual`` is the limb's hinge, asked where it is straight; the end gets ``turns`` (..., 4) in the world, or goes
    along.
    """
    upper, middle, end = (world.positions[..., j, :] for j in (limb.upper, limb.middle, limb.end))
    reached = two_bones(upper, middle, end, bend_normal(skeleton, world, limb, usual), goals)

    def local(joint: int, parent_turns_by: Floats, in_world: Floats) -> Floats:
        parent = int(skeleton.parents[joint])
        above = multiply(parent_turns_by, world.rotations[..., parent, :]) if parent >= 0 else parent_turns_by
        return normalise(multiply(conjugate(above), in_world))

    # each joint carries those below it along, twist joints in between too
    upper_turn, middle_turn = (world.rotations[..., j, :] for j in (limb.upper, limb.middle))
    found = {
        limb.upper: local(limb.upper, np.array(IDENTITY), multiply(reached.upper, upper_turn)),
        limb.middle: local(limb.middle, reached.upper, multiply(reached.middle, middle_turn)),
    }
    if turns is not None:
        found[limb.end] = local(limb.end, reached.middle, turns)
    return found, reached.missed


def two_bones(upper: Floats, middle: Floats, end: Floats, normal: Floats, goal: Floats) -> Reached:
    """The turns of two bones, from ``upper`` over ``middle`` to ``end`` (..., 3), that bring the end to ``goal``.

    The limb is swung towards the goal the shortest way, its plane of ``normal`` (..., 3) with it, and bent in that
    plane until it is as long as the goal is far, as nearly as it can.
    """
    first, second = middle - upper, end - middle
    a, b, far = _length(first), _length(second), _length(goal - upper)
    along = first_direction(end - upper, first)  # the latter where it is folded upon itself
    normal = first_direction(square_to(normal, along), any_square_to(along))
    towards = np.where(far > SAME_SINE * (a + b), unit(goal - upper), along)
    length = np.clip(far, np.abs(a - b), a + b)
    plane = unit(square_to(rotate(shortest_turn(along, towards, normal), normal), towards))
    # the upper bone's angle from the way to the goal, by the law of cosines
    twice = 2 * a * length
    cosine = np.clip((a * a + length * length - b * b) / np.where(twice > 0, twice, 1.0), -1.0, 1.0)
    new_first = a * (cosine * towards + np.sqrt(1 - cosine * cosine) * np.cross(towards, plane))
    new_second = length * towards - new_first
    upper_turn = turn_between((unit(first), normal), (unit(new_first), plane))
    middle_turn = turn_between((unit(second), normal), (unit(new_second), plane))
    missed = np.abs(far - length)
    return Reached(upper_turn, middle_turn, np.where(missed > 1e-12 * (a + b), missed, 0.0)[..., 0])


def _length(v: Floats) -> Floats:
    return np.asarray(np.linalg.norm(v, axis=-1, keepdims=True))
