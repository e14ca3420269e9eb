"""Restore foot contacts of a keyed motion after an edit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Bools, Floats, Ints, freeze, runs
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.edit.change import Change
from keypose.curves.edit.directions import nearest_angles
from keypose.curves.edit.keys import add_joint_keys, insert_key
from keypose.curves.edit.poses import WorldPose, key_pose, set_pose
from keypose.curves.edit.reach import Limb, find_hinge, find_limbs, is_descendant, solve_limb
from keypose.errors import OptionError, format_count
from keypose.kinematics import heights_above, up_axis
from keypose.model import KeyedMotion, Motion, Pose
from keypose.rotations import align_signs, angle_between, conjugate, multiply, rotate, slerp

# Maximum errors of a leg between keys, on a figure of 1.7 m.
FOOT_TOLERANCE_MM = 5.0  # of the ankle in contacts
AIR_TOLERANCE_MM = 8.0  # of the ankle in the air, and of the knee
# Maximum acceleration of a leg at a key, where tangents may jump, relative to its largest acceleration in the edited
# and the restored motion.
MAX_ACCELERATION_RATIO = 1.2
# The knee of a nearly straight leg may be on either side; corrections up to this size blend it to the side of the
# hinge.
BLEND_MM = 3.0
_SAME_MM, _SAME_RAD = 1e-6, 1e-9

# Before and after a contact; with a shorter fade the foot jerks, with a longer one its swing is slowed down.
FADE_S = 0.3
# Share of the length of a leg over which it is straightened more and more slowly, as the knee of a straight leg jumps.
SLACK = 0.02
_MIN_SLACK = 1e-6
_SHARPNESS = 4  # how suddenly a foot that the edit lowers stops at the floor


class RestoredLeg(NamedTuple):
    """A leg whose foot is at its target in every frame."""

    rotations: Floats  # (N, M, 4) local, of the joints of its stance
    positions: Floats  # (N, J, 3) of all joints in the world
    edited_positions: Floats  # (N, J, 3) of the edited motion before restoring
    differs: Bools  # (N,) whether each frame differs from the edited motion


def keep_feet(before: KeyedMotion, change: Change, *, excluded_joint: int | None = None) -> Change:
    """Return the ``change`` of ``before`` with foot contacts restored, as far as the legs reach.

    Contacts are found on the motion before the edit, with its residual. In all frames of the range of the edit, legs
    are posed so that a foot in contact has its old position and rotation, and a foot in the air follows the edit, above
    the floor, with a smooth transition between the two. Keys get these poses, and the tangents of the joints of the
    legs are fitted to them. If the error of a leg is still more than ``FOOT_TOLERANCE_MM`` or ``AIR_TOLERANCE_MM``, or
    its acceleration at a key is too large, keys are inserted: first where a contact begins and ends, then at the
    largest error. ``missed`` is the largest distance of a foot in contact from its old position. The foot whose ankle
    is ``excluded_joint`` is not restored: it is the one that the edit moved.
    """
    stances = [stance for stance in find_stances(before, change) if stance.leg.end != excluded_joint]
    unrestored, frames = change.keyed, set[int]()
    while True:
        for frame in sorted(frames):
            unrestored = _insert_leg_key(unrestored, frame, stances)
        keyed, frames = unrestored, set()
        for stance in stances:
            restored = restore_leg(unrestored.sample(frames=stance.frames), stance)
            keyed = _fit_rotations(keyed, stance.joints, stance.frames, restored.rotations, restored.differs)
            frames |= _frames_to_key(keyed, stance, restored)
        if not frames:
            break
    inserted = keyed.n_keys - change.keyed.n_keys
    notes = (
        change.note,
        f"{format_count(inserted, 'key')} added to keep feet in place" if inserted else "",
    )
    missed = max([change.missed, *(_max_contact_error(keyed, stance) for stance in stances)])
    first, last = change.range
    if keyed.is_per_joint:  # the legs may have keys farther away
        is_changed = _changed_frames(before, keyed)
        first, last = min(first, *is_changed[:1]), max(last, *is_changed[-1:])
    return replace(change, keyed=keyed, first=first, last=last, missed=missed, note=", ".join(filter(None, notes)))


def _insert_leg_key(keyed: KeyedMotion, frame: int, stances: list[Stance]) -> KeyedMotion:
    """Return the same motion with a key at ``frame``: of the legs, if joints have keys of their own."""
    if not keyed.is_per_joint:
        return insert_key(keyed, frame).keyed
    joints = sorted({joint for stance in stances for joint in stance.joints})
    return add_joint_keys(keyed, frame, joints, ()).keyed


def _changed_frames(before: KeyedMotion, after: KeyedMotion) -> list[int]:
    """Return the frames in which the curves of two motions differ."""
    old, new = before.sample(), after.sample()
    differs = (old.rotations != new.rotations).any(axis=(1, 2)) | (old.translations != new.translations).any(
        axis=(1, 2)
    )
    return np.flatnonzero(differs).tolist()


def restore_leg(edited: Motion, stance: Stance) -> RestoredLeg:
    """Return the leg of ``stance`` with its foot at its target, given the edited poses of all its frames."""
    world = WorldPose(edited.world_positions(), edited.world_rotations())
    leg, toes, parents = stance.leg, stance.toes, edited.skeleton.parents
    target = foot_target(stance, edited)
    correction_mm = np.linalg.norm(target.positions - world.positions[:, leg.end], axis=-1) * edited.mm_per_unit
    differs = (correction_mm > _SAME_MM) | (angle_between(target.rotations, world.rotations[:, leg.end]) > _SAME_RAD)
    differs |= (angle_between(target.toe_rotations, edited.rotations[:, toes]) > _SAME_RAD).any(axis=1)
    limb_rotations, _ = solve_limb(edited.skeleton, world, leg, stance.hinge, target.positions, None)
    rotations = edited.rotations.copy()
    x = np.minimum(correction_mm / BLEND_MM, 1.0)[:, None]
    for j, turn in limb_rotations.items():
        rotations[:, j] = slerp(edited.rotations[:, j], turn, x * x * (3 - 2 * x))
    rotations[:, toes] = target.toe_rotations
    _, world_rotations = kinematics.forward(parents, edited.translations, rotations)
    rotations[:, leg.end] = multiply(conjugate(world_rotations[:, parents[leg.end]]), target.rotations)
    rotations = np.where(differs[:, None, None], rotations, edited.rotations)
    positions, _ = kinematics.forward(parents, edited.translations, rotations)
    return RestoredLeg(rotations[:, stance.joints], positions, world.positions, differs)


def _max_contact_error(keyed: KeyedMotion, stance: Stance) -> float:
    """Return the largest distance of the ankle from its old position over the frames of contact."""
    positions = keyed.sample(frames=stance.frames).world_positions()[:, stance.leg.end]
    errors = np.linalg.norm(positions - stance.positions, axis=-1)[stance.in_contact]
    return float(errors.max(initial=0.0))


def _frames_to_key(keyed: KeyedMotion, stance: Stance, restored: RestoredLeg) -> set[int]:
    """Return the best frame for a new key in each span in which the leg is too far from ``restored``."""
    sampled = keyed.sample(frames=stance.frames)
    errors_mm = np.linalg.norm(sampled.world_positions() - restored.positions, axis=-1) * sampled.mm_per_unit
    allowed_mm = np.where(stance.in_contact, FOOT_TOLERANCE_MM, AIR_TOLERANCE_MM)
    excess = np.maximum(errors_mm[:, stance.leg.end] / allowed_mm, errors_mm[:, stance.leg.middle] / AIR_TOLERANCE_MM)
    excess[np.isin(stance.frames, keyed.keys)] = 0.0
    excess = np.maximum(excess, _acceleration_excess(keyed, stance, restored, sampled.world_positions()))
    spans = np.searchsorted(keyed.keys, stance.frames)
    frames = set()
    for span in np.unique(spans[excess > 1]).tolist():
        rows = np.flatnonzero((spans == span) & ~np.isin(stance.frames, keyed.keys))
        frames.add(int(stance.frames[rows[_choose_row(excess[rows], stance.in_contact[rows])]]))
    return frames


def _acceleration_excess(keyed: KeyedMotion, stance: Stance, restored: RestoredLeg, positions: Floats) -> Floats:
    """Return the ratio (N,) of the acceleration to the maximum in frames beside keys at which the leg accelerates too
    much; 0 elsewhere."""
    excess = np.zeros(len(stance.frames))
    if not keyed.is_cubic or len(excess) < 3:
        return excess
    joints = [stance.leg.middle, *stance.points]

    def accelerations(joint_positions: Floats) -> Floats:
        return np.asarray(np.linalg.norm(np.diff(joint_positions[:, joints], n=2, axis=0), axis=-1).max(axis=1))

    allowed = MAX_ACCELERATION_RATIO * max(
        accelerations(restored.edited_positions).max(), accelerations(restored.positions).max()
    )
    ratios = accelerations(positions) / max(allowed, 1e-12)
    errors = np.linalg.norm((positions - restored.positions)[:, joints], axis=-1).max(axis=1)
    is_key = np.isin(stance.frames, keyed.keys)
    errors[is_key] = 0.0
    for n in np.flatnonzero((ratios > 1) & is_key[1:-1]).tolist():
        excess[n if errors[n] > errors[n + 2] else n + 2] = ratios[n]
    return np.where(is_key, 0.0, excess)


def _choose_row(excess: Floats, in_contact: Bools) -> int:
    """Return the row between two keys at which the contact with the largest error begins or ends, else the row with the
    largest error."""
    worst = int(excess.argmax())
    if in_contact[worst]:
        changes = np.flatnonzero(np.diff(in_contact.astype(int))) + 1
        starts, ends = changes[changes <= worst], changes[changes > worst]
        if len(starts):
            return int(starts[-1])
        if len(ends):
            return int(ends[0]) - 1
    return worst


@dataclass(frozen=True)
class Stance:
    """A leg in the frames of an edit, and its foot in them before the edit."""

    leg: Limb
    hinge: Floats | None
    toes: list[int]  # all joints below the ankle
    points: list[int]  # (P,) joints of the foot that must not be below the floor
    frames: Ints  # (N,) including the keys on both sides of the edit's range
    in_contact: Bools  # (N,) whether the foot is in contact
    hold_weights: Floats  # (N,) weight of the old position of the foot: 1 in contacts, 0 far from any
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
        raise OptionError(
            "no leg with thigh, shin and foot is recognised, so feet cannot be kept in place",
            code="no_body",
            subject=before.name,
        )
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
    """Return how far to lift a foot (N,) if an edit lowers its points by ``drop`` (N, P) and they have ``clearance``
    (N, P) below them.

    Each point is then lowered by about the smaller of the two, with a smooth transition between them.
    """
    drop, clearance = np.maximum(drop, 0.0), np.maximum(clearance, 0.0)
    larger = np.maximum(drop, clearance)
    larger = np.where(larger > 0, larger, 1.0)  # avoids underflow of powers of tiny numbers
    both = ((drop / larger) ** _SHARPNESS + (clearance / larger) ** _SHARPNESS) ** (1 / _SHARPNESS)
    lifts: Floats = drop - drop * (clearance / larger) / np.where(both > 0, both, 1.0)
    return np.asarray(lifts.max(axis=1))


def contact_weights(in_contact: Bools, fade_frames: float) -> Floats:
    """Return weights (T,): 1 in contacts, fading to 0 on both sides; the weights of two near contacts are combined."""
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


def _fit_rotations(
    keyed: KeyedMotion, joints: list[int], frames: Ints, rotations: Floats, differs: Bools
) -> KeyedMotion:
    """Return ``keyed`` with ``rotations`` (N, joints, 4) at its keys among ``frames`` (N,), which are consecutive.

    Between keys the tangents are fitted to the rotations. Keys and spans without a frame that ``differs`` (N,) from
    ``keyed`` do not change.
    """
    if keyed.is_per_joint:  # the spans beside a frame that differs have keys of these joints at both ends
        for frame in _span_ends(keyed.keys, frames[differs]):
            keyed = add_joint_keys(keyed, frame, joints, ()).keyed
    for n in np.flatnonzero(np.isin(frames, keyed.keys) & differs).tolist():
        key = keyed.key_index(int(frames[n]))
        pose = key_pose(keyed, key)
        pose_rotations = pose.rotations.copy()
        pose_rotations[joints] = rotations[n]
        keyed = set_pose(keyed, key, Pose(pose.translations, pose_rotations)).keyed
    return _fit_tangents(keyed, joints, frames, rotations, differs)


def _span_ends(keys: Ints, frames: Ints) -> list[int]:
    """Return the keys at, just before and just after ``frames``."""
    at = np.searchsorted(keys, frames)
    before = np.searchsorted(keys, frames, side="right") - 1
    rows = np.unique(np.concatenate((before, at)))
    return [int(keys[row]) for row in rows if 0 <= row < len(keys)]


def _fit_tangents(
    keyed: KeyedMotion, joints: list[int], frames: Ints, rotations: Floats, differs: Bools
) -> KeyedMotion:
    curves = keyed.rotations
    if curves.in_tangents is None or curves.out_tangents is None:
        return keyed
    in_tangents, out_tangents = curves.in_tangents.copy(), curves.out_tangents.copy()
    rows = keyed.keys - frames[0]
    for a in np.flatnonzero((rows[:-1] >= 0) & (rows[1:] < len(frames)) & (np.diff(rows) > 1)).tolist():
        span = slice(int(rows[a]), int(rows[a + 1]) + 1)
        if not differs[span].any():
            continue
        for column, j in enumerate(joints):
            values = _channel_values(keyed, j, a, rotations[span, column])
            if np.abs(values[-1] - curves.values[a + 1, j]).max() < 1e-6:  # else the rotations turn the other way round
                # each span is fitted alone: the hips may have different tangents on both sides of a key, and so must
                # the leg
                cubic = fit_cubics(values[:, None], np.array([0, len(values) - 1], np.int32))
                assert cubic.out_tangents is not None and cubic.in_tangents is not None
                out_tangents[a, j], in_tangents[a + 1, j] = cubic.out_tangents[0, 0], cubic.in_tangents[1, 0]
    fitted = replace(curves, in_tangents=freeze(in_tangents), out_tangents=freeze(out_tangents))
    return replace(keyed, rotations=fitted)


def _channel_values(keyed: KeyedMotion, joint: int, key: int, rotations: Floats) -> Floats:
    """Return rotations (N, 4) from a key on as channel values (N, C) of a joint, continuous with those of the key."""
    values: Floats = keyed.rotations.values[key, joint]
    if keyed.rotation_orders is None:
        return align_signs(np.concatenate((values[None], rotations[1:])))
    rows = [values]
    for turn in rotations[1:]:
        rows.append(nearest_angles(turn[None], keyed.rotation_orders[joint], rows[-1][None])[0])
    return np.array(rows)
