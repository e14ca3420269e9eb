"""How fast joints turn before all edits: what seams may not exceed afterwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats
from keypose.swings.editing.pieces import course_of, pieces_of
from keypose.swings.noun import Swings


class Bounds(NamedTuple):
    """Of each joint, in radians per frame. A joint that hardly moves, never faster than rest, has the clip's."""

    limits: Floats  # (J,) its largest step from frame to frame, which no seam may exceed
    paces: Floats  # (J,) the same without seams: what an adapted seam keeps to, unless it was faster before


def bounds_of(swings: Swings) -> Bounds:
    """The bounds that these swings, as they are, give to edits of them."""
    limits, paces = np.zeros(swings.n_joints), np.zeros(swings.n_joints)
    for j, track in enumerate(swings.tracks):
        course = course_of(pieces_of(track))
        steps = course.steps()
        limits[j], paces[j] = steps.max(initial=0.0), steps[~course.bridges].max(initial=0.0)
    still = limits < swings.settings.rest_rad_per_s / swings.fps
    clip_limit, clip_pace = limits.max(), paces.max()
    limits[still], paces[still] = clip_limit, clip_pace
    return Bounds(limits, paces)
