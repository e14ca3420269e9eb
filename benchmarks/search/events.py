"""Events of a clip found by geometry alone: kicks, flights, hands on the floor, arms overhead.

All on the canonical figure of 1.7 m, metres above the clip's floor (the 5th percentile of the lowest point of both
feet), at 30 frames a second. Descriptors and names are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import keypose as kp
from keypose.arrays import Bools, Floats, runs
from keypose.library.canonical import FPS, INDEX, CanonicalBody, canonical_body

KINDS = ("kick", "flight", "hand_to_floor", "arm_overhead")

UPRIGHT_M = 0.3  # head above hips: no cartwheel, no lying
# A kick: a fast foot, high and far from the hips, with a nearly straight leg.
KICK_HEIGHT_M, KICK_REACH_M, KICK_KNEE_DEG, KICK_SPEED_M_PER_S, KICK_BEFORE_S = 0.45, 0.45, 140.0, 4.0, 0.3
# A flight: no foot near the floor, and the hips in free fall.
FLIGHT_HEIGHT_M, FLIGHT_MIN_S, FLIGHT_FALL = 0.10, 0.15, (5.0, 15.0)  # m/s^2
HAND_HEIGHT_M, HAND_MIN_S = 0.20, 0.1  # of a wrist
OVERHEAD_M, OVERHEAD_MIN_S = 0.10, 0.2  # a wrist over the base of the skull, its elbow over the shoulder
MAX_GAP_S = 0.2  # gaps within one event


@dataclass(frozen=True)
class Event:
    """An event of a clip."""

    kind: str
    start_s: float
    end_s: float


def find_events(motion: kp.Motion) -> tuple[Event, ...]:
    """Return all events of a clip by kind and time; empty if it has no body."""
    body = canonical_body(motion)
    if body is None:
        return ()
    spans = {
        "kick": _kicks(body),
        "flight": _flights(body),
        "hand_to_floor": find_runs(_is_hand_low(body), HAND_MIN_S),
        "arm_overhead": find_runs(_is_arm_overhead(body), OVERHEAD_MIN_S),
    }
    return tuple(Event(kind, start / FPS, stop / FPS) for kind in KINDS for start, stop in spans[kind])


def _positions(body: CanonicalBody, joint: str) -> Floats:
    return body.positions[:, INDEX[joint]]


def _height(body: CanonicalBody, joint: str) -> Floats:
    return np.asarray(_positions(body, joint)[:, 1] - _floor_height(body))


def _foot_heights(body: CanonicalBody) -> Floats:
    feet = [_positions(body, f"{side}_{point}")[:, 1] for side in ("left", "right") for point in ("foot", "toes")]
    return np.asarray(np.min(feet, axis=0))


def _floor_height(body: CanonicalBody) -> float:
    return float(np.percentile(_foot_heights(body), 5.0))


def _is_upright(body: CanonicalBody) -> Bools:
    return np.asarray(_positions(body, "head")[:, 1] - body.root[:, 1] > UPRIGHT_M)


def _kicks(body: CanonicalBody) -> list[tuple[int, int]]:
    """Return the spans of kicks, including the time before in which the foot was fast."""
    n_before = round(KICK_BEFORE_S * FPS)
    is_kick = np.zeros(body.n_frames, bool)
    for side in ("left", "right"):
        hip, knee, foot = (_positions(body, f"{side}_{joint}") for joint in ("thigh", "shin", "foot"))
        offsets = foot - body.root
        reach = np.hypot(offsets[:, 0], offsets[:, 2])
        straight = _angle_deg(hip - knee, foot - knee) > KICK_KNEE_DEG
        is_extended = (
            straight & (reach > KICK_REACH_M) & (_height(body, f"{side}_foot") > KICK_HEIGHT_M) & _is_upright(body)
        )
        speed = (
            np.linalg.norm(np.gradient(offsets, axis=0), axis=1) * FPS if len(offsets) > 1 else np.zeros(len(offsets))
        )
        for start, stop in runs(is_extended):
            if speed[max(start - n_before, 0) : stop].max() > KICK_SPEED_M_PER_S:
                is_kick[max(start - n_before, 0) : stop] = True
    return runs(is_kick)


def _flights(body: CanonicalBody) -> list[tuple[int, int]]:
    off_floor = _foot_heights(body) - _floor_height(body) > FLIGHT_HEIGHT_M
    return [span for span in find_runs(off_floor, FLIGHT_MIN_S, max_gap_s=0.0) if _is_falling(body, *span)]


def _is_falling(body: CanonicalBody, start: int, stop: int) -> bool:
    """Return whether the height of the hips is a parabola of about gravity."""
    times = np.arange(stop - start) / FPS
    fall = -2 * float(np.polyfit(times, body.root[start:stop, 1], 2)[0])
    return FLIGHT_FALL[0] < fall < FLIGHT_FALL[1]


def _is_hand_low(body: CanonicalBody) -> Bools:
    return np.asarray(np.minimum(_height(body, "left_hand"), _height(body, "right_hand")) < HAND_HEIGHT_M)


def _is_arm_overhead(body: CanonicalBody) -> Bools:
    up = np.zeros(body.n_frames, bool)
    for side in ("left", "right"):
        over = _height(body, f"{side}_hand") - _height(body, "head") > OVERHEAD_M
        up |= over & (_height(body, f"{side}_forearm") > _height(body, f"{side}_upper_arm"))
    return up & _is_upright(body)


def find_runs(flags: Bools, min_duration_s: float, max_gap_s: float = MAX_GAP_S) -> list[tuple[int, int]]:
    """Return runs of true flags that last ``min_duration_s``, after closing gaps below ``max_gap_s``."""
    spans: list[tuple[int, int]] = []
    for start, stop in runs(flags):
        if spans and start - spans[-1][1] < max_gap_s * FPS:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return [(start, stop) for start, stop in spans if stop - start >= min_duration_s * FPS - 0.01]


def _angle_deg(a: Floats, b: Floats) -> Floats:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.sum(a * b, axis=1) / np.maximum(lengths, 1e-12)
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosines, -1.0, 1.0))))
