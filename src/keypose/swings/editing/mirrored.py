"""A turn as seen in the mirror."""

from __future__ import annotations

from keypose.arrays import Floats
from keypose.inbetween.editing.mirror import symmetry_of
from keypose.rotations import conjugate, rotate
from keypose.swings.noun import Swings


def mirrored_turn(now: Swings, source: int, target: int, turn: Floats) -> Floats:
    """The turn (3,), in its own frame, of joint ``target`` that is the image of ``turn`` (3,) of joint ``source``.

    Turns are compared in the rest pose, whatever axes the joints have. In a mirror an axis keeps its part along the
    mirror's normal, and the part across it changes sign: it comes from the other side, and turns the other way round.
    """
    symmetry = symmetry_of(now.name, now.skeleton, now.reference_pose)
    world = rotate(symmetry.world.rotations[source], turn)
    image = 2.0 * (world @ symmetry.normal) * symmetry.normal - world
    return rotate(conjugate(symmetry.world.rotations[target]), image)
