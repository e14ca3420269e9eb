"""A foot as an animator's rig controls it, and the keys of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.demo.curves import Keys, Through, keyed

Place = tuple[float, float, float]  # x, z in m of the point under the ankle; heading in degrees, + to the left

HEEL_OFF_S = 0.24  # the heel rises this long before the foot leaves the floor
FLAT_S = 0.11  # and the sole lies flat this long after the heel has touched
BEFORE_S = -1.0  # a time before the clip: where curves begin


@dataclass(frozen=True)
class FootKeys:
    """One move of a foot, as keys of the controls of ``Foot``."""

    place: Keys = ()  # x, z, heading
    lift: Keys = ()
    ball_roll: Keys = ()
    heel_roll: Keys = ()
    tilt: Keys = ()
    lift_through: Through = field(default_factory=dict)


@dataclass(frozen=True)
class Foot:
    """A foot at every frame, (T,) each; m and degrees.

    While nothing but ``ball_roll`` moves, the ball of the foot stays where it is; while nothing but
    ``heel_roll`` moves, the heel does.
    """

    x: Floats
    z: Floats
    heading: Floats
    lift: Floats  # of the whole foot over the floor
    ball_roll: Floats  # the heel rises about the ball of the foot
    heel_roll: Floats  # the toes rise about the heel
    tilt: Floats  # the toes rise about the ankle, in the air


def step(
    lift_s: float,
    land_s: float,
    start: Place,
    end: Place,
    *,
    height: float = 0.03,
    push_deg: float = 48.0,
    heel_deg: float = 17.0,
) -> FootKeys:
    """One step: the heel peels off, the foot swings low over the floor, the heel lands first."""
    swing_s = land_s - lift_s
    return FootKeys(
        place=((lift_s, *start), (land_s, *end)),
        lift=((lift_s, 0.0), (lift_s + 0.45 * swing_s, height), (land_s, 0.0)),
        ball_roll=(
            (lift_s - HEEL_OFF_S, 0.0),
            (lift_s + 0.1 * swing_s, push_deg),
            (lift_s + 0.75 * swing_s, 0.0),
        ),
        heel_roll=((lift_s + 0.4 * swing_s, 0.0), (land_s, heel_deg), (land_s + FLAT_S, 0.0)),
    )


def follow(t: Floats, start: Place, moves: Sequence[FootKeys]) -> Foot:
    """The foot at times ``t`` that stands at ``start`` and then makes ``moves``, one after another."""

    def curve(name: str, *at_first: float, through: Through | None = None) -> Floats:
        keys = [(BEFORE_S, *at_first), *(key for move in moves for key in getattr(move, name))]
        return keyed(t, keys, through)

    x, z, heading = curve("place", *start).T
    lift = curve("lift", 0.0, through={time: how for move in moves for time, how in move.lift_through.items()})
    return Foot(x, z, heading, lift, curve("ball_roll", 0.0), curve("heel_roll", 0.0), curve("tilt", 0.0))


def ahead(place: Place, forward: float, left: float = 0.0, turn_deg: float = 0.0) -> Place:
    """The place ``forward`` and ``left`` of another, as seen from there, turned by ``turn_deg``."""
    x, z, heading = place
    s, c = float(np.sin(np.deg2rad(heading))), float(np.cos(np.deg2rad(heading)))
    return (x + forward * s + left * c, z + forward * c - left * s, heading + turn_deg)
