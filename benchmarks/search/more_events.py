"""Other things that happen in clips, told by geometry: no promise is made about them, they show what carries over.

Metres, radians and seconds, as the body sees them (``descriptors/posture.py``).
"""

from __future__ import annotations

import numpy as np
from benchmarks.search.events import Event, long_enough

from keypose.arrays import Bools, Floats
from keypose.library.canonical import FPS, INDEX, Canonical
from keypose.library.descriptors.posture import Posture, posture

MORE_KINDS = ("crouch", "spin", "hands_together", "bow", "leg_raise", "run")
SMOOTHED_FRAMES = 9  # of turning


def more_events_of(body: Canonical) -> tuple[Event, ...]:
    """All of these events of a clip, by kind and time."""
    seen = posture(body)
    return tuple(
        Event(kind, start / FPS, stop / FPS)
        for kind, (flags, least_s) in _flags(seen).items()
        for start, stop in long_enough(flags, least_s)
    )


def _flags(seen: Posture) -> dict[str, tuple[Bools, float]]:
    """Which frames (T,) look so, and how long they must."""
    chest, head, left, right = (_at(seen, joint) for joint in ("chest", "head", "left_hand", "right_hand"))
    knees = np.maximum(_at(seen, "left_shin")[:, 1], _at(seen, "right_shin")[:, 1])
    upright = head[:, 1] > 0.3
    together = np.linalg.norm(left - right, axis=1) < 0.2
    speed = np.hypot(seen.travel[:, 0], seen.travel[:, 2])
    return {
        "crouch": ((seen.heights < 0.6) & (chest[:, 1] > 0.15), 0.3),
        "spin": ((np.abs(_smooth(seen.turning)) > 3.5) & upright, 0.3),
        "hands_together": (together & ((left + right)[:, 1] / 2 > 0.15) & upright, 0.2),
        "bow": ((head[:, 2] > 0.3) & (head[:, 1] < 0.45) & (seen.heights > 0.7), 0.3),
        "leg_raise": ((knees > -0.05) & (seen.heights > 0.75) & upright, 0.15),
        "run": (speed > 2.3, 0.3),
    }


def _at(seen: Posture, joint: str) -> Floats:
    return seen.positions[:, INDEX[joint]]


def _smooth(values: Floats) -> Floats:
    half = SMOOTHED_FRAMES // 2
    return np.convolve(np.pad(values, half, mode="edge"), np.full(SMOOTHED_FRAMES, 1 / SMOOTHED_FRAMES), "valid")
