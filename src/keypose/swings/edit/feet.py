"""The feet when swings are edited: which edits move them, their contacts, and planting."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from keypose.arrays import Floats
from keypose.curves.edit.foot_plants import PlantResult, plant_feet
from keypose.model import FootContacts, Motion, Skeleton
from keypose.swings.edit.baseline import Baseline
from keypose.swings.model import Swings


def moves_feet(skeleton: Skeleton, joints: Iterable[int]) -> bool:
    """Return whether any of the joints is in a leg, the hips or a root."""
    anatomy = skeleton.anatomy
    hips = [j for j, part in enumerate(anatomy.body_parts) if part == "hips"]
    return not {*anatomy.groups.get("legs", ()), *hips, *skeleton.roots}.isdisjoint(joints)


def hold_feet(baseline: Baseline, swings: Swings, motion: Motion) -> PlantResult:
    """Return ``motion``, the played ``swings`` at their own frame rate, with feet planted where they were before all
    edits.

    Contacts move in time with the leg.
    """
    original, missed_mm = baseline.original, 0.0
    moved_legs: list[str] = []
    notes: list[str] = []
    for sides, source in _foot_sources(baseline, swings):
        planted = plant_feet(original.motion, motion, original.contacts, source=source, feet=sides)
        motion, missed_mm = planted.motion, max(missed_mm, planted.missed_mm)
        moved_legs += planted.moved_legs
        notes += [planted.note] if planted.note else []
    return PlantResult(motion, missed_mm, tuple(moved_legs), "; ".join(dict.fromkeys(notes)))


def edited_contacts(baseline: Baseline, swings: Swings) -> FootContacts:
    """Return the foot contacts after the edits."""
    contacts = baseline.original.contacts
    in_contact = np.zeros((swings.n_frames, len(contacts.feet)), bool)
    for sides, source in _foot_sources(baseline, swings):
        rows = np.arange(swings.n_frames) if source is None else np.floor(source + 0.5).astype(int)
        for side in sides:
            column = contacts.feet.index(side)
            in_contact[:, column] = contacts.in_contact[rows, column]
    return FootContacts(contacts.feet, in_contact)


def _foot_sources(baseline: Baseline, swings: Swings) -> list[tuple[tuple[str, ...], Floats | None]]:
    """Return for each foot the corresponding frames (T,) before all edits; None: the same frames."""
    feet = baseline.original.contacts.feet
    leg_sources = {side: _leg_source(baseline, swings, side) for side in feet}
    if all(source is None for source in leg_sources.values()):
        return [(feet, baseline.source)]
    return [((side,), source if source is not None else baseline.source) for side, source in leg_sources.items()]


def _leg_source(baseline: Baseline, swings: Swings, side: str) -> Floats | None:
    """Return the corresponding frames of a leg if its thigh or shin was moved in time; None: those of the clip."""
    frames = np.arange(swings.n_frames, dtype=np.float64)
    body_parts = swings.skeleton.anatomy.body_parts
    leg = [j for j, part in enumerate(body_parts) if part in (f"{side}_thigh", f"{side}_shin")]
    warps = [baseline.warps.get(j) for j in leg]
    if all(each is None for each in warps):
        return None
    mean = np.mean([frames if each is None else each for each in warps], axis=0)
    return np.asarray(mean if baseline.source is None else np.interp(mean, frames, baseline.source))
