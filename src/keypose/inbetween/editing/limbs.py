"""Arms and legs as two bones: which joints they are, and which way they bend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.anatomy.parts import part_name
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.directions import any_square_to, first_direction, square_to, unit
from keypose.inbetween.editing.poses import World
from keypose.model import KeyedMotion, Motion, Skeleton
from keypose.rotations import conjugate, rotate

_SEGMENTS = {"hand": ("upper_arm", "forearm"), "foot": ("thigh", "shin")}

# The sine of the angle by which a limb is bent: below the first its plane is mere noise, from the second on it is sure.
STRAIGHT_SINE, BENT_SINE = 0.02, 0.1


@dataclass(frozen=True)
class Limb:
    """Three joints, each hanging on the one before it, perhaps with others (twist or roll joints) in between."""

    upper: int  # shoulder or hip joint
    middle: int  # elbow or knee
    end: int  # wrist or ankle
    is_leg: bool
    one_way: bool = False  # bent the other way than usual it goes back to the usual one, as where it is straight

    @property
    def joints(self) -> list[int]:
        """The three joints, from the body outwards."""
        return [self.upper, self.middle, self.end]


def limb_of(skeleton: Skeleton, end: str) -> Limb:
    """The limb that ends in a hand or foot."""
    joint = skeleton.joint(end)
    found = limbs(skeleton)
    for limb in found.values():
        if limb.end == joint:
            return limb
    possible = ", ".join(found) or "none: no hand or foot hangs on a recognised forearm or shin"
    raise OptionError(f"{end!r} is not the end of an arm or leg of two bones, expected one of: {possible}")


def limbs(skeleton: Skeleton) -> dict[str, Limb]:
    """Every hand and foot whose two bones are recognised and hang together, by its part."""
    joint_of = {part: j for j, part in enumerate(skeleton.anatomy.parts) if part is not None}
    found = {}
    for segment, above in _SEGMENTS.items():
        for side in ("left", "right", ""):
            parts = [part_name(side, name) for name in (*above, segment)]
            if all(part in joint_of for part in parts):
                upper, middle, end = (joint_of[part] for part in parts)
                if hangs_on(skeleton, middle, upper) and hangs_on(skeleton, end, middle):
                    found[parts[-1]] = Limb(upper, middle, end, segment == "foot")
    return found


def hangs_on(skeleton: Skeleton, joint: int, other: int) -> bool:
    """Whether ``other`` is among the joints above ``joint``."""
    above = int(skeleton.parents[joint])
    while above >= 0 and above != other:
        above = int(skeleton.parents[above])
    return above == other


def bend(positions: Floats, limb: Limb) -> tuple[Floats, Floats]:
    """The normals (..., 3) of the planes in which a limb is bent, and the sines (...,) of the bends."""
    upper = unit(positions[..., limb.middle, :] - positions[..., limb.upper, :])
    lower = unit(positions[..., limb.end, :] - positions[..., limb.middle, :])
    normal = np.cross(upper, lower)
    return unit(normal), np.linalg.norm(normal, axis=-1)


def hinge(keyed: KeyedMotion, limb: Limb) -> Floats | None:
    """The normal (3,) of a limb's plane where it is bent most, as the upper joint sees it; None: never bent."""
    return hinge_over(keyed.sample(frames=keyed.keys), limb)


def hinge_over(motion: Motion, limb: Limb) -> Floats | None:
    """The same over all frames of a motion."""
    normals, sines = bend(motion.world_positions(), limb)
    most = int(np.argmax(sines))
    if sines[most] < BENT_SINE:
        return None
    return rotate(conjugate(motion.world_rotations()[most, limb.upper]), normals[most])


def bend_normal(skeleton: Skeleton, world: World, limb: Limb, usual: Floats | None) -> Floats:
    """The normals (..., 3) of the planes in which a limb is bent or, being nearly straight, would bend, in the world.

    The latter is its ``usual`` one, carried along by the upper joint; of a limb that is never bent, that in which a
    knee goes forwards (to where the toes are) and an elbow backwards.
    """
    normal, sine = bend(world.positions, limb)
    would = _would_bend(skeleton, world, limb, usual)
    if limb.one_way:
        sine = sine * np.maximum(np.sum(normal * would, axis=-1), 0.0)  # as far as it is bent the usual way
    sure = np.clip((sine - STRAIGHT_SINE) / (BENT_SINE - STRAIGHT_SINE), 0.0, 1.0)[..., None]
    return first_direction((1 - sure) * would + sure * normal, would, least=1e-3)


def _would_bend(skeleton: Skeleton, world: World, limb: Limb, usual: Floats | None) -> Floats:
    upper, middle, end = (world.positions[..., j, :] for j in (limb.upper, limb.middle, limb.end))
    along = first_direction(end - upper, middle - upper)
    tried = []
    if usual is not None:
        tried.append(square_to(rotate(world.rotations[..., limb.upper, :], usual), along))
    feet = [joints for joints in skeleton.anatomy.feet().values() if len(joints) == 2]
    if feet:
        ways = sum(unit(world.positions[..., toes, :] - world.positions[..., foot, :]) for foot, toes in feet)
        # the middle joint goes where the way along the limb is turned by the normal: v = along x normal
        tried.append(np.cross((1.0 if limb.is_leg else -1.0) * ways, along))
    return first_direction(*tried, any_square_to(along), least=1e-3)
