"""Feet that stay planted on dense motion: what ``feet.py`` does for keys, frame by frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.feet import put_back
from keypose.inbetween.editing.footing import FADE_S, Footing, footing
from keypose.inbetween.editing.limbs import Limb, hinge_over, limbs
from keypose.model import FootContacts, Motion
from keypose.model.motion import source_frames
from keypose.options import number
from keypose.rotations import normalise

MISSED_MM = 1.0  # on a figure of 1.7 m: what is less needs no words


@dataclass(frozen=True, eq=False)
class Planted:
    """A motion whose feet stand where they stood."""

    motion: Motion
    missed_mm: float = 0.0  # the farthest that an ankle in contact is from its place, on a figure of 1.7 m
    legs_moved: tuple[str, ...] = ()  # sides of the legs that had to move: "left", "right"
    note: str = ""  # why feet are not planted, or not quite

    def __repr__(self) -> str:
        legs = " and ".join(self.legs_moved) or "no"
        note = f", {self.note}" if self.note else ""
        return f"Planted({self.motion.name!r}, {legs} leg moved, missed by {self.missed_mm:.3g} mm{note})"


def plant_feet(
    before: Motion,
    after: Motion,
    touching: FootContacts | Bools,
    *,
    source: ArrayLike | None = None,
    feet: Iterable[str] | None = None,
    fade_s: float = FADE_S,
) -> Planted:
    """``after``, the edited ``before``, with feet in contact put back where they stood, as far as the legs reach.

    ``touching`` (frames of ``before``, feet) says when each recognised foot stands. Its ankle then has the place and
    turn that it had, and its toes their turn. Over ``fade_s`` seconds before and after a contact a share of the
    correction fades out; no foot in the air comes down through the floor, and no knee snaps straight. ``source``, of a
    retimed motion: the frame of ``before``, whole or not, that belongs to each frame of ``after``. ``feet``: only these
    sides, ``("left",)``.

    Only thighs, shins, feet and toes ever turn; frames in which nothing is to be done keep their very numbers. A foot
    that never stands goes free.
    """
    if before.skeleton.names != after.skeleton.names:
        raise OptionError(f"{after.name} has other joints than {before.name}, expected the same figure, edited")
    fade_s = number("fade_s", fade_s, least=0.0)
    contacts = _contacts(before, touching)
    sides = _sides(contacts, feet)
    known = limbs(before.skeleton)
    # An edited knee may be bent backwards; put back as bent as before, it would snap where it passes through straight.
    legs = {side: replace(known[f"{side}_foot"], one_way=True) for side in sides if f"{side}_foot" in known}
    at = source_frames(source, before.n_frames, after.n_frames)
    if not legs:
        return Planted(after, note="no foot that hangs on a shin and a thigh is recognised, so none is planted")
    old = before if at is None else before.at_frames(at)
    old = old if old.fps == after.fps else replace(old, fps=after.fps)
    rotations, moved, missed_mm = after.rotations.copy(), [], 0.0
    for side, leg in legs.items():
        stands = contacts.touching[:, contacts.feet.index(side)]
        if at is not None:
            stands = stands[np.floor(at + 0.5).astype(int)]
        if not stands.any():
            continue
        rows = _rows_that_differ(old, after, leg)
        stance = footing(old, leg, hinge_over(before, leg), stands, rows, fade_s)
        differs, missed = _plant(rotations, after, stance)
        missed_mm = max(missed_mm, missed * after.mm_per_unit)
        if differs:
            moved.append(side)
    motion = replace(after, rotations=give_away(rotations)) if moved else after
    far = f"a foot stays up to {missed_mm:.0f} mm from its place: its leg does not reach it"
    return Planted(motion, missed_mm, tuple(moved), far if missed_mm > MISSED_MM else "")


def _plant(rotations: Floats, after: Motion, stance: Footing) -> tuple[bool, float]:
    """Puts a foot back in ``rotations`` (T, J, 4); whether that changed any, and how far it is from its place."""
    rows = stance.frames
    if not len(rows):
        return False, 0.0
    now = replace(after, translations=give_away(after.translations[rows]), rotations=give_away(after.rotations[rows]))
    back = put_back(now, stance)
    changed = rows[back.differs]
    rotations[changed[:, None], stance.joints] = normalise(back.turns[back.differs])
    away = np.linalg.norm(back.positions[:, stance.leg.end] - stance.positions, axis=-1)
    return bool(len(changed)), float(away[stance.stands].max(initial=0.0))


def _rows_that_differ(old: Motion, after: Motion, leg: Limb) -> Ints:
    """The frames in which anything of a leg is elsewhere than before; in others there is nothing to do."""
    below = _below(old, leg.upper)
    places = old.world_positions()[:, below] != after.world_positions()[:, below]
    turns = old.world_rotations()[:, below] != after.world_rotations()[:, below]
    return np.flatnonzero(places.any(axis=(1, 2)) | turns.any(axis=(1, 2))).astype(np.int32)


def _below(motion: Motion, joint: int) -> list[int]:
    """``joint`` and all that hang on it."""
    found = [joint]
    for j, parent in enumerate(motion.skeleton.parents.tolist()):
        if parent in found:
            found.append(j)
    return found


def _contacts(before: Motion, touching: FootContacts | Bools) -> FootContacts:
    """Contacts with their feet, one row for each frame of ``before``."""
    if isinstance(touching, FootContacts):
        feet, given = touching.feet, np.asarray(touching.touching)
    else:
        feet, given = tuple(before.skeleton.anatomy.feet()), np.asarray(touching)
    if given.dtype != bool or given.shape != (before.n_frames, len(feet)):
        raise OptionError(f"touching: {given.dtype} of shape {given.shape}, expected true or false "
                          f"for {before.n_frames} frames and {len(feet)} feet")  # fmt: skip
    return FootContacts(feet, given)


def _sides(contacts: FootContacts, feet: Iterable[str] | None) -> tuple[str, ...]:
    if feet is None:
        return contacts.feet
    wanted = (feet,) if isinstance(feet, str) else tuple(feet)
    unknown = [side for side in wanted if side not in contacts.feet]
    if unknown:
        raise OptionError(f"feet={unknown[0]!r}, expected any of {', '.join(contacts.feet) or 'none'}")
    return wanted
