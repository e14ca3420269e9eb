"""More events found by geometry, without expected figures, to test whether results are similar for other events.

Metres, radians and seconds in the coordinates of the body (``descriptors/description.py``).
"""

from __future__ import annotations

import numpy as np
from benchmarks.search.events import Event, find_runs

from keypose.arrays import Bools, Floats
from keypose.library.canonical import FPS, INDEX, CanonicalBody
from keypose.library.descriptors.description import Posture, posture

MORE_KINDS = ("crouch", "spin", "hands_together", "bow", "leg_raise", "run")
SMOOTHING_FRAMES = 9  # of the turning rate


def find_more_events(body: CanonicalBody) -> tuple[Event, ...]:
    """Return these events of a clip by kind and time."""
    pose = posture(body)
    return tuple(
        Event(kind, start / FPS, stop / FPS)
        for kind, (flags, min_duration_s) in _event_flags(pose).items()
        for start, stop in find_runs(flags, min_duration_s)
    )


def _event_flags(pose: Posture) -> dict[str, tuple[Bools, float]]:
    """Return, by kind, flags per frame (T,) and the minimum duration in seconds."""
    chest, head, left, right = (_positions(pose, joint) for joint in ("chest", "head", "left_hand", "right_hand"))
    knees = np.maximum(_positions(pose, "left_shin")[:, 1], _positions(pose, "right_shin")[:, 1])
    upright = head[:, 1] > 0.3
    together = np.linalg.norm(left - right, axis=1) < 0.2
    speed = np.hypot(pose.travel[:, 0], pose.travel[:, 2])
    return {
        "crouch": ((pose.heights < 0.6) & (chest[:, 1] > 0.15), 0.3),
        "spin": ((np.abs(_smooth(pose.turn_rate)) > 3.5) & upright, 0.3),
        "hands_together": (together & ((left + right)[:, 1] / 2 > 0.15) & upright, 0.2),
        "bow": ((head[:, 2] > 0.3) & (head[:, 1] < 0.45) & (pose.heights > 0.7), 0.3),
        "leg_raise": ((knees > -0.05) & (pose.heights > 0.75) & upright, 0.15),
        "run": (speed > 2.3, 0.3),
    }


def _positions(pose: Posture, joint: str) -> Floats:
    return pose.positions[:, INDEX[joint]]


def _smooth(values: Floats) -> Floats:
    half = SMOOTHING_FRAMES // 2
    return np.convolve(np.pad(values, half, mode="edge"), np.full(SMOOTHING_FRAMES, 1 / SMOOTHING_FRAMES), "valid")
