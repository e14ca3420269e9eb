"""Keys of the body above its feet, and all controls over time.

Times are in seconds, lengths in metres, angles in degrees; + is forward, up or to the left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.demo.footwork import (
    ABSORB_S,
    BACK_S,
    BEFORE_S,
    CHAMBER_S,
    CROUCH_S,
    DOWN_S,
    FLIGHT_S,
    IMPACT_S,
    KICK_S,
    RETURN_S,
    STAND_S,
    STEP_LENGTHS,
    STEP_S,
    SWING_S,
    TAKE_OFF_S,
    TOUCH_S,
    TURN_S,
    TURN_STEP_S,
    TURN_SWING_S,
    WALK_S,
    Foot,
    footwork,
    interpolate_keys,
    offset_position,
    sample_foot,
)

GRAVITY_M_PER_S2 = 9.81
STANDING_HEIGHT = 0.951  # height of the pelvis, knees not locked
TAKE_OFF_HEIGHT, TOUCH_HEIGHT = 1.02, 0.9
TAKE_OFF_SPEED = (TOUCH_HEIGHT - TAKE_OFF_HEIGHT) / FLIGHT_S + 0.5 * GRAVITY_M_PER_S2 * FLIGHT_S
TOUCH_SPEED = TAKE_OFF_SPEED - GRAVITY_M_PER_S2 * FLIGHT_S
LOOK_AHEAD_S = 0.3  # of the eyes before the body

_STEP_TIMES_S = [WALK_S + k * STEP_S for k in range(len(STEP_LENGTHS))]  # when each step of the walk begins
_TURN_STEP_TIMES_S = [TURN_S + k * TURN_STEP_S for k in range(4)]

# Time, share of the weight on the left foot, distance of the pelvis ahead of the ankles. In a step the body moves over
# the foot on the floor, and back between the feet while both are on the floor.
BALANCE = (
    (BEFORE_S, 0.5, 0.02),
    (WALK_S - 0.45, 0.5, 0.02),
    *(
        key
        for k, lift_s in enumerate(_STEP_TIMES_S)
        for key in (
            (lift_s + 0.5 * SWING_S, 0.64 if k % 2 else 0.36, 0.03),
            (lift_s + 0.5 * (SWING_S + STEP_S), 0.5, 0.03),
        )
    ),
    *((lift_s + 0.5 * TURN_SWING_S, 0.65 if k % 2 else 0.35, 0.02) for k, lift_s in enumerate(_TURN_STEP_TIMES_S)),
    (TURN_S + 4 * TURN_STEP_S + 0.1, 0.5, 0.02),
    (CROUCH_S, 0.5, -0.09),
    (TAKE_OFF_S, 0.5, 0.14),
    (TOUCH_S, 0.5, -0.12),
    (ABSORB_S + 0.05, 0.5, -0.12),
    (ABSORB_S + 0.6, 0.5, 0.02),
    (BACK_S + 0.2, 0.75, 0.02),
    (BACK_S + 0.5, 0.6, 0.02),
    (KICK_S, 0.8, 0.04),
    (CHAMBER_S, 1.0, 0.0),
    (IMPACT_S, 1.0, 0.02),
    (RETURN_S, 1.0, 0.0),
    (DOWN_S - 0.1, 0.8, 0.02),
    (STAND_S, 0.5, 0.02),
)

# Height of the pelvis. In the walk it is high over the standing leg and low just before a foot lands.
HEIGHT = (
    (BEFORE_S, STANDING_HEIGHT),
    (WALK_S - 0.3, STANDING_HEIGHT),
    *(
        key
        for k, lift_s in enumerate(_STEP_TIMES_S)
        for key in (
            (lift_s + SWING_S - 0.06 - 0.5 * STEP_S, 0.936),
            (lift_s + SWING_S - 0.06, 0.89 if k else 0.93),
        )
    ),
    (TURN_S + 0.2, 0.938),
    (TURN_S + 3 * TURN_STEP_S, 0.938),
    (CROUCH_S - 0.55, STANDING_HEIGHT),
    (CROUCH_S, 0.67),
    (TAKE_OFF_S, TAKE_OFF_HEIGHT),
    (TOUCH_S, TOUCH_HEIGHT),
    (ABSORB_S, 0.72),
    (ABSORB_S + 0.6, STANDING_HEIGHT),
    (BACK_S, STANDING_HEIGHT),
    (BACK_S + 0.4, 0.875),
    (KICK_S, 0.88),
    (CHAMBER_S, 0.925),
    (IMPACT_S, 0.94),
    (RETURN_S, 0.925),
    (DOWN_S, 0.92),
    (STAND_S, STANDING_HEIGHT),
)
_FREE_FALL = {  # speed and acceleration at both ends of the flight make it a parabola
    TAKE_OFF_S: ((TAKE_OFF_SPEED,), (-GRAVITY_M_PER_S2,)),
    TOUCH_S: ((TOUCH_SPEED,), (-GRAVITY_M_PER_S2,)),
}

# Of the trunk
LEAN = (
    (0.2, 0.0),
    (WALK_S + 0.3, 4.0),
    (TURN_S, 3.0),
    (CROUCH_S - 0.5, 2.0),
    (CROUCH_S, 44.0),
    (TAKE_OFF_S, 4.0),
    (TAKE_OFF_S + 0.5 * FLIGHT_S, 14.0),
    (TOUCH_S, 20.0),
    (ABSORB_S, 38.0),
    (ABSORB_S + 0.6, 2.0),
    (BACK_S + 0.4, 8.0),
    (KICK_S, 8.0),
    (CHAMBER_S, -4.0),
    (IMPACT_S, -20.0),
    (RETURN_S, -6.0),
    (DOWN_S, 6.0),
    (STAND_S, 0.0),
)
TWIST = ((KICK_S - 0.1, 0.0), (CHAMBER_S, 6.0), (IMPACT_S, 16.0), (RETURN_S, 6.0), (DOWN_S, 0.0))
GAIT = ((CROUCH_S - 0.5, 1.0), (CROUCH_S - 0.1, 0.0))

ARM_POSES = {  # forward, sideways, turned inward, elbow
    "hang": (2.0, 9.0, 0.0, 16.0),
    "back": (-58.0, 12.0, 0.0, 14.0),
    "up": (140.0, 14.0, 0.0, 28.0),
    "front": (62.0, 22.0, 0.0, 40.0),
    "guard": (38.0, 8.0, 12.0, 115.0),
    "fist back": (-22.0, 14.0, 5.0, 75.0),
    "fist front": (52.0, 6.0, 14.0, 100.0),
}
_BOTH_ARMS = (
    (CROUCH_S - 0.55, "hang"),
    (CROUCH_S - 0.05, "back"),
    (TAKE_OFF_S + 0.05, "up"),
    (TOUCH_S, "front"),
    (ABSORB_S, "front"),
    (ABSORB_S + 0.6, "hang"),
    (BACK_S + 0.45, "guard"),
    (CHAMBER_S, "guard"),
)
LEFT_ARM = (
    *_BOTH_ARMS,
    (IMPACT_S, "fist front"),
    (RETURN_S, "guard"),
    (DOWN_S, "guard"),
    (STAND_S + 0.1, "hang"),
)
RIGHT_ARM = (*_BOTH_ARMS, (IMPACT_S, "fist back"), (RETURN_S, "guard"), (DOWN_S, "guard"), (STAND_S, "hang"))


@dataclass(frozen=True)
class Body:
    """All controls of the figure per frame."""

    left: Foot
    right: Foot
    pelvis: Floats  # (T, 3)
    heading: Floats  # (T,) each from here on
    look: Floats  # heading of the eyes
    lean: Floats  # of the trunk
    twist: Floats  # of the pelvis against the heading
    gait: Floats  # 1: hips and arms follow the feet; 0: they follow keys
    left_arm: Floats  # (T, 4) as in ARM_POSES
    right_arm: Floats


def compute_controls(t: Floats) -> Body:
    """Return the controls at times ``t`` (T,)."""
    left, right = (sample_foot(t, start, moves) for start, moves in footwork())
    pelvis_keys = _pelvis_keys()
    flight = (_flight_velocity(pelvis_keys), (0.0, 0.0, 0.0))
    x, z, heading = interpolate_keys(t, pelvis_keys, {TAKE_OFF_S: flight, TOUCH_S: flight}).T
    return Body(
        left,
        right,
        pelvis=np.stack((x, interpolate_keys(t, HEIGHT, _FREE_FALL), z), axis=1),
        heading=heading,
        look=interpolate_keys(t + LOOK_AHEAD_S, [(time, heading) for time, _, _, heading in pelvis_keys]),
        lean=interpolate_keys(t, LEAN),
        twist=interpolate_keys(t, TWIST),
        gait=interpolate_keys(t, GAIT),
        left_arm=interpolate_keys(t, [(time, *ARM_POSES[pose]) for time, pose in LEFT_ARM]),
        right_arm=interpolate_keys(t, [(time, *ARM_POSES[pose]) for time, pose in RIGHT_ARM]),
    )


def _pelvis_keys() -> list[tuple[float, float, float, float]]:
    """Return keys of the pelvis over the floor: time, x, z, heading, from the positions of the feet at that time."""
    times = np.array([time for time, _, _ in BALANCE])
    left, right = (sample_foot(times, start, moves) for start, moves in footwork())
    keys = []
    for k, (time, on_left, forward) in enumerate(BALANCE):
        x = on_left * left.x[k] + (1.0 - on_left) * right.x[k]
        z = on_left * left.z[k] + (1.0 - on_left) * right.z[k]
        keys.append((time, *offset_position((x, z, 0.5 * (left.heading[k] + right.heading[k])), forward)))
    return keys


def _flight_velocity(pelvis_keys: list[tuple[float, float, float, float]]) -> tuple[float, ...]:
    """Return the horizontal velocity in flight."""
    at = {time: values for time, *values in pelvis_keys}
    return tuple((b - a) / FLIGHT_S for a, b in zip(at[TAKE_OFF_S], at[TOUCH_S], strict=True))
