"""Joints as rows of a picture, grouped by body region from the head down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal, TypeAlias

import numpy as np

from keypose.arrays import Ints, freeze, freeze_ints
from keypose.errors import ModelError, OptionError, format_count
from keypose.model import KeyedMotion, Selection, Skeleton

Side = Literal["left", "middle", "right"]

_HEAD = re.compile(r"neck[0-9]*|head|jaw|(?:left|right)_eye")
_TRUNK = re.compile(r"hips|spine[0-9]*")
_ARM = re.compile(
    r"(left|right)_(?:collar|upper_arm|forearm|hand|palm|fingers|(?:thumb|index|middle|ring|pinky)[0-9]+)"
)
_LEG = re.compile(r"(left|right)_(?:hip_joint|thigh|shin|foot|toes)")
BODY_REGIONS = ("head", "trunk", "left arm", "right arm", "left leg", "right leg", "other joints")
UPWARD = ("head", "trunk")  # listed from the last joint to the first, as these chains lead upwards
Keys: TypeAlias = Selection | KeyedMotion | Sequence[int] | Ints | None


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


def key_frames(keys: Keys, n_frames: int) -> Ints:
    """Return the increasing frames (K,) of a selection, a keyed motion or a list of frames; empty for None."""
    if keys is None:
        return np.zeros(0, np.int32)
    if isinstance(keys, Selection | KeyedMotion):
        frames = keys.frames if isinstance(keys, Selection) else keys.keys
        if keys.n_frames != n_frames:
            raise OptionError(
                f"keys of {format_count(keys.n_frames, 'frame')}", expected=f"those of the {n_frames} that are shown"
            )
        return frames
    if isinstance(keys, str | PathLike):  # a path as second argument
        raise OptionError(option="keys", value=keys, expected="frames, a Selection or a KeyedMotion; files are path=")
    try:
        frames = freeze_ints(keys, (None,), "keys")
    except ModelError as error:
        raise OptionError(f"{error}", hint="or a Selection or a KeyedMotion") from None
    if len(frames) and not 0 <= frames.min() <= frames.max() < n_frames:
        outside = frames[(frames < 0) | (frames >= n_frames)][0]
        raise OptionError(f"frame {outside}", option="keys", expected=f"0 to {n_frames - 1}")
    return freeze(np.unique(frames))
