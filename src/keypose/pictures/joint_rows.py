"""Joints as rows of a picture, grouped by body region from the head down."""

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
BODY_REGIONS = ("head", "trunk", "left arm", "right arm", "left leg", "right leg", "other joints")
UPWARD = ("head", "trunk")  # listed from the last joint to the first, since these chains lead upwards


@dataclass(frozen=True)
class BodyRegion:
    """Joints (indices) of one body region, from the top or from the body outwards."""

    name: str  # one of BODY_REGIONS
    side: Side
    joints: tuple[int, ...]


def find_body_region(body_part: str | None) -> str:
    """Return the one of BODY_REGIONS to which ``body_part`` belongs."""
    part_name = body_part or ""
    if _HEAD.fullmatch(part_name):
        return "head"
    if _TRUNK.fullmatch(part_name):
        return "trunk"
    for pattern, name in ((_ARM, "arm"), (_LEG, "leg")):
        match = pattern.fullmatch(part_name)
        if match:
            return f"{match[1]} {name}"
    return "other joints"


def group_joints(skeleton: Skeleton, joints: Iterable[int]) -> tuple[BodyRegion, ...]:
    """Group ``joints`` by body region; regions without joints are omitted."""
    groups: dict[str, list[int]] = {name: [] for name in BODY_REGIONS}
    body_parts = skeleton.anatomy.body_parts
    for joint in sorted(joints):
        groups[find_body_region(body_parts[joint])].append(joint)
    return tuple(
        BodyRegion(name, _side(name), tuple(reversed(region_joints)) if name in UPWARD else tuple(region_joints))
        for name, region_joints in groups.items()
        if region_joints
    )


def _side(region: str) -> Side:
    return "left" if region.startswith("left") else "right" if region.startswith("right") else "middle"
