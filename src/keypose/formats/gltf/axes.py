"""The change between a motion's own axes and unit and those of glTF, which is Y up and in metres.

The turn is a change of basis: it goes into every joint's translation and rotation, not only into the roots. So
a figure rests with the same axes whichever way was up where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keypose.arrays import GREATEST_NUMBER, Floats
from keypose.errors import OptionError
from keypose.formats.gltf.curves import Keys
from keypose.formats.orientation import UPRIGHT
from keypose.kinematics import Up
from keypose.model import Motion, Pose
from keypose.rotations import to_matrix

LEAST_M = 1e-25  # the parts of a smaller figure would be nothing in 32 bits


def in_metres(motion: Motion, metres_per_unit: float) -> Motion:
    """The motion as glTF has it: Y up, in metres."""
    s, pose = motion.skeleton, motion.reference_pose
    vectors = [s.offsets, s.end_offsets, motion.translations, *([] if pose is None else [pose.translations])]
    largest = max(float(np.abs(array).max(initial=0.0)) for array in vectors) * metres_per_unit
    if not (largest == 0.0 or LEAST_M <= largest <= GREATEST_NUMBER):
        raise OptionError(f"{motion.name}: its largest number is {largest:g} in metres, expected "
                          f"{LEAST_M:g} to {GREATEST_NUMBER:g}, which fit into glTF's 32 bits")  # fmt: skip
    turn = _upright(motion.up)
    offsets, end_offsets, translations, *of_pose = (array @ turn.T * metres_per_unit for array in vectors)
    return replace(
        motion,
        skeleton=replace(s, offsets=offsets, end_offsets=end_offsets),
        translations=translations,
        rotations=_turned(motion.rotations, turn),
        up="Y",
        metres_per_unit=1.0,
        reference_pose=None if pose is None else Pose(of_pose[0], _turned(pose.rotations, turn)),
    )


def slopes_in_metres(keys: Keys, up: Up, metres_per_unit: float) -> Keys:
    """Keys whose slopes are as ``in_metres`` makes the poses: both change by the same linear map."""
    turn = _upright(up)
    return replace(
        keys,
        translation_slopes=tuple(slopes @ turn.T * metres_per_unit for slopes in keys.translation_slopes),
        rotation_slopes=tuple(_turned(slopes, turn) for slopes in keys.rotation_slopes),
    )


def in_own_unit(translations: Floats, rotations: Floats, up: Up, metres_per_unit: float) -> tuple[Floats, Floats]:
    """Poses of glTF, translations (..., 3) and rotations (..., 4), back in the axes and unit they came from.

    Slopes of curves go the same way.
    """
    back = _upright(up).T
    with np.errstate(over="ignore"):  # a unit beyond all measure: the Motion will refuse the numbers
        return translations @ back.T / metres_per_unit, _turned(rotations, back)


def moved(translations: Floats, roots: Sequence[int], by: Floats) -> Floats:
    """Poses, translations (..., J, 3), with the roots moved by a vector (3,)."""
    result = translations.copy()
    result[..., list(roots), :] += by
    return result


def _upright(up: Up) -> Floats:
    """The matrix (3, 3) that brings ``up`` to Y: all 0, 1 and -1, so that turning rounds nothing."""
    return np.rint(to_matrix(np.array(UPRIGHT[up])))


def _turned(rotations: Floats, turn: Floats) -> Floats:
    """Rotations (..., 4) in a turned basis: the same angle about the turned axis."""
    return np.concatenate((rotations[..., :1], rotations[..., 1:] @ turn.T), axis=-1)
