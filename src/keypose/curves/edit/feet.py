"""Restore foot contacts of a keyed motion after an edit."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Bools, Floats
from keypose.curves.edit.change import Change
from keypose.curves.edit.insert import insert_key
from keypose.curves.edit.poses import WorldPose
from keypose.curves.edit.reach import solve_limb
from keypose.curves.edit.rotation_fit import fit_rotations
from keypose.curves.edit.stance import Stance, find_stances, foot_target
from keypose.model import KeyedMotion, Motion
from keypose.rotations import angle_between, conjugate, multiply, slerp

# The allowed error of a leg between keys, on a figure of 1.7 m.
FOOT_TOLERANCE_MM = 5.0  # the ankle in contacts
AIR_TOLERANCE_MM = 8.0  # the ankle in the air, and the knee
# At keys tangents may jump: up to this many times the largest acceleration of the leg, edited or restored.
MAX_ACCELERATION_RATIO = 1.2
# A nearly straight leg may have its knee on either side; over corrections up to this it blends to the hinge side.
BLEND_MM = 3.0
_SAME_MM, _SAME_RAD = 1e-6, 1e-9


class RestoredLeg(NamedTuple):
    """A leg whose foot is at its target in every frame."""

    rotations: Floats  # (N, M, 4) local, of the joints of its stance
    positions: Floats  # (N, J, 3) of all joints in the world
    edited_positions: Floats  # (N, J, 3) of the edited motion before restoring
    differs: Bools  # (N,) whether a frame differs from the edited motion


def keep_feet(before: KeyedMotion, change: Change, *, excluded_joint: int | None = None) -> Change:
    """Return ``change`` of ``before`` with its foot contacts restored, as far as the legs reach.

    Contacts are found on the motion before the edit, with its residual. In all frames of the edit's range legs are
    posed so that a foot in contact has its old position and rotation, and a foot in the air follows the edit, above
    the floor, with a smooth transition between the two. Keys get these poses, and the tangents of the legs' joints are
    fitted to them. Where a leg is still off by more than ``FOOT_TOLERANCE_MM`` or ``AIR_TOLERANCE_MM``, or accelerates
    too much at a key, keys are inserted: first where a contact begins and ends, then at the largest error. ``missed``
    is the largest distance of a foot in contact from its old position. The foot whose ankle is ``excluded_joint`` is
    not restored: it is the one that the edit moved.
    """
    stances = [stance for stance in find_stances(before, change) if stance.leg.end != excluded_joint]
    unrestored, frames = change.keyed, set[int]()
    while True:
        for frame in sorted(frames):
            unrestored = insert_key(unrestored, frame).keyed
        keyed, frames = unrestored, set()
        for stance in stances:
            restored = restore_leg(unrestored.sample(frames=stance.frames), stance)
            keyed = fit_rotations(keyed, stance.joints, stance.frames, restored.rotations, restored.differs)
            frames |= _frames_to_key(keyed, stance, restored)
        if not frames:
            break
    inserted = keyed.n_keys - change.keyed.n_keys
    notes = (
        change.note,
        f"{inserted} {'key' if inserted == 1 else 'keys'} inserted to keep feet planted" if inserted else "",
    )
    missed = max([change.missed, *(_max_contact_error(keyed, stance) for stance in stances)])
    return replace(change, keyed=keyed, missed=missed, note=", ".join(filter(None, notes)))


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
    """Return one frame, where a key helps most, for each span in which the leg is too far from ``restored``."""
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
    """Return (N,) beside keys at which the leg accelerates too much, the ratio to what is allowed; 0 elsewhere."""
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
    """Return, of rows between two keys, where the contact with the largest error begins or ends, else the worst row."""
    worst = int(excess.argmax())
    if in_contact[worst]:
        changes = np.flatnonzero(np.diff(in_contact.astype(int))) + 1
        starts, ends = changes[changes <= worst], changes[changes > worst]
        if len(starts):
            return int(starts[-1])
        if len(ends):
            return int(ends[0]) - 1
    return worst
