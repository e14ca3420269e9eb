"""Times of all phases and positions of the feet: a walk along a curve, a turn, a jump, a kick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError

LEFT, RIGHT = 0, 1
HALF_WIDTH = 0.1  # of the stance

# Walk, left foot first
WALK_S = 0.7
STEP_S, SWING_S = 0.52, 0.42  # the remainder of a step has both feet on the floor
STEP_LENGTHS = (0.34, 0.58, 0.58, 0.58, 0.58, 0.58, 0.56, 0.44)
CURVE_DEG = 11.0  # to the left with every step

# Turn around on the spot: the heading of each foot after its step, left foot first
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
FootPosition = tuple[float, float, float]  # x, z in m of the point under the ankle; heading in degrees, + to the left

HEEL_OFF_S = 0.24  # the heel rises this long before the foot leaves the floor
FLAT_S = 0.11  # the sole is flat this long after the heel touches
BEFORE_S = -1.0  # start of all curves, before the clip

Keys = Sequence[tuple[float, ...]]  # (time in s, value, value, ...) with increasing times
Derivatives = Mapping[float, tuple[Sequence[float], Sequence[float]]]  # time -> velocities, accelerations
SWAY_HZ = (0.11, 0.27, 0.43)  # too slow to be noticed


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
    leave_s = TAKE_OFF_S - 0.06  # the toes still push while the ball of the foot leaves the floor
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


@dataclass(frozen=True)
class FootKeys:
    """One move of a foot, as keys of the controls of ``Foot``."""

    position: Keys = ()  # x, z, heading
    lift: Keys = ()
    ball_roll: Keys = ()
    heel_roll: Keys = ()
    tilt: Keys = ()
    lift_derivatives: Derivatives = field(default_factory=dict)


@dataclass(frozen=True)
class Foot:
    """The controls of a foot per frame, (T,) each; m and degrees.

    While only ``ball_roll`` changes, the ball of the foot stays in place; while only ``heel_roll`` changes,
    the heel does.
    """

    x: Floats
    z: Floats
    heading: Floats
    lift: Floats  # of the whole foot over the floor
    ball_roll: Floats  # the heel rises about the ball of the foot
    heel_roll: Floats  # the toes rise about the heel
    tilt: Floats  # the toes rise about the ankle, in the air


def step_keys(
    lift_s: float,
    land_s: float,
    start: FootPosition,
    end: FootPosition,
    *,
    height: float = 0.03,
    push_deg: float = 48.0,
    heel_deg: float = 17.0,
) -> FootKeys:
    """Return the keys of one step: the heel rises, the foot swings low over the floor, the heel lands first."""
    swing_s = land_s - lift_s
    return FootKeys(
        position=((lift_s, *start), (land_s, *end)),
        lift=((lift_s, 0.0), (lift_s + 0.45 * swing_s, height), (land_s, 0.0)),
        ball_roll=(
            (lift_s - HEEL_OFF_S, 0.0),
            (lift_s + 0.1 * swing_s, push_deg),
            (lift_s + 0.75 * swing_s, 0.0),
        ),
        heel_roll=((lift_s + 0.4 * swing_s, 0.0), (land_s, heel_deg), (land_s + FLAT_S, 0.0)),
    )


def sample_foot(t: Floats, start: FootPosition, moves: Sequence[FootKeys]) -> Foot:
    """Return the foot at times ``t`` that starts at ``start`` and makes ``moves`` in order."""

    def curve(name: str, *initial: float, derivatives: Derivatives | None = None) -> Floats:
        keys = [(BEFORE_S, *initial), *(key for move in moves for key in getattr(move, name))]
        return interpolate_keys(t, keys, derivatives)

    x, z, heading = curve("position", *start).T
    lift_derivatives = {time: value for move in moves for time, value in move.lift_derivatives.items()}
    lift = curve("lift", 0.0, derivatives=lift_derivatives)
    return Foot(x, z, heading, lift, curve("ball_roll", 0.0), curve("heel_roll", 0.0), curve("tilt", 0.0))


def offset_position(position: FootPosition, forward: float, left: float = 0.0, turn_deg: float = 0.0) -> FootPosition:
    """Return the position ``forward`` and ``left`` of another in its own heading, rotated by ``turn_deg``."""
    x, z, heading = position
    s, c = float(np.sin(np.deg2rad(heading))), float(np.cos(np.deg2rad(heading)))
    return (x + forward * s + left * c, z + forward * c - left * s, heading + turn_deg)


def interpolate_keys(t: Floats, keys: Keys, derivatives: Derivatives | None = None) -> Floats:
    """Return the curves (T, D) at times ``t`` (T,) in s through ``keys`` of D values each; (T,) if D is 1.

    Between two keys the curve is the quintic with the velocities and accelerations of both keys, so it is C2 and the
    same at any frame rate. At a key the acceleration is 0. The velocity is 0 at extrema and between the slopes to the
    neighbours elsewhere, so the curve is constant between equal keys and does not overshoot. ``derivatives`` sets
    velocity and acceleration of single keys instead. Before the first and after the last key the curve is constant.
    """
    table = np.array(keys, dtype=float)
    times, p = table[:, 0], table[:, 1:]
    if len(times) == 1:
        times, p = np.array((times[0], times[0] + 1.0)), np.repeat(p, 2, axis=0)
    if (np.diff(times) <= 0).any():
        raise OptionError(f"keys at {times.tolist()} s", expected="increasing times")
    v, a = _easy_velocities(times, p), np.zeros_like(p)
    for time, (velocity, acceleration) in (derivatives or {}).items():
        k = int(np.flatnonzero(times == time)[0])
        v[k], a[k] = velocity, acceleration
    k0 = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    k1 = k0 + 1
    h = (times[k1] - times[k0])[:, None]
    u = np.clip((t - times[k0])[:, None] / h, 0.0, 1.0)
    u3, u4, u5 = u**3, u**4, u**5
    curve: Floats = (
        p[k0] * (1 - 10 * u3 + 15 * u4 - 6 * u5)
        + p[k1] * (10 * u3 - 15 * u4 + 6 * u5)
        + v[k0] * h * (u - 6 * u3 + 8 * u4 - 3 * u5)
        + v[k1] * h * (-4 * u3 + 7 * u4 - 3 * u5)
        + a[k0] * h**2 * (u**2 - 3 * u3 + 3 * u4 - u5) / 2
        + a[k1] * h**2 * (u3 - 2 * u4 + u5) / 2
    )
    return curve[:, 0] if p.shape[1] == 1 else curve


def _easy_velocities(times: Floats, p: Floats) -> Floats:
    """Return velocities: 0 at ends and extrema, else the harmonic mean of the slopes on both sides."""
    secants = np.diff(p, axis=0) / np.diff(times)[:, None]
    before, after = secants[:-1], secants[1:]
    is_monotone = before * after > 0
    total = np.where(is_monotone, before + after, 1.0)
    v = np.zeros_like(p)
    v[1:-1] = np.where(is_monotone, 2.0 * before * after / total, 0.0)
    return v


def sway(t: Floats, seed: int, channels: int) -> Floats:
    """Return slow random sway (T, channels) within +-1, by seed."""
    random = np.random.default_rng(seed)
    waves = np.zeros((len(t), channels))
    for hz in SWAY_HZ:
        phases = random.uniform(0.0, 2.0 * np.pi, channels)
        rates = hz * random.uniform(0.85, 1.15, channels)
        waves += np.sin(2.0 * np.pi * t[:, None] * rates + phases) / len(SWAY_HZ)
    return waves
