"""Convert between a motion's own axes and unit and those of glTF, which is Y up and in metres.

The rotation is a change of basis: it applies to every joint's translation and rotation, not only to the roots. So the
rest axes of a figure do not depend on the up axis of its source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import OptionError
from keypose.formats.gltf.curves import Keys
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.kinematics import Up
from keypose.model import Motion, Pose
from keypose.rotations import to_matrix

MIN_M = 1e-25  # the dimensions of a smaller figure would be 0 in 32 bits


def convert_to_metres(motion: Motion, metres_per_unit: float) -> Motion:
    """Return the motion with Y up and in metres."""
    s, pose = motion.skeleton, motion.reference_pose
    vectors = [s.offsets, s.end_offsets, motion.translations, *([] if pose is None else [pose.translations])]
    largest = max(float(np.abs(array).max(initial=0.0)) for array in vectors) * metres_per_unit
    if not (largest == 0.0 or MIN_M <= largest <= MAX_MAGNITUDE):
        raise OptionError(f"{motion.name}: its largest number is {largest:g} in metres, expected "
                          f"{MIN_M:g} to {MAX_MAGNITUDE:g}, which fit into glTF's 32 bits")  # fmt: skip
    basis = _y_up_matrix(motion.up)
    offsets, end_offsets, translations, *pose_translations = (array @ basis.T * metres_per_unit for array in vectors)
    return replace(
        motion,
        skeleton=replace(s, offsets=offsets, end_offsets=end_offsets),
        translations=translations,
        rotations=_rotate_basis(motion.rotations, basis),
        up="Y",
        metres_per_unit=1.0,
        reference_pose=None if pose is None else Pose(pose_translations[0], _rotate_basis(pose.rotations, basis)),
    )


def convert_tangents_to_metres(keys: Keys, up: Up, metres_per_unit: float) -> Keys:
    """Return keys with tangents converted like the poses in ``convert_to_metres``, by the same linear map."""
    basis = _y_up_matrix(up)
    return replace(
        keys,
        translation_tangents=tuple(tangents @ basis.T * metres_per_unit for tangents in keys.translation_tangents),
        rotation_tangents=tuple(_rotate_basis(tangents, basis) for tangents in keys.rotation_tangents),
    )


def convert_to_own_unit(
    translations: Floats, rotations: Floats, up: Up, metres_per_unit: float
) -> tuple[Floats, Floats]:
    """Return glTF poses, translations (..., 3) and rotations (..., 4), in the motion's own axes and unit.

    Also converts the tangents of curves.
    """
    basis = _y_up_matrix(up).T
    with np.errstate(over="ignore"):  # an extreme unit: the Motion will refuse the numbers
        return translations @ basis.T / metres_per_unit, _rotate_basis(rotations, basis)


def move_roots(translations: Floats, roots: Sequence[int], offset: Floats) -> Floats:
    """Return translations (..., J, 3) with the roots moved by ``offset`` (3,)."""
    result = translations.copy()
    result[..., list(roots), :] += offset
    return result


def _y_up_matrix(up: Up) -> Floats:
    """Return the matrix (3, 3) that brings ``up`` to Y: all 0, 1 and -1, so that it rounds nothing."""
    return np.rint(to_matrix(np.array(ROTATION_TO_Y_UP[up])))


def _rotate_basis(rotations: Floats, basis: Floats) -> Floats:
    """Return rotations (..., 4) in another basis: the same angle about the rotated axis."""
    return np.concatenate((rotations[..., :1], rotations[..., 1:] @ basis.T), axis=-1)
