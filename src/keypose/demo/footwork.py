"""Times of all phases and positions of the feet: a walk along a curve, a turn, a jump, a kick.

Times are in seconds, lengths in metres, angles in degrees; + is forward, up or to the left.
"""

from __future__ import annotations

from keypose.demo.steps import FootKeys, FootPosition, offset_position, step_keys

LEFT, RIGHT = 0, 1
HALF_WIDTH = 0.1  # of the stance

# Walk, left foot first
WALK_S = 0.7
STEP_S, SWING_S = 0.52, 0.42  # otherwise both feet are on the floor
STEP_LENGTHS = (0.34, 0.58, 0.58, 0.58, 0.58, 0.58, 0.56, 0.44)
CURVE_DEG = 11.0  # to the left with every step

# Turn around on the spot: the heading to which each foot turns, left foot first
TURN_S = WALK_S + len(STEP_LENGTHS) * STEP_S + 0.04
TURN_STEP_S, TURN_SWING_S = 0.48, 0.38
TURN_TO_DEG = (70.0, 125.0, 180.0, 180.0)

# Jump forward
CROUCH_S = TURN_S + 2.45  # the lowest moment
TAKE_OFF_S = CROUCH_S + 0.3
FLIGHT_S = 0.46
TOUCH_S = TAKE_OFF_S + FLIGHT_S
ABSORB_S = TOUCH_S + 0.24  # the lowest moment
JUMP_LENGTH = 0.7

# Step back, kick to the front with the right foot, and stand
BACK_S = ABSORB_S + 0.65
BACK_SWING_S = 0.4
KICK_S = BACK_S + 0.8
CHAMBER_S = KICK_S + 0.27  # the knee is up, the shin hangs
IMPACT_S = KICK_S + 0.46
RETURN_S = KICK_S + 0.68  # as in the chamber
DOWN_S = KICK_S + 1.1
STAND_S = DOWN_S + 0.7
DURATION_S = STAND_S + 0.7


def footwork() -> list[tuple[FootPosition, list[FootKeys]]]:
    """Return the initial position and the moves of the left and the right foot."""
    centre: FootPosition = (0.0, 0.0, 0.0)
    first = [_stance_position(centre, foot) for foot in (LEFT, RIGHT)]
    current = list(first)
    moves: list[list[FootKeys]] = [[], []]

    def add_move(foot: int, to: FootPosition, keys: FootKeys) -> None:
        moves[foot].append(keys)
        current[foot] = to

    for k, length in enumerate(STEP_LENGTHS):
        foot, lift_s = k % 2, WALK_S + k * STEP_S
        centre = offset_position(centre, length, turn_deg=CURVE_DEG)
        to = _stance_position(centre, foot)
        add_move(foot, to, step_keys(lift_s, lift_s + SWING_S, current[foot], to))
    for k, turn_deg in enumerate(TURN_TO_DEG):
        foot, lift_s = k % 2, TURN_S + k * TURN_STEP_S
        to = _stance_position(offset_position(centre, 0.0, turn_deg=turn_deg), foot)
        add_move(
            foot,
            to,
            step_keys(lift_s, lift_s + TURN_SWING_S, current[foot], to, height=0.05, push_deg=30.0, heel_deg=3.0),
        )
    for foot in (LEFT, RIGHT):
        to = offset_position(current[foot], JUMP_LENGTH)
        add_move(foot, to, _jump(current[foot], to))
    beside = current[RIGHT]
    back = offset_position(beside, -0.38, left=-0.03, turn_deg=-25.0)
    add_move(
        RIGHT,
        back,
        step_keys(BACK_S, BACK_S + BACK_SWING_S, beside, back, height=0.04, push_deg=15.0, heel_deg=0.0),
    )
    add_move(RIGHT, beside, _kick(back, beside))
    return list(zip(first, moves, strict=True))


def _stance_position(centre: FootPosition, foot: int) -> FootPosition:
    """Return the position of a foot of a figure that stands at ``centre``."""
    return offset_position(centre, 0.0, left=HALF_WIDTH if foot == LEFT else -HALF_WIDTH)


def _jump(start: FootPosition, end: FootPosition) -> FootKeys:
    """Return the keys of a jump with both feet: take-off over the toes, tucked in the air, landing on the toes."""
    leave_s = TAKE_OFF_S - 0.06  # the toes still push when the ball of the foot leaves the floor
    rise_s, top_s, fall_s = TAKE_OFF_S + 0.03, TAKE_OFF_S + 0.5 * FLIGHT_S, TOUCH_S - 0.1
    return FootKeys(
        position=((leave_s, *start), (TOUCH_S, *end)),
        lift=((leave_s, 0.0), (rise_s, 0.075), (top_s, 0.34), (fall_s, 0.15), (TOUCH_S, 0.0)),
        lift_derivatives={rise_s: ((1.7,), (0.0,)), fall_s: ((-1.9,), (0.0,))},  # m/s, nearly as fast as the body
        ball_roll=(
            (CROUCH_S - 0.4, 0.0),
            (CROUCH_S, 10.0),
            (CROUCH_S + 0.06, 10.0),
            (TAKE_OFF_S - 0.01, 62.0),
            (top_s, 25.0),
            (TOUCH_S, 22.0),
            (TOUCH_S + 0.1, 0.0),
        ),
    )


def _kick(start: FootPosition, end: FootPosition) -> FootKeys:
    """Return the keys of a kick: knee up, foot out, the same way back, and down beside the other foot."""
    out_s, in_s = IMPACT_S - 0.07, IMPACT_S + 0.08
    return FootKeys(
        position=(
            (KICK_S, *start),
            (CHAMBER_S, *offset_position(end, 0.28)),
            (out_s, *offset_position(end, 0.66, left=0.04)),
            (IMPACT_S, *offset_position(end, 0.79, left=0.05)),
            (in_s, *offset_position(end, 0.66, left=0.04)),
            (RETURN_S, *offset_position(end, 0.27)),
            (DOWN_S, *end),
        ),
        lift=(
            (KICK_S, 0.0),
            (CHAMBER_S, 0.48),
            (out_s, 0.76),
            (IMPACT_S, 1.02),
            (in_s, 0.76),
            (RETURN_S, 0.46),
            (DOWN_S, 0.0),
        ),
        ball_roll=(
            (KICK_S - 0.24, 0.0),
            (KICK_S + 0.04, 45.0),
            (CHAMBER_S, 10.0),
            (DOWN_S - 0.15, 20.0),
            (DOWN_S + 0.12, 0.0),
        ),
        tilt=((KICK_S, 0.0), (CHAMBER_S, -15.0), (IMPACT_S, 60.0), (RETURN_S, -10.0), (DOWN_S - 0.1, 0.0)),
    )
