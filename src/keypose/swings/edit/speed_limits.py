"""The speeds of joints before all edits, which limit the speeds at seams after them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats
from keypose.swings.edit.pieces import build_course, split_track
from keypose.swings.model import Swings


class SpeedLimits(NamedTuple):
    """Limits of each joint, in radians per frame. A joint that is never faster than rest has those of the clip."""

    hard: Floats  # (J,) the largest step from frame to frame, which no seam may exceed
    soft: Floats  # (J,) the same without seams: the limit of an adapted seam, unless it was faster before


def measure_speed_limits(swings: Swings) -> SpeedLimits:
    """Return the speed limits for edits of these swings."""
    hard, soft = np.zeros(swings.n_joints), np.zeros(swings.n_joints)
    for j, track in enumerate(swings.tracks):
        course = build_course(split_track(track))
        steps = course.steps()
        hard[j], soft[j] = steps.max(initial=0.0), steps[~course.is_bridge].max(initial=0.0)
    is_still = hard < swings.settings.rest_rad_per_s / swings.fps
    clip_hard, clip_soft = hard.max(), soft.max()
    hard[is_still], soft[is_still] = clip_hard, clip_soft
    return SpeedLimits(hard, soft)
