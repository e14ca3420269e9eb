"""Feet under edits of swings: which edits move them, when they stand, and holding them where they stood."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from keypose.arrays import Floats
from keypose.inbetween.editing.planting import Planted, plant_feet
from keypose.model import FootContacts, Motion, Skeleton
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings


def moves_feet(skeleton: Skeleton, joints: Iterable[int]) -> bool:
    """Whether any of the joints is of a leg, or the hips or what else carries all."""
    anatomy = skeleton.anatomy
    hips = [j for j, part in enumerate(anatomy.parts) if part == "hips"]
    return not {*anatomy.groups.get("legs", ()), *hips, *skeleton.roots}.isdisjoint(joints)


def with_feet_held(before: Unedited, now: Swings, motion: Motion) -> Planted:
    """``motion``, shown by ``now`` at its own frame rate, with feet where they stood before all edits.

    A foot stands when its leg does what it did when it stood.
    """
    original, missed_mm = before.original, 0.0
    moved: list[str] = []
    notes: list[str] = []
    for sides, source in _sources(before, now):
        planted = plant_feet(original.played, motion, original.contacts, source=source, feet=sides)
        motion, missed_mm = planted.motion, max(missed_mm, planted.missed_mm)
        moved += planted.legs_moved
        notes += [planted.note] if planted.note else []
    return Planted(motion, missed_mm, tuple(moved), "; ".join(dict.fromkeys(notes)))


def contacts_of(before: Unedited, now: Swings) -> FootContacts:
    """When feet stand after the edits."""
    contacts = before.original.contacts
    touching = np.zeros((now.n_frames, len(contacts.feet)), bool)
    for sides, source in _sources(before, now):
        rows = np.arange(now.n_frames) if source is None else np.floor(source + 0.5).astype(int)
        for side in sides:
            column = contacts.feet.index(side)
            touching[:, column] = contacts.touching[rows, column]
    return FootContacts(contacts.feet, touching)


def _sources(before: Unedited, now: Swings) -> list[tuple[tuple[str, ...], Floats | None]]:
    """Feet, and the frames (T,) before all edits that they follow; None: the same ones."""
    feet = before.original.contacts.feet
    own = {side: _leg_source(before, now, side) for side in feet}
    if all(source is None for source in own.values()):
        return [(feet, before.source)]
    return [((side,), source if source is not None else before.source) for side, source in own.items()]


def _leg_source(before: Unedited, now: Swings, side: str) -> Floats | None:
    """The frames that a leg follows whose thigh or shin was moved in time; None: it goes with the clip."""
    frames = np.arange(now.n_frames, dtype=np.float64)
    parts = now.skeleton.anatomy.parts
    leg = [j for j, part in enumerate(parts) if part in (f"{side}_thigh", f"{side}_shin")]
    came = [before.warps.get(j) for j in leg]
    if all(each is None for each in came):
        return None
    mean = np.mean([frames if each is None else each for each in came], axis=0)
    return np.asarray(mean if before.source is None else np.interp(mean, frames, before.source))
