"""Which body parts move in a clip: the facets that lists are narrowed by."""

from __future__ import annotations

import math
from collections.abc import Iterable

# Minimum rotation in one swing, in degrees. A third to a half of CMU's clips have such a swing of each limb, nearly all
# have smaller ones of every limb; a fifth rotate the head so far.
MIN_SWING_DEG = {"left_arm": 75.0, "right_arm": 75.0, "left_leg": 75.0, "right_leg": 75.0, "torso": 75.0, "head": 30.0}
FACET_BODY_PARTS = tuple(MIN_SWING_DEG)
_ARM_PARTS = ("collar", "upper_arm", "forearm", "hand")
_HEAD_PARTS = ("neck", "head")


def facet_of(part: str) -> str:
    """Return the facet of a body part (one of ``BODY_PARTS`` of swing tables)."""
    side, _, rest = part.partition("_")
    if side not in ("left", "right"):
        return "head" if part in _HEAD_PARTS else "torso"
    return f"{side}_arm" if rest in _ARM_PARTS else f"{side}_leg"


def find_moving_body_parts(swings: Iterable[tuple[str, float]]) -> frozenset[str]:
    """Return the facets with a wide swing, from pairs of body part and rotation angle in radians."""
    return frozenset(facet_of(part) for part, angle in swings if math.degrees(angle) >= MIN_SWING_DEG[facet_of(part)])
