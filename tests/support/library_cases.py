"""Variants of the demo motion for library tests: moved, scaled, renamed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import keypose as kp
from keypose.arrays import Floats
from keypose.rotations import multiply, rotate

DEMO = kp.demo_motion(30.0)

_LIMBS = {
    "collar": "Shoulder",
    "upper_arm": "Arm",
    "forearm": "ForeArm",
    "hand": "Hand",
    "thigh": "UpLeg",
    "shin": "Leg",
    "foot": "Foot",
    "toes": "ToeBase",
}
MIXAMO_NAMES = {
    "hips": "mixamorig:Hips",
    "neck": "mixamorig:Neck",
    "head": "mixamorig:Head",
    **{f"spine{k or ''}": f"mixamorig:Spine{k or ''}" for k in range(4)},
    **{f"{s.lower()}_{part}": f"mixamorig:{s}{name}" for s in ("Left", "Right") for part, name in _LIMBS.items()},
}


def rotate_world(motion: kp.Motion, rotation: Floats, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> kp.Motion:
    """Return a motion with one root rotated in the world, then shifted."""
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    translations[:, 0] = rotate(rotation, translations[:, 0]) + shift
    rotations[:, 0] = multiply(np.broadcast_to(rotation, rotations[:, 0].shape), rotations[:, 0])
    return replace(motion, translations=translations, rotations=rotations)


def scale_motion(motion: kp.Motion, factor: float) -> kp.Motion:
    """Return the motion in another unit."""
    skeleton = replace(
        motion.skeleton, offsets=motion.skeleton.offsets * factor, end_offsets=motion.skeleton.end_offsets * factor
    )
    return replace(motion, skeleton=skeleton, translations=motion.translations * factor)
