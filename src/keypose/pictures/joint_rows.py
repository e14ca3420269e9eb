"""Joints as rows of a picture: by limb, from the head down, as a person would list them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from keypose.model import Skeleton

Side = Literal["left", "middle", "right"]

_HEAD = re.compile(r"neck[0-9]*|head|jaw|(?:left|right)_eye")
_TRUNK = re.compile(r"hips|spine[0-9]*")
_ARM = re.compile(
    r"(left|right)_(?:collar|upper_arm|forearm|hand|palm|fingers|(?:thumb|index|middle|ring|pinky)[0-9]+)"
)
_LEG = re.compile(r"(left|right)_(?:hip_joint|thigh|shin|foot|toes)")
LIMBS = ("head", "trunk", "left arm", "right arm", "left leg", "right leg", "other joints")
UPWARD = ("head", "trunk")  # whose joints are shown from the last one to the first, since these lead upwards


@dataclass(frozen=True)
class Limb:
    """Joints that are shown together, by their index, from the top or from the body outwards."""

    name: str  # one of LIMBS
    side: Side
    joints: tuple[int, ...]


def limb_of(part: str | None) -> str:
    """To which of LIMBS a body part belongs."""
    known = part or ""
    if _HEAD.fullmatch(known):
        return "head"
    if _TRUNK.fullmatch(known):
        return "trunk"
    for pattern, name in ((_ARM, "arm"), (_LEG, "leg")):
        found = pattern.fullmatch(known)
        if found:
            return f"{found[1]} {name}"
    return "other joints"


def limbs_of(skeleton: Skeleton, joints: Iterable[int]) -> tuple[Limb, ...]:
    """Some joints by limb; limbs without any are left out."""
    found: dict[str, list[int]] = {name: [] for name in LIMBS}
    parts = skeleton.anatomy.parts
    for joint in sorted(joints):
        found[limb_of(parts[joint])].append(joint)
    return tuple(
        Limb(name, _side(name), tuple(reversed(some)) if name in UPWARD else tuple(some))
        for name, some in found.items()
        if some
    )


def _side(limb: str) -> Side:
    return "left" if limb.startswith("left") else "right" if limb.startswith("right") else "middle"
