"""Plant the feet of a dense motion, frame by frame; ``feet.py`` does the same for keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.edit.feet import FADE_S, Stance, build_stance, restore_leg
from keypose.curves.edit.reach import Limb, find_limbs, find_motion_hinge
from keypose.errors import OptionError, format_count
from keypose.model import FootContacts, Motion
from keypose.model.motion import check_source_frames
from keypose.rotations import normalise
from keypose.validation import check_number

NOTE_MIN_MM = 1.0  # on a figure of 1.7 m; smaller errors are not noted


@dataclass(frozen=True, eq=False)
class PlantResult:
    """A motion whose foot contacts were restored."""

    motion: Motion
    missed_mm: float = 0.0  # largest distance of an ankle in contact from its old position, on a figure of 1.7 m
    moved_legs: tuple[str, ...] = ()  # sides of the legs that were changed: "left", "right"
    note: str = ""  # why feet are not planted, or not exactly

    def __repr__(self) -> str:
        legs = " and ".join(self.moved_legs) or "no"
        note = f", {self.note}" if self.note else ""
        return f"PlantResult({self.motion.name!r}, {legs} leg moved, missed by {self.missed_mm:.3g} mm{note})"


def plant_feet(
    before: Motion,
    after: Motion,
    foot_contacts: FootContacts | Bools,
    *,
    source: ArrayLike | None = None,
    feet: Iterable[str] | None = None,
    fade_s: float = FADE_S,
) -> PlantResult:
    """Return ``after``, the edited ``before``, with feet in contact at their old positions.

    ``foot_contacts`` (frames of ``before``, feet) flags the contacts of each recognised foot. In contacts the ankle
    gets its old position and rotation, and the toes their old rotations, as far as the leg reaches. Within ``fade_s``
    seconds before and after a contact the correction fades out; no foot in the air goes below the floor, and no knee
    jumps straight. ``source``, for a retimed motion: the frame of ``before``, which may be fractional, of each frame of
    ``after``. ``feet``: only these sides, such as ``("left",)``.

    Only thighs, shins, feet and toes rotate; frames without a correction are exact copies. A foot that is never in
    contact is not changed.
    """
    if before.skeleton.names != after.skeleton.names:
        raise OptionError(f"{after.name} has other joints than {before.name}", expected="the same figure, edited")
    fade_s = check_number("fade_s", fade_s, min_value=0.0)
    contacts = _check_contacts(before, foot_contacts)
    sides = _check_sides(contacts, feet)
    known_limbs = find_limbs(before.skeleton)
    # An edited knee may be bent backwards; if it were restored with that bend, it would jump when the leg is straight.
    legs = {
        side: replace(known_limbs[f"{side}_foot"], bends_one_way=True)
        for side in sides
        if f"{side}_foot" in known_limbs
    }
    source_positions = check_source_frames(source, before.n_frames, after.n_frames)
    if not legs:
        return PlantResult(after, note="no leg with thigh, shin and foot is recognised, so feet are not kept in place")
    unedited = before if source_positions is None else before.at_frames(source_positions)
    unedited = unedited if unedited.fps == after.fps else replace(unedited, fps=after.fps)
    rotations, moved_legs, missed_mm = after.rotations.copy(), [], 0.0
    for side, leg in legs.items():
        in_contact = contacts.in_contact[:, contacts.feet.index(side)]
        if source_positions is not None:
            in_contact = in_contact[np.floor(source_positions + 0.5).astype(int)]
        if not in_contact.any():
            continue
        rows = _changed_frames(unedited, after, leg)
        stance = build_stance(unedited, leg, find_motion_hinge(before, leg), in_contact, rows, fade_s)
        is_changed, missed = _plant_foot(rotations, after, stance)
        missed_mm = max(missed_mm, missed * after.mm_per_unit)
        if is_changed:
            moved_legs.append(side)
    motion = replace(after, rotations=freeze(rotations)) if moved_legs else after
    note = f"a foot is up to {missed_mm:.0f} mm away from its place, which its leg cannot reach"
    return PlantResult(motion, missed_mm, tuple(moved_legs), note if missed_mm > NOTE_MIN_MM else "")


def _plant_foot(rotations: Floats, after: Motion, stance: Stance) -> tuple[bool, float]:
    """Restore a foot in ``rotations`` (T, J, 4); return whether that changed any, and the remaining distance."""
    rows = stance.frames
    if not len(rows):
        return False, 0.0
    edited = replace(after, translations=freeze(after.translations[rows]), rotations=freeze(after.rotations[rows]))
    restored = restore_leg(edited, stance)
    changed_frames = rows[restored.differs]
    rotations[changed_frames[:, None], stance.joints] = normalise(restored.rotations[restored.differs])
    errors = np.linalg.norm(restored.positions[:, stance.leg.end] - stance.positions, axis=-1)
    return bool(len(changed_frames)), float(errors[stance.in_contact].max(initial=0.0))


def _changed_frames(unedited: Motion, after: Motion, leg: Limb) -> Ints:
    """Return the frames in which any joint of a leg differs from before; others need no correction."""
    joints = _descendants(unedited, leg.upper)
    position_changes = unedited.world_positions()[:, joints] != after.world_positions()[:, joints]
    rotation_changes = unedited.world_rotations()[:, joints] != after.world_rotations()[:, joints]
    return np.flatnonzero(position_changes.any(axis=(1, 2)) | rotation_changes.any(axis=(1, 2))).astype(np.int32)


def _descendants(motion: Motion, joint: int) -> list[int]:
    """Return ``joint`` and all its descendants."""
    joints = [joint]
    for j, parent in enumerate(motion.skeleton.parents.tolist()):
        if parent in joints:
            joints.append(j)
    return joints


def _check_contacts(before: Motion, foot_contacts: FootContacts | Bools) -> FootContacts:
    """Return checked contacts with the names of their feet, one row for each frame of ``before``."""
    if isinstance(foot_contacts, FootContacts):
        feet, flags = foot_contacts.feet, np.asarray(foot_contacts.in_contact)
    else:
        feet, flags = tuple(before.skeleton.anatomy.feet()), np.asarray(foot_contacts)
    if flags.dtype != bool or flags.shape != (before.n_frames, len(feet)):
        raise OptionError(
            f"{flags.dtype} of shape {flags.shape}",
            option="foot_contacts",
            expected=f"true or false for {format_count(before.n_frames, 'frame')} and {len(feet)} feet",
        )
    return FootContacts(feet, flags)


def _check_sides(contacts: FootContacts, feet: Iterable[str] | None) -> tuple[str, ...]:
    if feet is None:
        return contacts.feet
    sides = (feet,) if isinstance(feet, str) else tuple(feet)
    unknown = [side for side in sides if side not in contacts.feet]
    if unknown:
        raise OptionError(option="feet", value=unknown[0], expected=f"any of {', '.join(contacts.feet) or 'none'}")
    return sides
