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
from keypose.inbetween.editing.directions import any_square_to, shortest_turn, square_to, turn_between, unit
from keypose.inbetween.editing.limbs import Limb, bend_normal, hinge, limb_of
from keypose.inbetween.editing.poses import World, key_pose, with_pose, world_pose
from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.options import flag
from keypose.rotations import conjugate, multiply, normalise, rotate


class Reached(NamedTuple):
    """What two bones can do about a goal."""

    upper: Floats  # (4,) what the upper joint turns by in the world
    middle: Floats  # (4,) and the middle one
    missed: float  # how far the end stays from the goal


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
    posed, missed = reaching(keyed.skeleton, pose, limb, hinge(keyed, limb), goal, turn)
    return replace(with_pose(keyed, key, posed, spread_s=spread_s), missed=missed)


def reaching(
    skeleton: Skeleton, pose: Pose, limb: Limb, usual: Floats | None, goal: Floats, turn: Floats | None
) -> tuple[Pose, float]:
    """``pose`` with a limb's end at ``goal`` (3,), or as near as it can be, and how far it missed.

    ``usual`` is the limb's hinge, asked where it is straight; the end gets a ``turn`` (4,) in the world, or goes
    along.
    """
    world = world_pose(skeleton, pose)
    normal = bend_normal(skeleton, world, limb, usual)
    upper, middle, end = (world.positions[j] for j in (limb.upper, limb.middle, limb.end))
    reached = two_bones(upper, middle, end, normal, goal)
    rotations = pose.rotations.copy()
    _turn_in_world(rotations, skeleton, world, limb.upper, reached.upper)
    after = world_pose(skeleton, Pose(pose.translations, rotations))
    # the upper joint has carried the middle one along; it takes what is left
    left = multiply(reached.middle, conjugate(reached.upper))
    _turn_in_world(rotations, skeleton, after, limb.middle, left)
    if turn is not None:
        after = world_pose(skeleton, Pose(pose.translations, rotations))
        _turn_in_world(rotations, skeleton, after, limb.end, multiply(turn, conjugate(after.rotations[limb.end])))
    return Pose(pose.translations, rotations), reached.missed


def two_bones(upper: Floats, middle: Floats, end: Floats, normal: Floats, goal: Floats) -> Reached:
    """The turns of two bones, from ``upper`` over ``middle`` to ``end`` (3,), that bring the end to ``goal`` (3,).

    The limb is swung towards the goal the shortest way, its plane of ``normal`` (3,) with it, and bent in that plane
    until it is as long as the goal is far, as nearly as it can.
    """
    first, second = middle - upper, end - middle
    lengths = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    far = float(np.linalg.norm(goal - upper))
    along = unit(end - upper)
    if not along.any():  # folded upon itself
        along = unit(first)
    normal = unit(square_to(normal, along))
    if not normal.any():
        normal = any_square_to(along)
    towards = unit(goal - upper) if far > 1e-9 * sum(lengths) else along
    length = min(max(far, abs(lengths[0] - lengths[1])), sum(lengths))
    plane = rotate(shortest_turn(along, towards, normal), normal)
    plane = unit(square_to(plane, towards))
    # the upper bone's angle from the way to the goal, by the law of cosines
    cosine = (
        (lengths[0] ** 2 + length**2 - lengths[1] ** 2) / (2 * lengths[0] * length) if lengths[0] * length > 0 else 0.0
    )
    cosine = min(1.0, max(-1.0, cosine))
    aside = np.cross(towards, plane)
    new_first = lengths[0] * (cosine * towards + np.sqrt(1 - cosine * cosine) * aside)
    new_second = length * towards - new_first
    turns = [
        turn_between((unit(old), normal), (unit(new), plane)) if np.linalg.norm(old) > 0 else np.array((1.0, 0, 0, 0))
        for old, new in ((first, new_first), (second, new_second))
    ]
    return Reached(turns[0], turns[1], float(np.linalg.norm(length * towards - (goal - upper))))


def _turn_in_world(rotations: Floats, skeleton: Skeleton, world: World, joint: int, turn: Floats) -> None:
    """Turns a joint, in place, by ``turn`` (4,) in the world; ``world`` is the pose before that."""
    parent = int(skeleton.parents[joint])
    above = world.rotations[parent] if parent >= 0 else np.array((1.0, 0.0, 0.0, 0.0))
    rotations[joint] = normalise(multiply(conjugate(above), multiply(turn, world.rotations[joint])))
