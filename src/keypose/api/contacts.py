"""Frames of foot contacts: where they begin and end, and the highest frame of each flight."""

from __future__ import annotations

import numpy as np

from keypose.arrays import runs
from keypose.errors import OptionError
from keypose.features import body_root
from keypose.kinematics import heights_above
from keypose.model import Motion

MIN_FLIGHT_S = 0.1


def contact_frames(motion: Motion) -> tuple[int, ...]:
    """Return the first and last frame of each foot contact, and the frame of each flight in which the hips are highest.

    In a flight no foot touches the ground for at least 0.1 s between two contacts; shorter ones are ignored, as in a
    walk one foot often leaves a frame or two before the contact of the other is detected.
    """
    contacts = motion.foot_contacts()
    if not contacts.feet:
        raise OptionError(f"{motion.name}: no foot is recognised, so pins='contacts' has nothing to pin")
    frames: set[int] = set()
    for foot in contacts.in_contact.T:
        for start, stop in runs(foot):
            frames |= {start, stop - 1}
    heights = heights_above(motion.world_positions()[:, body_root(motion.skeleton)], motion.up)
    for start, stop in runs(np.logical_not(contacts.in_contact.any(axis=1))):
        if start > 0 and stop < motion.n_frames and stop - start >= MIN_FLIGHT_S * motion.fps:
            frames.add(start + int(np.argmax(heights[start:stop])))
    return tuple(sorted(frames))
