"""Rules that find and name the actions of limbs and of the whole body; all limits are in ``ActionLimits``.

All rules see the body at ``RATE`` frames a second, in metres on a figure of 1.7 m, with Y up. Movements of a limb are
strokes: stretches in which its end joint moves without stopping or turning back. Movements of the whole body are
changes of one number per frame, such as the heading of the hips, from one turning point to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from keypose.arrays import Floats, find_peaks, runs
from keypose.swings.body_motion import (
    RATE,
    BodyMotion,
    Direction,
    Limb,
    angle_deg,
    main_direction,
    path_length,
    smooth,
    speeds,
    turning_points,
)

ActionKind = Literal[
    "step", "kick", "swing", "raise", "lower", "reach", "punch", "wave", "turn left", "turn right", "jump", "crouch",
    "stand up", "sit", "bend", "climb up", "climb down",
]  # fmt: skip

GRAVITY = 9.81  # m/s^2


@dataclass(frozen=True)
class ActionLimits:
    """The limits of all rules. Lengths are metres on a figure of 1.7 m."""

    # strokes of a limb
    moving_m_per_s: float = 0.35  # an end joint that is slower does not move
    min_peak_m_per_s: float = 0.7  # maximum speed within a stroke, at least
    valley_ratio: float = 0.6  # a stroke ends where the speed falls below this share of the maxima on both sides
    min_turn_deg: float = 15.0  # by which swings of the limb turn within a stroke

    # legs
    min_step_m: float = 0.15  # horizontal distance between two places of a foot
    kick_speed_m_per_s: float = 4.0  # of the foot, relative to the hips
    kick_height_m: float = 0.1  # of the foot over the other one
    kick_reach_m: float = 0.4  # horizontal distance of the foot from the hips
    kick_back_share: float = 0.5  # of this distance that may be behind the hips
    kick_knee_deg: float = 125.0  # 180 is straight
    min_lift_m: float = 0.15  # raised and lowered legs
    min_leg_swing_m: float = 0.3

    # arms
    min_raise_m: float = 0.3  # change of height of the hand, relative to the shoulder
    raised_to_m: float = -0.3  # height over the shoulder that a raised hand reaches
    min_reach_m: float = 0.2  # change of the distance from shoulder to hand
    reach_share: float = 0.85  # of the length of the arm that a stretched arm reaches
    reach_away_m: float = 0.4  # horizontal distance of the hand from the shoulder
    punch_speed_m_per_s: float = 2.5
    punch_height_m: float = -0.35  # over the shoulder, at the end of a punch
    punch_forward_m: float = 0.25  # of the hand before the shoulder
    max_punch_s: float = 0.45
    wave_height_m: float = -0.2  # of the hand over the shoulder
    wave_rise_share: float = 0.5  # of the length of the forearm that the hand is over the elbow
    min_wave_m: float = 0.025  # sideways, of each movement
    max_wave_s: float = 0.4  # from one turning point to the next
    min_waves: int = 4  # turning points
    min_arm_swing_m: float = 0.4

    # whole body
    min_turn_yaw_deg: float = 45.0
    yaw_reversal_deg: float = 20.0  # smaller reversals, as in every step, are part of a turn
    max_pause_s: float = 0.6  # within a change of the whole body
    pause_share: float = 0.2  # of the minimum change, which is not reached in a pause
    trim_share: float = 0.05
    min_flight_s: float = 0.16
    max_apex_s: float = 0.1  # in which feet do not move at the highest point
    min_fall_share: float = 0.5  # of gravity, while the body is in free fall
    min_jump_m: float = 0.03  # height of the hips over take-off and landing
    crouch_share: float = 0.8  # hips over the lower ankle, of the length of the leg
    min_crouch_share: float = 0.15  # change
    seat_m: float = 0.2  # distance of the trunk behind the feet, above which a seat carries it
    min_bend_deg: float = 30.0  # change of the inclination of the trunk
    bend_to_deg: float = 45.0
    min_climb_m: float = 0.25  # change of the height on which the feet stand

    # groups
    max_gap_s: float = 0.15  # between swings of a limb that follow each other
    min_overlap: float = 0.5  # of the shorter of two swings, and of the longer of two limb actions


LIMITS = ActionLimits()


class ActionSpan(NamedTuple):
    """One action by frames at ``RATE``."""

    kind: ActionKind
    limb: str  # "right leg"; "" for the whole body
    start: int
    end: int  # the last frame
    direction: Direction | None = None
    turn_deg: float = 0.0  # of the body


def find_limb_actions(
    body: BodyMotion, limb: Limb, strokes: Sequence[tuple[int, int]], flights: Sequence[tuple[int, int]]
) -> list[ActionSpan]:
    """Return the actions of one limb, one for each of its strokes that has a name.

    What legs do in a jump is part of it, except a kick.
    """
    if not limb.is_leg:
        return _name_arm_strokes(body, limb, strokes)
    return [
        action_span
        for action_span in _name_leg_strokes(body, limb, strokes)
        if action_span.kind == "kick" or not _is_mostly_within(action_span.start, action_span.end, flights)
    ]


# Strokes


def find_strokes(body: BodyMotion, limb: Limb) -> list[tuple[int, int]]:
    """Return first and last frames of the strokes of a limb.

    A foot moves while neither ankle nor toes stay in place in the world; a hand moves relative to its shoulder. A
    stroke ends where the hand turns back upwards or downwards.
    """
    if limb.is_leg:
        return _cut_by_speed(limb.foot_speed, [])
    offsets, speed = body.hand_paths[limb.name]
    cuts = [frame for frame, _ in turning_points(offsets[:, 1], LIMITS.min_raise_m / 2)]
    return _cut_by_speed(speed, cuts)


def _cut_by_speed(speed: Floats, cuts: Iterable[int]) -> list[tuple[int, int]]:
    strokes: list[tuple[int, int]] = []
    for start, stop in runs(speed > LIMITS.moving_m_per_s):
        inner = {cut for cut in cuts if start < cut < stop - 1} | set(_valleys(speed, start, stop))
        edges = [start, *sorted(inner), stop - 1]
        strokes += [(a, b) for a, b in pairwise(edges) if b > a and speed[a : b + 1].max() >= LIMITS.min_peak_m_per_s]
    return strokes


def _valleys(speed: Floats, start: int, stop: int) -> list[int]:
    """Return the frames between ``start`` and ``stop`` where the speed is low, compared with the maxima before and
    after."""
    valleys: list[int] = []
    previous = start
    for frame, _ in find_peaks(-speed[start:stop], LIMITS.moving_m_per_s):
        low = start + frame
        if speed[low] < LIMITS.valley_ratio * min(speed[previous : low + 1].max(), speed[low:stop].max()):
            valleys.append(low)
            previous = low
    return valleys


# Legs


def _name_leg_strokes(body: BodyMotion, leg: Limb, strokes: Sequence[tuple[int, int]]) -> list[ActionSpan]:
    action_spans: list[ActionSpan] = []
    offsets = body.to_body_axes(leg.end - body.root)
    foot_speed = speeds(offsets)
    knee_deg = (
        np.full(body.n_frames, 180.0) if leg.middle is None else angle_deg(leg.base - leg.middle, leg.end - leg.middle)
    )
    others = [other for other in body.legs if other is not leg]
    ground = others[0].end[:, 1] if others else np.full(body.n_frames, leg.end[:, 1].min())
    lifted = False
    firsts, lasts = np.array(strokes, np.intp).reshape(-1, 2).T
    travels = body.to_body_axes(leg.end[lasts] - leg.end[firsts], lasts)
    for (start, end), moved in zip(strokes, travels, strict=True):
        span = slice(start, end + 1)
        direction = main_direction(moved)
        reach = np.hypot(offsets[span, 0], offsets[span, 2])
        is_extended = (
            (knee_deg[span] > LIMITS.kick_knee_deg)
            & (reach > LIMITS.kick_reach_m)
            & (offsets[span, 2] > -LIMITS.kick_back_share * reach)
            & (leg.end[span, 1] - ground[span] > LIMITS.kick_height_m)
        )
        if is_extended.any() and foot_speed[span].max() > LIMITS.kick_speed_m_per_s:
            peak = int(np.argmax(np.where(is_extended, reach, 0.0)))
            kick = ActionSpan("kick", leg.name, start, end, main_direction(offsets[start + peak], level=True))
            previous = action_spans[-1] if action_spans else kick
            if previous.kind in ("kick", "raise") and 0 <= start - previous.end <= LIMITS.max_gap_s * RATE:
                action_spans.pop()  # the foot stopped before it is stretched, or at its highest point
                kick = kick._replace(start=previous.start)
            action_spans.append(kick)
            lifted = False
            continue
        rise = float(moved[1])
        other_moves = _moves_after(others, end)
        is_complete = end < body.n_frames - 1
        if is_complete and rise > LIMITS.min_lift_m and not other_moves and not _is_standing(leg, ground, end):
            action_spans.append(ActionSpan("raise", leg.name, start, end, direction))
            lifted = True
        elif lifted and rise < -LIMITS.min_lift_m:
            action_spans.append(ActionSpan("lower", leg.name, start, end, direction))
            lifted = False
        elif np.hypot(moved[0], moved[2]) >= LIMITS.min_step_m:
            action_spans.append(ActionSpan("step", leg.name, start, end, main_direction(moved, level=True)))
            lifted = False
        elif path_length(leg.end[span]) >= LIMITS.min_leg_swing_m:
            action_spans.append(ActionSpan("swing", leg.name, start, end, direction))
    return action_spans


def _moves_after(others: Sequence[Limb], frame: int) -> bool:
    """Return whether another foot leaves its place within a second."""
    later = slice(frame, frame + round(RATE))
    return any(
        len(other.end[later]) > 1
        and float(np.linalg.norm(other.end[later] - other.end[later][0], axis=1).max()) > LIMITS.min_step_m
        for other in others
    )


def _is_standing(leg: Limb, ground: Floats, frame: int) -> bool:
    return bool(leg.end[frame, 1] - ground[frame] < LIMITS.min_lift_m)


# Arms


def _name_arm_strokes(body: BodyMotion, arm: Limb, strokes: Sequence[tuple[int, int]]) -> list[ActionSpan]:
    offsets, speed = body.hand_paths[arm.name]
    lengths = np.linalg.norm(offsets, axis=1)
    waves = _find_waves(body, arm, offsets)
    action_spans = [ActionSpan("wave", arm.name, start, end) for start, end in waves]
    for start, end in strokes:
        if _is_mostly_within(start, end, waves):
            continue
        travel = offsets[end] - offsets[start]
        kind = _name_arm_stroke(offsets[start], offsets[end], lengths[end] - lengths[start], arm.length,
                                float(speed[start : end + 1].max()), (end - start) / RATE)  # fmt: skip
        if kind is None and path_length(offsets[start : end + 1]) >= LIMITS.min_arm_swing_m:
            kind = "swing"
        if kind is not None:
            action_spans.append(ActionSpan(kind, arm.name, start, end, main_direction(travel)))
    return action_spans


def _name_arm_stroke(
    before: Floats, after: Floats, extension: float, length: float, max_speed: float, duration_s: float
) -> ActionKind | None:
    """Return the kind of a stroke from one place of the hand to another, in body axes from the shoulder."""
    rise = float(after[1] - before[1])
    is_stretched = float(np.linalg.norm(after)) >= LIMITS.reach_share * length
    if (
        max_speed >= LIMITS.punch_speed_m_per_s
        and duration_s <= LIMITS.max_punch_s
        and extension >= LIMITS.min_reach_m / 2
        and after[1] >= LIMITS.punch_height_m
        and after[2] >= LIMITS.punch_forward_m
        and after[2] - before[2] >= LIMITS.min_reach_m / 2
    ):
        return "punch"
    away = float(np.hypot(after[0], after[2]))
    if is_stretched and away >= LIMITS.reach_away_m and extension >= LIMITS.min_reach_m:
        return "reach"
    if rise >= LIMITS.min_raise_m and after[1] >= LIMITS.raised_to_m:
        return "raise"
    if rise <= -LIMITS.min_raise_m:
        return "lower"
    if is_stretched and after[2] >= LIMITS.reach_away_m and after[2] - before[2] >= LIMITS.min_reach_m:
        return "reach"
    return None


def _find_waves(body: BodyMotion, arm: Limb, offsets: Floats) -> list[tuple[int, int]]:
    """Return spans in which a raised hand moves to and fro sideways."""
    is_high = offsets[:, 1] > LIMITS.wave_height_m
    forearm = offsets
    if arm.middle is not None:
        forearm = body.to_body_axes(arm.end - arm.middle)
        is_high &= forearm[:, 1] > LIMITS.wave_rise_share * np.linalg.norm(forearm, axis=1)
    points = [frame for frame, _ in turning_points(forearm[:, 0], LIMITS.min_wave_m)]
    groups: list[list[int]] = [[]]
    for frame in points:
        if not is_high[frame]:
            continue
        last = groups[-1]
        if last and (frame - last[-1] > LIMITS.max_wave_s * RATE or not is_high[last[-1] : frame].all()):
            groups.append([])
        groups[-1].append(frame)
    return [(group[0], group[-1]) for group in groups if len(group) >= LIMITS.min_waves]


# The whole body


def find_body_actions(body: BodyMotion, flights: Sequence[tuple[int, int]]) -> list[ActionSpan]:
    """Return the actions of the whole body in time order."""
    jumps = [ActionSpan("jump", "", start, end, "up") for start, end in flights]
    action_spans = [*_find_turns(body), *jumps, *_find_crouches(body, flights), *_find_climbs(body)]
    low_spans = [f for f in action_spans if f.kind in ("crouch", "sit")]
    action_spans += [bend for bend in _find_bends(body) if not any(_is_same_time(bend, other) for other in low_spans)]
    return sorted(action_spans, key=lambda action_span: (action_span.start, action_span.end))


def _find_turns(body: BodyMotion) -> list[ActionSpan]:
    if body.heading is None:
        return []
    degrees = smooth(np.rad2deg(body.heading), 0.2)
    turns = []
    for start, end, change in _changes(degrees, LIMITS.yaw_reversal_deg, LIMITS.min_turn_yaw_deg):
        if abs(change) >= LIMITS.min_turn_yaw_deg:
            side: Direction = "left" if change > 0 else "right"
            turns.append(ActionSpan("turn left" if change > 0 else "turn right", "", start, end, side, abs(change)))
    return turns


def find_flights(body: BodyMotion) -> list[tuple[int, int]]:
    """Return spans in which no foot stays in place and the hips fall freely."""
    if not body.legs or body.n_frames < 5:
        return []
    height = body.root[:, 1]
    fall = -np.gradient(np.gradient(smooth(height, 0.1))) * RATE**2 / GRAVITY
    feet_move = np.min([leg.foot_speed for leg in body.legs], axis=0) > LIMITS.moving_m_per_s
    for start, stop in runs(~feet_move):
        if stop - start <= LIMITS.max_apex_s * RATE:
            feet_move[start:stop] = True
    is_falling = (fall > LIMITS.min_fall_share) & feet_move
    flights = []
    for start, stop in runs(is_falling):
        apex = float(height[start:stop].max())
        rise = apex - max(float(height[start]), float(height[stop - 1]))
        if stop - start >= LIMITS.min_flight_s * RATE and rise >= LIMITS.min_jump_m:
            flights.append((max(start - 1, 0), min(stop, body.n_frames - 1)))
    return flights


def _find_crouches(body: BodyMotion, flights: Sequence[tuple[int, int]]) -> list[ActionSpan]:
    if not body.legs:
        return []
    lower_ankle = np.min([leg.end[:, 1] for leg in body.legs], axis=0)
    length = float(np.mean([leg.length for leg in body.legs]))
    share = smooth((body.root[:, 1] - lower_ankle) / length, 0.1)
    action_spans: list[ActionSpan] = []
    for start, end, change in _changes(share, LIMITS.min_crouch_share):
        low = float(min(share[start], share[end]))
        hips = float(body.root[end, 1] - body.root[start, 1])
        if (
            low > LIMITS.crouch_share
            or hips * np.sign(change) < LIMITS.min_crouch_share * length / 2  # only the feet are lifted or lowered
        ):
            continue
        first, last = start, end
        if change > 0 and any(first <= flight[0] <= last + LIMITS.max_gap_s * RATE for flight in flights):
            continue  # the push of a jump
        if _is_mostly_within(first, last, flights):
            continue
        if change > 0:
            action_spans.append(ActionSpan("stand up", "", first, last, "up"))
        else:
            kind: ActionKind = "sit" if _is_on_seat(body, end) else "crouch"
            action_spans.append(ActionSpan(kind, "", first, last, "down"))
    return action_spans


def _is_on_seat(body: BodyMotion, frame: int) -> bool:
    """Return whether the trunk is so far behind the feet that something else must carry it."""
    feet = np.mean([(leg.end[frame] + leg.tip[frame]) / 2 for leg in body.legs], axis=0)
    trunk = body.root[frame] if body.top is None else (body.root[frame] + body.top[frame]) / 2
    return bool(body.to_body_axes((trunk - feet)[None], slice(frame, frame + 1))[0, 2] < -LIMITS.seat_m)


def _find_bends(body: BodyMotion) -> list[ActionSpan]:
    if body.top is None:
        return []
    trunk = body.top - body.root
    degrees = smooth(np.rad2deg(np.arctan2(np.hypot(trunk[:, 0], trunk[:, 2]), trunk[:, 1])), 0.1)
    axes = body.to_body_axes(trunk)
    bends = []
    for start, end, change in _changes(degrees, LIMITS.min_bend_deg / 2, LIMITS.min_bend_deg):
        if change >= LIMITS.min_bend_deg and degrees[end] >= LIMITS.bend_to_deg:
            bends.append(ActionSpan("bend", "", start, end, main_direction(axes[end], level=True), change))
    return bends


def _find_climbs(body: BodyMotion) -> list[ActionSpan]:
    """Return spans in which the place on which the feet stand gets higher or lower."""
    if not body.legs:
        return []
    heights = np.array([leg.end[:, 1] for leg in body.legs])
    is_placed = np.array([leg.foot_speed < LIMITS.moving_m_per_s for leg in body.legs])
    support = np.where(is_placed, heights, np.inf).min(axis=0)
    known = np.flatnonzero(np.isfinite(support))
    if len(known) < 2:
        return []
    level = smooth(np.interp(np.arange(body.n_frames), known, support[known]), 0.3)
    climbs = []
    for start, end, change in _changes(level, LIMITS.min_climb_m / 2, LIMITS.min_climb_m):
        hips = float(body.root[end, 1] - body.root[start, 1])
        if abs(change) >= LIMITS.min_climb_m and hips * np.sign(change) >= LIMITS.min_climb_m / 2:
            kind: ActionKind = "climb up" if change > 0 else "climb down"
            climbs.append(ActionSpan(kind, "", start, end, "up" if change > 0 else "down"))
    return climbs


# Numbers per frame


class _Change(NamedTuple):
    """A change of one number; ``first`` and ``last`` are frames, ``size`` has a sign."""

    first: int
    last: int
    size: float


def _changes(values: Floats, min_change: float, min_range: float = 0.0) -> list[_Change]:
    """Return the changes of ``values`` (T,) by at least ``min_change``; none if their range is below ``min_range``.

    A change lasts from one turning point to the next, without pauses of ``max_pause_s`` at its ends or within it.
    ``first`` and ``last`` are without ``trim_share`` of its size at both ends, as turning points are vague in time.
    """
    if values.max() - values.min() < max(min_change, min_range):
        return []
    edges = [0, *(frame for frame, _ in turning_points(values, min_change)), len(values) - 1]
    changes = []
    for start, end in pairwise(edges):
        for a, b in _moving_spans(values[start : end + 1], min_change):
            size = float(values[start + b] - values[start + a])
            if abs(size) >= min_change:
                progress = (values[start + a : start + b + 1] - values[start + a]) / size
                last = int(np.flatnonzero(progress >= 1 - LIMITS.trim_share)[0])
                first = int(np.flatnonzero(progress[: last + 1] <= LIMITS.trim_share)[-1])
                changes.append(_Change(start + a + first, start + a + last, size))
    return changes


def _moving_spans(values: Floats, min_change: float) -> list[tuple[int, int]]:
    """Return first and last frames of the spans of ``values`` (T,) between pauses, in which they hardly change."""
    window = round(LIMITS.max_pause_s * RATE)
    still_rate = LIMITS.pause_share * min_change / window
    is_moving = np.ones(len(values), bool)
    changes = np.abs(values[window:] - values[: max(len(values) - window, 0)])
    for frame in np.flatnonzero(changes < LIMITS.pause_share * min_change).tolist():
        is_moving[frame : frame + window + 1] = False
    spans: list[tuple[int, int]] = []
    for first, stop in runs(is_moving):
        a, b = first, stop - 1
        direction = np.sign(values[b] - values[a])
        while a > (spans[-1][1] if spans else 0) and direction * (values[a] - values[a - 1]) > still_rate:
            a -= 1  # a pause of that length ends while the change has begun
        while b < len(values) - 1 and direction * (values[b + 1] - values[b]) > still_rate:
            b += 1
        spans.append((a, b))
    return spans


def _overlap(start: int, end: int, other_start: int, other_end: int) -> int:
    return max(0, min(end, other_end) - max(start, other_start))


def _is_mostly_within(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(_overlap(start, end, *span) > (end - start) / 2 for span in spans)


def _is_same_time(a: ActionSpan, b: ActionSpan) -> bool:
    return _overlap(a.start, a.end, b.start, b.end) > min(a.end - a.start, b.end - b.start) / 2
