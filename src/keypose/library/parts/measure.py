"""What part search measures of a body, group by group: places, speeds and heights, as the body itself sees them."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, INDEX, LIMBS
from keypose.library.descriptors.posture import Posture

RATE = 10.0  # samples in a second, each the mean of its frames
FRAMES = round(FPS / RATE)  # of a sample
SPACES = {"left_arm": "arm", "right_arm": "arm", "left_leg": "leg", "right_leg": "leg", "trunk": "trunk"}  # by group
GROUPS = tuple(SPACES)

# Metres against metres a second, and so on: what makes them count about as much as places do.
VELOCITY_WEIGHT = 0.1  # seconds
TRAVEL_WEIGHT = 0.3
TURNING_WEIGHT = 0.2
HEIGHT_WEIGHT = 1.5  # of limbs above the floor: a hand on it, a foot in the air

_JOINTS_OF = {"arm": LIMBS[:3], "leg": LIMBS[3:]}
_TRUNK = (INDEX["chest"], INDEX["head"])
_OUTWARDS = {"left": np.array((1.0, 1.0, 1.0)), "right": np.array((-1.0, 1.0, 1.0))}
ODD = np.array((*((1, 0, 0) * (2 * len(_TRUNK) + 1)), 1, *((0,) * (len(_TRUNK) + 1))), bool)  # of the trunk's numbers


def group_numbers(body: Posture) -> dict[str, Floats]:
    """The numbers (S, N) of each group at ``RATE``.

    Both arms, and both legs, are measured outwards from the body: in a mirror each has the other's numbers. Those of
    the trunk that ``ODD`` marks change their sign there, the rest stay.
    """
    measured = {
        f"{side}_{limb}": _limb(body, [INDEX[f"{side}_{joint}"] for joint in joints], _OUTWARDS[side])
        for limb, joints in _JOINTS_OF.items()
        for side in ("left", "right")
    }
    measured["trunk"] = _trunk(body)
    return {group: samples(measured[group]) for group in GROUPS}


def samples(frames: Floats) -> Floats:
    """Means (S, N) of each few frames (T, N); the last one of those that are left."""
    starts = np.arange(0, len(frames), FRAMES)
    counts = np.minimum(FRAMES, len(frames) - starts)
    return np.asarray(np.add.reduceat(frames, starts, axis=0) / counts[:, None])


def _limb(body: Posture, joints: list[int], outwards: Floats) -> Floats:
    t = len(body.heights)
    places, speeds = body.positions[:, joints], body.velocities[:, joints]
    return np.concatenate(
        (
            (places * outwards).reshape(t, -1),
            (VELOCITY_WEIGHT * speeds * outwards).reshape(t, -1),
            HEIGHT_WEIGHT * (places[:, :, 1] + body.heights[:, None]),
        ),
        axis=1,
    )


def _trunk(body: Posture) -> Floats:
    t = len(body.heights)
    places, speeds = body.positions[:, _TRUNK], body.velocities[:, _TRUNK]
    return np.column_stack(
        (
            places.reshape(t, -1),
            VELOCITY_WEIGHT * speeds.reshape(t, -1),
            TRAVEL_WEIGHT * body.travel,
            TURNING_WEIGHT * body.turning,
            places[:, :, 1] + body.heights[:, None],
            body.heights,
        )
    )
