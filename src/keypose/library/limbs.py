"""Which limbs a clip is about: what lists are narrowed by."""

from __future__ import annotations

import math
from collections.abc import Iterable

# How far a part must turn in one swing, in degrees. A third to a half of CMU's clips have such a swing of each limb,
# nearly all have smaller ones of every limb; a fifth turn the head so far.
WIDE_DEG = {"left_arm": 75.0, "right_arm": 75.0, "left_leg": 75.0, "right_leg": 75.0, "torso": 75.0, "head": 30.0}
LIMBS = tuple(WIDE_DEG)
_ARM = ("collar", "upper_arm", "forearm", "hand")
_HEAD = ("neck", "head")


def limb_of(part: str) -> str:
    """The limb that a part of the body (one of ``PARTS``) belongs to."""
    side, _, rest = part.partition("_")
    if side not in ("left", "right"):
        return "head" if part in _HEAD else "torso"
    return f"{side}_arm" if rest in _ARM else f"{side}_leg"


def limbs_that_swing(swings: Iterable[tuple[str, float]]) -> frozenset[str]:
    """The limbs of which a part swings widely, by parts and the angles in radians by which they turn."""
    return frozenset(limb_of(part) for part, angle in swings if math.degrees(angle) >= WIDE_DEG[limb_of(part)])
