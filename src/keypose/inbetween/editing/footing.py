"""Where feet belong after an edit: where they stood while they stand, where the edit takes them in the air.

Before and after a contact a share of the foot's correction remains and fades out smoothly, so that nothing jumps. A
foot in the air does not come down through the floor, and no leg is stretched so far that its knee would snap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats, Ints, runs
from keypose.errors import OptionError
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.limbs import Limb, hangs_on, hinge, limbs
from keypose.inbetween.editing.poses import World
from keypose.kinematics import heights_above, up_axis
from keypose.model import KeyedMotion, Motion
from keypose.rotations import conjugate, rotate, slerp

FADE_S = 0.3  # before and after a contact: shorter ones throw the foot, longer ones hold it back in its swing
SLACK = 0.02  # the part of a leg's length that it gives up ever more slowly, since the knee of a straight leg snaps
_LEAST_SLACK = 1e-6
_SHARPNESS = 4  # of the floor: how suddenly a foot that comes down with the edit stops there


@dataclass(frozen=True)
class Footing:
    """A leg in the frames of an edit, and what its foot did in them before it."""

    leg: Limb
    hinge: Floats | None
    toes: list[int]  # all joints below the ankle
    points: list[int]  # (P,) joints of the foot that must not sink
    frames: Ints  # (N,) the keys on both sides of the edit's range included
    stands: Bools  # (N,) whether the foot is in contact
    held: Floats  # (N,) the share of the foot's correction: 1 in contacts, 0 far from any
    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    toe_turns: Floats  # (N, toes, 4) local
    lengths: Floats  # (N,) from hip to ankle
    heights: Floats  # (N, P) of the points
    levels: Floats  # (N, P) at which the points stand, as the contacts before and after tell
    up: tuple[int, float]  # axis and sign

    @property
    def joints(self) -> list[int]:
        """All joints that move to put the foot back."""
        return [*self.leg.joints, *self.toes]


class Goal(NamedTuple):
    """Where a foot belongs."""

    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    toe_turns: Floats  # (N, toes, 4) local


def footings(before: KeyedMotion, change: Change) -> list[Footing]:
    """Every leg whose foot touches the ground somewhere in ``before``, in the frames of ``change``.

    Contacts are found with the captured detail, places are those of the curves.
    """
    legs = {part: leg for part, leg in limbs(before.skeleton).items() if leg.is_leg}
    seen = before.sample(0.0 if before.residual is None else 1.0).foot_contacts()
    sides = [side for side in seen.feet if f"{side}_foot" in legs]
    if not sides:
        raise OptionError(f"{before.name}: no foot that hangs on a shin and a thigh is recognised, so none can be kept")
    frames = np.arange(max(0, change.first - 1), min(before.n_frames, change.last + 2), dtype=np.int32)
    found = []
    for side in sides:
        leg, touching = legs[f"{side}_foot"], seen.touching[:, seen.feet.index(side)]
        if touching.any():
            found.append(footing(before.sample(), leg, hinge(before, leg), touching, frames))
    return found


def footing(
    old: Motion, leg: Limb, usual: Floats | None, touching: Bools, frames: Ints, fade_s: float = FADE_S
) -> Footing:
    """What the foot of ``leg`` did in ``frames`` of the motion before the edit.

    ``usual`` is the leg's hinge; ``touching`` (T,) are all contacts of the foot, at least one.
    """
    positions = old.world_positions()
    points = next(list(joints) for joints in old.skeleton.anatomy.feet().values() if leg.end in joints)
    toes = [j for j in range(old.n_joints) if hangs_on(old.skeleton, j, leg.end)]
    heights = heights_above(positions[:, points], old.up)
    return Footing(
        leg=leg,
        hinge=usual,
        toes=toes,
        points=points,
        frames=frames,
        stands=touching[frames],
        held=held(touching, fade_s * old.fps)[frames],
        positions=positions[frames, leg.end],
        rotations=old.world_rotations()[frames, leg.end],
        toe_turns=old.rotations[frames][:, toes],
        lengths=np.linalg.norm(positions[frames, leg.end] - positions[frames, leg.upper], axis=-1),
        heights=heights[frames],
        levels=levels(heights, touching)[frames],
        up=up_axis(old.up),
    )


def goal(footing: Footing, now: Motion) -> Goal:
    """Where the foot belongs, given the edited poses of all frames of ``footing``."""
    world = World(now.world_positions(), now.world_rotations())
    ankle, turn = world.positions[:, footing.leg.end], world.rotations[:, footing.leg.end]
    place = ankle + footing.held[:, None] * (footing.positions - ankle)
    turned = slerp(turn, footing.rotations, footing.held[:, None])
    arms = rotate(conjugate(turn)[:, None], world.positions[:, footing.points] - ankle[:, None])
    axis, sign = footing.up
    heights = sign * (place[:, None] + rotate(turned[:, None], arms))[..., axis]
    place[:, axis] += sign * lift(footing.heights - heights, footing.heights - footing.levels)
    toe_turns = slerp(now.rotations[:, footing.toes], footing.toe_turns, footing.held[:, None, None])
    return Goal(_within_reach(footing, world, place), turned, toe_turns)


def _within_reach(footing: Footing, world: World, place: Floats) -> Floats:
    """``place`` (N, 3) drawn towards the hip where the leg would be straighter than before and after the edit.

    What is left of its length is given up ever more slowly.
    """
    upper, middle, end = (world.positions[:, j] for j in footing.leg.joints)
    longest = np.linalg.norm(middle - upper, axis=-1) + np.linalg.norm(end - middle, axis=-1)
    known = np.maximum(footing.lengths, np.linalg.norm(end - upper, axis=-1))
    easy = np.minimum(np.maximum(known, (1 - SLACK) * longest), (1 - _LEAST_SLACK) * longest)
    far = np.linalg.norm(place - upper, axis=-1)
    beyond, slack = np.maximum(far - np.maximum(easy, known), 0.0), longest - easy
    length = easy - slack * np.expm1(-beyond / slack)
    drawn: Floats = np.where(beyond[:, None] > 0, upper + (place - upper) * (length / far)[:, None], place)
    return drawn


def lift(drop: Floats, room: Floats) -> Floats:
    """How far a foot is lifted (N,) whose points come down by ``drop`` (N, P) where there is ``room`` (N, P) to do so.

    Each point then comes down by about the smaller of the two, with a smooth passage from one to the other.
    """
    drop, room = np.maximum(drop, 0.0), np.maximum(room, 0.0)
    larger = np.maximum(drop, room)
    larger = np.where(larger > 0, larger, 1.0)  # powers of tiny numbers would be nothing
    both = ((drop / larger) ** _SHARPNESS + (room / larger) ** _SHARPNESS) ** (1 / _SHARPNESS)
    lifts: Floats = drop - drop * (room / larger) / np.where(both > 0, both, 1.0)
    return np.asarray(lifts.max(axis=1))


def held(touching: Bools, fade_frames: float) -> Floats:
    """(T,) 1 in contacts, fading to 0 on both sides; between two near contacts what both of them leave."""
    frames = np.arange(len(touching), dtype=np.float64)
    contacts = frames[touching]
    after = np.searchsorted(contacts, frames)
    since = frames - np.concatenate(([-np.inf], contacts))[after]
    until = np.concatenate((contacts, [np.inf]))[after] - frames
    free = np.ones(len(frames))
    for away in (since, until):
        x = np.clip(away / max(1.0, fade_frames), 0.0, 1.0)
        free *= x**3 * (10 - 15 * x + 6 * x * x)  # neither slope nor bend at its ends
    return 1.0 - free


def levels(heights: Floats, touching: Bools) -> Floats:
    """(T, P) the least ``heights`` (T, P) of points in each contact, changing evenly from one contact to the next."""
    contacts = np.array(runs(touching))
    lowest = np.array([heights[start:stop].min(axis=0) for start, stop in contacts.tolist()])
    ends = (contacts - (0, 1)).ravel()  # first and last frames
    columns = [np.interp(np.arange(len(heights)), ends, np.repeat(column, 2)) for column in lowest.T]
    return np.stack(columns, axis=1)
