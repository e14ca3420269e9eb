"""Measure balance: the centre of mass, where it is going, and the feet under it."""

from __future__ import annotations

import numpy as np

from keypose.anatomy.parts import SIDES
from keypose.arrays import Floats
from keypose.balance.body import centre_of_mass, check_body, segment_ends
from keypose.balance.noun import Balance
from keypose.balance.support import level_axes, margins, supports
from keypose.errors import OptionError
from keypose.kinematics import heights_above
from keypose.model import FootContacts, Motion

GRAVITY_M_PER_S2 = 9.81
VELOCITY_S = 0.05  # to both sides of a frame: what is quicker (a swing that begins at once) is no way of falling


def balance(motion: Motion, *, contacts: FootContacts | None = None) -> Balance:
    """The centre of mass of a figure in every frame, against the support of its feet.

    Masses are those of people (``segments.py``), so arms and legs must be recognised. ``contacts``: those that the
    motion is meant to have; if they are left out, they are found in it.
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives it")
    check_body(motion)
    contacts = motion.foot_contacts() if contacts is None else _checked(motion, contacts)
    centre = centre_of_mass(motion)
    speed = velocity(centre, motion.fps)
    metres = motion.mm_per_unit / 1000.0
    extrapolated = centre + speed / np.sqrt(GRAVITY_M_PER_S2 / (leg_length(motion) * metres))
    level = level_axes(motion)
    hulls, corners = supports(motion, contacts)
    feet = [j for joints in motion.skeleton.anatomy.feet().values() for j in joints]
    lowest = heights_above(motion.world_positions()[:, feet], motion.up).min(axis=1)
    return Balance(
        name=motion.name,
        fps=motion.fps,
        up=motion.up,
        centre_of_mass=centre,
        velocity=speed,
        extrapolated=extrapolated,
        margin_mm=margins(centre[:, level], hulls, corners) * motion.mm_per_unit,
        extrapolated_margin_mm=margins(extrapolated[:, level], hulls, corners) * motion.mm_per_unit,
        supported=corners > 0,
        hulls=hulls,
        corners=corners,
        level=(level[0], level[1]),
        floor=float(np.percentile(lowest, 5.0)),
    )


def velocity(places: Floats, fps: float) -> Floats:
    """(T, 3) per second, over ``VELOCITY_S`` to both sides of each frame, as far as there are any."""
    reach = max(1, round(VELOCITY_S * fps))
    frames = np.arange(len(places))
    since, until = np.maximum(frames - reach, 0), np.minimum(frames + reach, len(places) - 1)
    took = np.maximum(until - since, 1)[:, None] / fps
    return np.asarray((places[until] - places[since]) / took)


def leg_length(motion: Motion) -> float:
    """From hip to ankle of a stretched leg, file units: the middle one over sides and frames."""
    ends = segment_ends(motion)
    bones = [
        [np.linalg.norm(np.subtract(*ends[f"{side}_{part}"]), axis=-1) for part in ("thigh", "shin")] for side in SIDES
    ]
    return float(np.median(np.sum(bones, axis=1)))


def _checked(motion: Motion, contacts: FootContacts) -> FootContacts:
    if not isinstance(contacts, FootContacts):
        raise OptionError(f"contacts: {type(contacts).__name__}, expected FootContacts, as motion.foot_contacts() "
                          f"gives them")  # fmt: skip
    known = tuple(motion.skeleton.anatomy.feet())
    strange = [foot for foot in contacts.feet if foot not in known]
    if strange or contacts.touching.shape != (motion.n_frames, len(contacts.feet)):
        raise OptionError(f"contacts of {', '.join(contacts.feet) or 'no foot'}, {contacts.touching.shape}, expected "
                          f"{motion.n_frames} frames of {', '.join(known)}")  # fmt: skip
    return contacts
