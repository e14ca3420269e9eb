"""Feet under edits of swings: which edits move them, and holding them where they stood."""

from __future__ import annotations

from collections.abc import Iterable

from keypose.inbetween.editing.planting import Planted, plant_feet
from keypose.model import Motion, Skeleton
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings


def moves_feet(skeleton: Skeleton, joints: Iterable[int]) -> bool:
    """Whether any of the joints is of a leg, or the hips or what else carries all."""
    anatomy = skeleton.anatomy
    hips = [j for j, part in enumerate(anatomy.parts) if part == "hips"]
    return not {*anatomy.groups.get("legs", ()), *hips, *skeleton.roots}.isdisjoint(joints)


def with_feet_held(before: Unedited, now: Swings, motion: Motion) -> Planted:
    """``motion``, shown by ``now`` at its own frame rate, with feet where they stood before all edits."""
    return plant_feet(before.played, motion, before.contacts, source=before.source(now))
