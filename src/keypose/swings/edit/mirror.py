"""Mirror the rotation of a swing."""

from __future__ import annotations

from keypose.arrays import Floats
from keypose.curves.edit.mirror import find_symmetry
from keypose.rotations import conjugate, rotate
from keypose.swings.model import Swings


def mirror_rotation_vector(swings: Swings, source: int, target: int, rotation_vector: Floats) -> Floats:
    """Return the rotation vector (3,) of joint ``target``, in its own frame, that mirrors that of joint ``source``.

    Rotations are compared in the rest pose, whatever axes the joints have. Mirroring keeps the part of an axis along
    the mirror's normal and negates the part across it: it is reflected, and the rotation reverses.
    """
    symmetry = find_symmetry(swings.name, swings.skeleton, swings.reference_pose)
    world_vector = rotate(symmetry.world.rotations[source], rotation_vector)
    image = 2.0 * (world_vector @ symmetry.normal) * symmetry.normal - world_vector
    return rotate(conjugate(symmetry.world.rotations[target]), image)
