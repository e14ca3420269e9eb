"""The frames of largest reach in the events of a clip, and the steps of a walk, both by geometry alone."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from benchmarks.search.events import find_events
from benchmarks.search.more_events import find_more_events

import keypose as kp
from keypose.arrays import Floats
from keypose.library.canonical import FPS, INDEX, CanonicalBody, canonical_body

KINDS = ("kick", "arm_overhead", "leg_raise", "crouch", "flight")
SIDES = ("left", "right")
MIN_CHANGE_M = 0.1  # of the ankle distance in a step


class Peak(NamedTuple):
    """The frame of largest reach of an event, in seconds from the start of the clip."""

    kind: str
    time_s: float


def find_event_peaks(motion: kp.Motion) -> list[Peak]:
    """Return the frame of largest reach of each event; none if the clip has no body.

    It is where the foot is horizontally farthest from the hips in a kick, a wrist highest above them with an arm
    overhead, a knee highest above them in a leg raise; where the hips are lowest in a crouch and highest in a flight.
    """
    body = canonical_body(motion)
    if body is None:
        return []
    reach = {
        "kick": _highest(body, "foot", is_level=True),
        "arm_overhead": _highest(body, "hand"),
        "leg_raise": _highest(body, "shin"),
        "crouch": -body.root[:, 1],
        "flight": body.root[:, 1],
    }
    peaks = []
    for event in (*find_events(motion), *find_more_events(body)):
        if event.kind in KINDS:
            start, stop = round(event.start_s * FPS), round(event.end_s * FPS)
            peaks.append(Peak(event.kind, (start + int(np.argmax(reach[event.kind][start:stop]))) / FPS))
    return peaks


def _highest(body: CanonicalBody, limb: str, *, is_level: bool = False) -> Floats:
    """Return the height over the hips of the higher of two limbs, (T,), or the horizontal distance of the farther."""
    offsets = np.stack([body.positions[:, INDEX[f"{side}_{limb}"]] - body.root for side in SIDES])
    return np.asarray((np.hypot(offsets[..., 0], offsets[..., 2]) if is_level else offsets[..., 1]).max(axis=0))


def rank_in_step(motion: kp.Motion) -> Floats:
    """Return for each frame the percentile rank (T,) of the horizontal ankle distance within its step; NaN outside.

    A step is from one passing of the feet, where the ankles are closest, to the next. The rank is 0 there and 1 where
    they are farthest apart.
    """
    up = "XYZ".index(motion.up[-1])
    feet = motion.world_positions()[:, [motion.joint(f"{side}_foot") for side in SIDES]]
    apart_m = np.linalg.norm(np.delete(feet[:, 0] - feet[:, 1], up, axis=1), axis=1) * motion.mm_per_unit / 1000
    passings = _find_lows(apart_m)
    ranks = np.full(motion.n_frames, np.nan)
    for start, stop in pairwise(passings):
        ranks[start:stop] = np.argsort(np.argsort(apart_m[start:stop])) / (stop - start - 1)
    return ranks


def _find_lows(values: Floats) -> list[int]:
    """Return the lowest frames between values that are higher by ``MIN_CHANGE_M`` on both sides."""
    lows, low, high = [], 0, 0
    is_falling = False
    for frame, value in enumerate(values):
        if is_falling:
            low = frame if value < values[low] else low
            if value - values[low] >= MIN_CHANGE_M:
                lows.append(low)
                is_falling, high = False, frame
        else:
            high = frame if value > values[high] else high
            if values[high] - value >= MIN_CHANGE_M:
                is_falling, low = True, frame
    return lows
