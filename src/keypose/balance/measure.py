"""Measure balance: centre of mass, its velocity, and its margin to the support of the feet."""

from __future__ import annotations

import numpy as np

from keypose.anatomy.body_parts import SIDES
from keypose.arrays import Floats
from keypose.balance.body import centre_of_mass, check_body, segment_ends
from keypose.balance.result import Balance
from keypose.balance.support import ground_axes, margins, support_hulls
from keypose.errors import OptionError
from keypose.kinematics import heights_above
from keypose.model import FootContacts, Motion

GRAVITY_M_PER_S2 = 9.81
VELOCITY_S = 0.05  # on both sides of a frame: faster changes (a sudden swing of an arm) are no falls


def balance(motion: Motion, *, contacts: FootContacts | None = None) -> Balance:
    """Return the centre of mass of a figure in every frame, and its margin to the support of the feet.

    Masses are those of people (``segments.py``), so arms and legs must be recognised. ``contacts``: intended contacts
    of the feet; None: detect them in the motion.
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives it")
    check_body(motion)
    contacts = motion.foot_contacts() if contacts is None else _check_contacts(motion, contacts)
    centre = centre_of_mass(motion)
    centre_velocity = velocity(centre, motion.fps)
    metres = motion.mm_per_unit / 1000.0
    extrapolated = centre + centre_velocity / np.sqrt(GRAVITY_M_PER_S2 / (leg_length(motion) * metres))
    level = ground_axes(motion)
    hulls, corners = support_hulls(motion, contacts)
    feet = [j for joints in motion.skeleton.anatomy.feet().values() for j in joints]
    lowest = heights_above(motion.world_positions()[:, feet], motion.up).min(axis=1)
    return Balance(
        name=motion.name,
        fps=motion.fps,
        up=motion.up,
        centre_of_mass=centre,
        velocity=centre_velocity,
        extrapolated_centre_of_mass=extrapolated,
        margin_mm=margins(centre[:, level], hulls, corners) * motion.mm_per_unit,
        extrapolated_margin_mm=margins(extrapolated[:, level], hulls, corners) * motion.mm_per_unit,
        supported=corners > 0,
        hulls=hulls,
        n_corners=corners,
        ground_axes=(level[0], level[1]),
        floor=float(np.percentile(lowest, 5.0)),
    )


def velocity(positions: Floats, fps: float) -> Floats:
    """Return the velocity (T, 3) per second, over up to ``VELOCITY_S`` on both sides of each frame."""
    reach = max(1, round(VELOCITY_S * fps))
    frames = np.arange(len(positions))
    since, until = np.maximum(frames - reach, 0), np.minimum(frames + reach, len(positions) - 1)
    durations_s = np.maximum(until - since, 1)[:, None] / fps
    return np.asarray((positions[until] - positions[since]) / durations_s)


def leg_length(motion: Motion) -> float:
    """Return the length of a stretched leg from hip to ankle, file units: the median over sides and frames."""
    ends = segment_ends(motion)
    bones = [
        [np.linalg.norm(np.subtract(*ends[f"{side}_{part}"]), axis=-1) for part in ("thigh", "shin")] for side in SIDES
    ]
    return float(np.median(np.sum(bones, axis=1)))


def _check_contacts(motion: Motion, contacts: FootContacts) -> FootContacts:
    if not isinstance(contacts, FootContacts):
        raise OptionError(f"contacts: {type(contacts).__name__}, expected FootContacts, as motion.foot_contacts() "
                          f"gives them")  # fmt: skip
    known_feet = tuple(motion.skeleton.anatomy.feet())
    unknown_feet = [foot for foot in contacts.feet if foot not in known_feet]
    if unknown_feet or contacts.in_contact.shape != (motion.n_frames, len(contacts.feet)):
        raise OptionError(f"contacts of {', '.join(contacts.feet) or 'no foot'}, {contacts.in_contact.shape}, expected "
                          f"{motion.n_frames} frames of {', '.join(known_feet)}")  # fmt: skip
    return contacts
