"""Controls of a foot, and the keys of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.demo.curves import Derivatives, Keys, interpolate_keys

FootPosition = tuple[float, float, float]  # x, z in m of the point under the ankle; heading in degrees, + to the left

HEEL_OFF_S = 0.24  # the heel rises this long before the foot leaves the floor
FLAT_S = 0.11  # the sole is flat this long after the heel touches
BEFORE_S = -1.0  # start of all curves, before the clip


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
