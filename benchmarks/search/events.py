"""What happens when in a clip, told by geometry alone: kicks, flights, hands on the floor, arms overhead.

All on the canonical figure of 1.7 m, metres above the clip's floor (the 5th percentile of the lowest point of both
feet), at 30 frames a second. No descriptor and no name is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import keypose as kp
from keypose.arrays import Bools, Floats, runs
from keypose.library.canonical import FPS, INDEX, Canonical, canonical

KINDS = ("kick", "flight", "hand_to_floor", "arm_overhead")

UPRIGHT_M = 0.3  # head above hips: no cartwheel, no lying
# A kick: a foot high and far from the hips, its leg nearly straight, that came fast.
KICK_HEIGHT_M, KICK_REACH_M, KICK_KNEE_DEG, KICK_SPEED_M_PER_S, KICK_BEFORE_S = 0.45, 0.45, 140.0, 4.0, 0.3
# A flight: no foot near the floor, and the hips fall as a thrown body does.
FLIGHT_HEIGHT_M, FLIGHT_LEAST_S, FLIGHT_FALL = 0.10, 0.15, (5.0, 15.0)  # m/s^2
HAND_HEIGHT_M, HAND_LEAST_S = 0.20, 0.1  # of a wrist
OVERHEAD_M, OVERHEAD_LEAST_S = 0.10, 0.2  # a wrist over the base of the skull, its elbow over the shoulder
CLOSED_S = 0.2  # gaps within one event


@dataclass(frozen=True)
class Event:
    """Something that happens in a clip."""

    kind: str
    start_s: float
    end_s: float


def events_of(motion: kp.Motion) -> tuple[Event, ...]:
    """All events of a clip, by kind and time; none where there is no body."""
    body = canonical(motion)
    if body is None:
        return ()
    found = {
        "kick": _kicks(body),
        "flight": _flights(body),
        "hand_to_floor": long_enough(_hands_low(body), HAND_LEAST_S),
        "arm_overhead": long_enough(_arms_overhead(body), OVERHEAD_LEAST_S),
    }
    return tuple(Event(kind, start / FPS, stop / FPS) for kind in KINDS for start, stop in found[kind])


def _at(body: Canonical, joint: str) -> Floats:
    return body.positions[:, INDEX[joint]]


def _height(body: Canonical, joint: str) -> Floats:
    return np.asarray(_at(body, joint)[:, 1] - _floor(body))


def _lowest_of_feet(body: Canonical) -> Floats:
    feet = [_at(body, f"{side}_{point}")[:, 1] for side in ("left", "right") for point in ("foot", "toes")]
    return np.asarray(np.min(feet, axis=0))


def _floor(body: Canonical) -> float:
    return float(np.percentile(_lowest_of_feet(body), 5.0))


def _upright(body: Canonical) -> Bools:
    return np.asarray(_at(body, "head")[:, 1] - body.root[:, 1] > UPRIGHT_M)


def _kicks(body: Canonical) -> list[tuple[int, int]]:
    """Each with the time before it in which the foot was fast."""
    before = round(KICK_BEFORE_S * FPS)
    high = np.zeros(body.n_frames, bool)
    for side in ("left", "right"):
        hip, knee, foot = (_at(body, f"{side}_{joint}") for joint in ("thigh", "shin", "foot"))
        off = foot - body.root
        reach = np.hypot(off[:, 0], off[:, 2])
        straight = _angle_deg(hip - knee, foot - knee) > KICK_KNEE_DEG
        out = straight & (reach > KICK_REACH_M) & (_height(body, f"{side}_foot") > KICK_HEIGHT_M) & _upright(body)
        speed = np.linalg.norm(np.gradient(off, axis=0), axis=1) * FPS if len(off) > 1 else np.zeros(len(off))
        for start, stop in runs(out):
            if speed[max(start - before, 0) : stop].max() > KICK_SPEED_M_PER_S:
                high[max(start - before, 0) : stop] = True
    return runs(high)


def _flights(body: Canonical) -> list[tuple[int, int]]:
    off_floor = _lowest_of_feet(body) - _floor(body) > FLIGHT_HEIGHT_M
    return [span for span in long_enough(off_floor, FLIGHT_LEAST_S, closed_s=0.0) if _falls(body, *span)]


def _falls(body: Canonical, start: int, stop: int) -> bool:
    """Whether the hips' height is a parabola of about gravity."""
    times = np.arange(stop - start) / FPS
    fall = -2 * float(np.polyfit(times, body.root[start:stop, 1], 2)[0])
    return FLIGHT_FALL[0] < fall < FLIGHT_FALL[1]


def _hands_low(body: Canonical) -> Bools:
    return np.asarray(np.minimum(_height(body, "left_hand"), _height(body, "right_hand")) < HAND_HEIGHT_M)


def _arms_overhead(body: Canonical) -> Bools:
    up = np.zeros(body.n_frames, bool)
    for side in ("left", "right"):
        over = _height(body, f"{side}_hand") - _height(body, "head") > OVERHEAD_M
        up |= over & (_height(body, f"{side}_forearm") > _height(body, f"{side}_upper_arm"))
    return up & _upright(body)


def long_enough(flags: Bools, least_s: float, closed_s: float = CLOSED_S) -> list[tuple[int, int]]:
    """Runs of true flags, short gaps closed, that last a least time."""
    joined: list[tuple[int, int]] = []
    for start, stop in runs(flags):
        if joined and start - joined[-1][1] < closed_s * FPS:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return [(start, stop) for start, stop in joined if stop - start >= least_s * FPS - 0.01]


def _angle_deg(a: Floats, b: Floats) -> Floats:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.sum(a * b, axis=1) / np.maximum(lengths, 1e-12)
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosines, -1.0, 1.0))))
