"""Targets of feet after an edit: the old position in a contact, the edited one in the air.

Before and after a contact a share of the foot's correction fades out smoothly, so that nothing jumps. A foot in the
air does not go through the floor, and no leg is stretched so far that its knee would snap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats, Ints, runs
from keypose.curves.edit.change import Change
from keypose.curves.edit.limbs import Limb, find_hinge, find_limbs, is_descendant
from keypose.curves.edit.poses import WorldPose
from keypose.errors import OptionError
from keypose.kinematics import heights_above, up_axis
from keypose.model import KeyedMotion, Motion
from keypose.rotations import conjugate, rotate, slerp

FADE_S = 0.3  # before and after a contact: shorter ones jerk the foot, longer ones hold it back in its swing
SLACK = 0.02  # share of a leg's length over which it straightens ever more slowly, since straight knees snap
_MIN_SLACK = 1e-6
_SHARPNESS = 4  # of the floor: how suddenly a foot that the edit lowers stops there


@dataclass(frozen=True)
class Stance:
    """A leg in the frames of an edit, and its foot in them before the edit."""

    leg: Limb
    hinge: Floats | None
    toes: list[int]  # all joints below the ankle
    points: list[int]  # (P,) joints of the foot that must not sink
    frames: Ints  # (N,) including the keys on both sides of the edit's range
    in_contact: Bools  # (N,) whether the foot is in contact
    hold_weights: Floats  # (N,) the share of the foot's correction: 1 in contacts, 0 far from any
    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    toe_rotations: Floats  # (N, toes, 4) local
    lengths: Floats  # (N,) from hip to ankle
    heights: Floats  # (N, P) of the points
    ground_levels: Floats  # (N, P) ground heights of the points, interpolated between contacts
    up: tuple[int, float]  # axis and sign

    @property
    def joints(self) -> list[int]:
        """All joints that move to restore the foot."""
        return [*self.leg.joints, *self.toes]


class FootTarget(NamedTuple):
    """The target of a foot."""

    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    toe_rotations: Floats  # (N, toes, 4) local


def find_stances(before: KeyedMotion, change: Change) -> list[Stance]:
    """Return a stance for every leg whose foot has a contact in ``before``, in the frames of ``change``.

    Contacts are found with the residual; positions are those of the curves.
    """
    legs = {part: leg for part, leg in find_limbs(before.skeleton).items() if leg.is_leg}
    contacts = before.sample(0.0 if before.residual is None else 1.0).foot_contacts()
    sides = [side for side in contacts.feet if f"{side}_foot" in legs]
    if not sides:
        raise OptionError(f"{before.name}: no foot that hangs on a shin and a thigh is recognised, so none can be kept")
    frames = np.arange(max(0, change.first - 1), min(before.n_frames, change.last + 2), dtype=np.int32)
    stances = []
    for side in sides:
        leg, in_contact = legs[f"{side}_foot"], contacts.in_contact[:, contacts.feet.index(side)]
        if in_contact.any():
            stances.append(build_stance(before.sample(), leg, find_hinge(before, leg), in_contact, frames))
    return stances


def build_stance(
    motion: Motion, leg: Limb, hinge: Floats | None, in_contact: Bools, frames: Ints, fade_s: float = FADE_S
) -> Stance:
    """Return the stance of ``leg`` in ``frames`` of the motion before the edit.

    ``in_contact`` (T,) flags all contacts of the foot, at least one.
    """
    positions = motion.world_positions()
    points = next(list(joints) for joints in motion.skeleton.anatomy.feet().values() if leg.end in joints)
    toes = [j for j in range(motion.n_joints) if is_descendant(motion.skeleton, j, leg.end)]
    heights = heights_above(positions[:, points], motion.up)
    return Stance(
        leg=leg,
        hinge=hinge,
        toes=toes,
        points=points,
        frames=frames,
        in_contact=in_contact[frames],
        hold_weights=contact_weights(in_contact, fade_s * motion.fps)[frames],
        positions=positions[frames, leg.end],
        rotations=motion.world_rotations()[frames, leg.end],
        toe_rotations=motion.rotations[frames][:, toes],
        lengths=np.linalg.norm(positions[frames, leg.end] - positions[frames, leg.upper], axis=-1),
        heights=heights[frames],
        ground_levels=contact_levels(heights, in_contact)[frames],
        up=up_axis(motion.up),
    )


def foot_target(stance: Stance, edited: Motion) -> FootTarget:
    """Return the target of the foot, given the edited poses of all frames of ``stance``."""
    world = WorldPose(edited.world_positions(), edited.world_rotations())
    ankle, rotation = world.positions[:, stance.leg.end], world.rotations[:, stance.leg.end]
    target = ankle + stance.hold_weights[:, None] * (stance.positions - ankle)
    target_rotations = slerp(rotation, stance.rotations, stance.hold_weights[:, None])
    offsets = rotate(conjugate(rotation)[:, None], world.positions[:, stance.points] - ankle[:, None])
    axis, sign = stance.up
    heights = sign * (target[:, None] + rotate(target_rotations[:, None], offsets))[..., axis]
    target[:, axis] += sign * foot_lift(stance.heights - heights, stance.heights - stance.ground_levels)
    toe_rotations = slerp(edited.rotations[:, stance.toes], stance.toe_rotations, stance.hold_weights[:, None, None])
    return FootTarget(_limit_reach(stance, world, target), target_rotations, toe_rotations)


def _limit_reach(stance: Stance, world: WorldPose, target: Floats) -> Floats:
    """Return ``target`` (N, 3) pulled towards the hip where the leg would be straighter than before and after the edit.

    The leg approaches its full length asymptotically.
    """
    upper, middle, end = (world.positions[:, j] for j in stance.leg.joints)
    full_length = np.linalg.norm(middle - upper, axis=-1) + np.linalg.norm(end - middle, axis=-1)
    observed_length = np.maximum(stance.lengths, np.linalg.norm(end - upper, axis=-1))
    free_length = np.minimum(np.maximum(observed_length, (1 - SLACK) * full_length), (1 - _MIN_SLACK) * full_length)
    distance = np.linalg.norm(target - upper, axis=-1)
    beyond, slack = np.maximum(distance - np.maximum(free_length, observed_length), 0.0), full_length - free_length
    length = free_length - slack * np.expm1(-beyond / slack)
    limited: Floats = np.where(beyond[:, None] > 0, upper + (target - upper) * (length / distance)[:, None], target)
    return limited


def foot_lift(drop: Floats, clearance: Floats) -> Floats:
    """Return how far to lift a foot (N,) whose points go down by ``drop`` (N, P) with ``clearance`` (N, P) below them.

    Each point then goes down by about the smaller of the two, with a smooth transition between them.
    """
    drop, clearance = np.maximum(drop, 0.0), np.maximum(clearance, 0.0)
    larger = np.maximum(drop, clearance)
    larger = np.where(larger > 0, larger, 1.0)  # powers of tiny numbers would underflow
    both = ((drop / larger) ** _SHARPNESS + (clearance / larger) ** _SHARPNESS) ** (1 / _SHARPNESS)
    lifts: Floats = drop - drop * (clearance / larger) / np.where(both > 0, both, 1.0)
    return np.asarray(lifts.max(axis=1))


def contact_weights(in_contact: Bools, fade_frames: float) -> Floats:
    """Return weights (T,): 1 in contacts, fading to 0 on both sides; two near contacts combine."""
    frames = np.arange(len(in_contact), dtype=np.float64)
    contacts = frames[in_contact]
    after = np.searchsorted(contacts, frames)
    frames_since = frames - np.concatenate(([-np.inf], contacts))[after]
    frames_until = np.concatenate((contacts, [np.inf]))[after] - frames
    free = np.ones(len(frames))
    for distance in (frames_since, frames_until):
        x = np.clip(distance / max(1.0, fade_frames), 0.0, 1.0)
        free *= x**3 * (10 - 15 * x + 6 * x * x)  # first and second derivative are zero at its ends
    return 1.0 - free


def contact_levels(heights: Floats, in_contact: Bools) -> Floats:
    """Return the lowest ``heights`` (T, P) of points in each contact, interpolated linearly between contacts."""
    contacts = np.array(runs(in_contact))
    lowest = np.array([heights[start:stop].min(axis=0) for start, stop in contacts.tolist()])
    ends = (contacts - (0, 1)).ravel()  # first and last frames
    columns = [np.interp(np.arange(len(heights)), ends, np.repeat(column, 2)) for column in lowest.T]
    return np.stack(columns, axis=1)
