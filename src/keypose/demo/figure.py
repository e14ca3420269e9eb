"""The skeleton of the demo: 1.70 m tall, rest pose a T-pose. Metres, Y up, facing +Z, its left at +X."""

from __future__ import annotations

import numpy as np

from keypose.model import Skeleton

THIGH_M = 0.42
SHIN_M = 0.405
HIP_M = (0.09, -0.055, 0.0)  # from the pelvis to the left hip joint
ANKLE_HEIGHT_M = 0.075  # of a flat foot
BALL_HEIGHT_M = 0.02  # of the toe joint, about which the foot rolls
BALL_AHEAD_M = 0.125  # of the ankle
HEEL_BEHIND_M = 0.05  # the ankle, on the floor

# joint: (parent, offset from the parent in m). Limbs are the left ones; the right ones mirror them.
_MIDDLE = {
    "Hips": (None, (0.0, 0.955, 0.0)),
    "Spine": ("Hips", (0.0, 0.09, -0.01)),
    "Spine1": ("Spine", (0.0, 0.12, -0.01)),
    "Spine2": ("Spine1", (0.0, 0.13, 0.0)),
    "Neck": ("Spine2", (0.0, 0.155, 0.0)),
    "Head": ("Neck", (0.0, 0.085, 0.015)),
}
_ARM = {
    "Shoulder": ("Spine2", (0.03, 0.125, 0.01)),
    "Arm": ("Shoulder", (0.14, -0.005, -0.015)),
    "ForeArm": ("Arm", (0.275, 0.0, 0.0)),
    "Hand": ("ForeArm", (0.245, 0.0, 0.0)),
    "HandThumb1": ("Hand", (0.035, -0.01, 0.03)),
    "HandMiddle1": ("Hand", (0.09, 0.0, 0.0)),
}
_LEG = {
    "UpLeg": ("Hips", HIP_M),
    "Leg": ("UpLeg", (0.0, -THIGH_M, 0.0)),
    "Foot": ("Leg", (0.0, -SHIN_M, 0.0)),
    "ToeBase": ("Foot", (0.0, BALL_HEIGHT_M - ANKLE_HEIGHT_M, BALL_AHEAD_M)),
}
_ENDS = {"Head": (0.0, 0.165, 0.0)}
_LIMB_ENDS = {
    "HandThumb1": (0.045, -0.01, 0.03),
    "HandMiddle1": (0.085, 0.0, 0.0),
    "ToeBase": (0.0, -0.02, 0.07),
}


def skeleton() -> Skeleton:
    """Return the skeleton of 26 joints, parents first, with end sites on head, thumbs, fingers and toes."""
    table = dict(_MIDDLE)
    ends = dict(_ENDS)
    for limb in (_ARM, _LEG):  # in this order: depth first, as in files
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            for name, (parent, (x, y, z)) in limb.items():
                table[side + name] = (parent if parent in _MIDDLE else side + parent, (sign * x, y, z))
                if name in _LIMB_ENDS:
                    x, y, z = _LIMB_ENDS[name]
                    ends[side + name] = (sign * x, y, z)
    names = tuple(table)
    return Skeleton(
        names=names,
        parents=np.array([-1 if parent is None else names.index(parent) for parent, _ in table.values()]),
        offsets=np.array([offset for _, offset in table.values()]),
        end_joints=np.array([names.index(name) for name in ends]),
        end_offsets=np.array(list(ends.values())),
    )
