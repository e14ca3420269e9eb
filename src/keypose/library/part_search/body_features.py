"""The features of part search, by body group: positions, velocities and heights in the body's own frame."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.library.canonical import FPS, INDEX, LIMBS
from keypose.library.descriptors.posture import Posture

RATE = 10.0  # samples per second, each the mean of its frames
FRAMES = round(FPS / RATE)  # per sample
SPACES = {"left_arm": "arm", "right_arm": "arm", "left_leg": "leg", "right_leg": "leg", "trunk": "trunk"}  # by group
GROUPS = tuple(SPACES)

# Weights that make features of other units count about as much as positions in metres.
VELOCITY_WEIGHT = 0.1  # seconds
TRAVEL_WEIGHT = 0.3
TURNING_WEIGHT = 0.2
HEIGHT_WEIGHT = 1.5  # of limbs above the floor

_JOINTS_OF = {"arm": LIMBS[:3], "leg": LIMBS[3:]}
_TRUNK = (INDEX["chest"], INDEX["head"])
_OUTWARD_SIGNS = {"left": np.array((1.0, 1.0, 1.0)), "right": np.array((-1.0, 1.0, 1.0))}
IS_ODD = np.array((*((1, 0, 0) * (2 * len(_TRUNK) + 1)), 1, *((0,) * (len(_TRUNK) + 1))), bool)  # features of the trunk


def group_features(body: Posture) -> dict[str, Floats]:
    """Return the features (S, N) of each group at ``RATE``.

    Both arms, and both legs, are measured outwards from the body: in the mirror image each has the features of the
    other. Features of the trunk with ``IS_ODD`` change sign there, the rest stay.
    """
    features = {
        f"{side}_{limb}": _limb_features(body, [INDEX[f"{side}_{joint}"] for joint in joints], _OUTWARD_SIGNS[side])
        for limb, joints in _JOINTS_OF.items()
        for side in ("left", "right")
    }
    features["trunk"] = _trunk_features(body)
    return {group: average_samples(features[group]) for group in GROUPS}


def average_samples(frames: Floats) -> Floats:
    """Return means (S, N) of each few frames (T, N); the last sample has those that are left."""
    starts = np.arange(0, len(frames), FRAMES)
    counts = np.minimum(FRAMES, len(frames) - starts)
    return np.asarray(np.add.reduceat(frames, starts, axis=0) / counts[:, None])


def _limb_features(body: Posture, joints: list[int], outward_signs: Floats) -> Floats:
    t = len(body.heights)
    positions, velocities = body.positions[:, joints], body.velocities[:, joints]
    return np.concatenate(
        (
            (positions * outward_signs).reshape(t, -1),
            (VELOCITY_WEIGHT * velocities * outward_signs).reshape(t, -1),
            HEIGHT_WEIGHT * (positions[:, :, 1] + body.heights[:, None]),
        ),
        axis=1,
    )


def _trunk_features(body: Posture) -> Floats:
    t = len(body.heights)
    positions, velocities = body.positions[:, _TRUNK], body.velocities[:, _TRUNK]
    return np.column_stack(
        (
            positions.reshape(t, -1),
            VELOCITY_WEIGHT * velocities.reshape(t, -1),
            TRAVEL_WEIGHT * body.travel,
            TURNING_WEIGHT * body.turning,
            positions[:, :, 1] + body.heights[:, None],
            body.heights,
        )
    )
