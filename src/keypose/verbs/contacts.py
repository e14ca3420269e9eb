"""Frames that matter to the feet: where contacts begin and end, and where flights are highest."""

from __future__ import annotations

import numpy as np

from keypose.arrays import runs
from keypose.errors import OptionError
from keypose.features import body_root
from keypose.kinematics import heights_above
from keypose.model import Motion

LEAST_FLIGHT_S = 0.1


def contact_frames(motion: Motion) -> tuple[int, ...]:
    """The first and last frame of each foot contact, and the frame of each flight in which the hips are highest.

    A flight is a time between two contacts in which no foot touches the ground for at least 0.1 s: one foot of a walk
    often leaves a frame or two before the other is seen to land.
    """
    contacts = motion.foot_contacts()
    if not contacts.feet:
        raise OptionError(f"{motion.name}: no foot is recognised, so pins='contacts' has nothing to pin")
    found: set[int] = set()
    for foot in contacts.touching.T:
        for start, stop in runs(foot):
            found |= {start, stop - 1}
    heights = heights_above(motion.world_positions()[:, body_root(motion.skeleton)], motion.up)
    for start, stop in runs(np.logical_not(contacts.touching.any(axis=1))):
        if start > 0 and stop < motion.n_frames and stop - start >= LEAST_FLIGHT_S * motion.fps:
            found.add(start + int(np.argmax(heights[start:stop])))
    return tuple(sorted(found))
