"""Anatomy: the body parts, groups and sides of the joints of a skeleton."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from keypose.anatomy import vocabulary as w
from keypose.anatomy.names import parse_name
from keypose.errors import UnknownJoint

SIDES = ("left", "right")

# Other names of a body part: the anatomical joint at its upper end, or common names in software.
_ALIASES = {
    "shoulder": "upper_arm",
    "elbow": "forearm",
    "lower_arm": "forearm",
    "wrist": "hand",
    "clavicle": "collar",
    "hip": "thigh",
    "upper_leg": "thigh",
    "knee": "shin",
    "lower_leg": "shin",
    "calf": "shin",
    "ankle": "foot",
    "toe": "toes",
}

_ANY = "(?:left_|right_)?"  # also limbs without a side
_ARM = "(?:upper_arm|forearm|hand)"
_LEG = "(?:thigh|shin|foot|toes)"
_DIGITS = f"(?:palm|fingers|(?:{'|'.join(w.FINGERS)})[0-9]+)"
_GROUPS = {
    group: re.compile(pattern)
    for group, pattern in {
        "hands": f"{_ANY}hand",
        "feet": f"{_ANY}(?:foot|toes)",
        "arms": _ANY + _ARM,
        "left_arm": f"left_{_ARM}",
        "right_arm": f"right_{_ARM}",
        "legs": _ANY + _LEG,
        "left_leg": f"left_{_LEG}",
        "right_leg": f"right_{_LEG}",
        "spine": "spine[0-9]*",
        "head": "neck[0-9]*|head",
        "torso": f"hips|spine[0-9]*|{_ANY}collar",
        "fingers": _ANY + _DIGITS,
        "left_fingers": f"left_{_DIGITS}",
        "right_fingers": f"right_{_DIGITS}",
        "left_side": "left_.*",
        "right_side": "right_.*",
        "body": f"hips|(?:spine|neck)[0-9]*|head|{_ANY}(?:collar|upper_arm|forearm|hand|thigh|shin|foot)",
        "end_effectors": f"{_ANY}(?:hand|foot)|head",
    }.items()
}
_MAJOR = ("hips", *(f"{side}_{segment}" for segment in ("forearm", "hand", "shin", "foot") for side in SIDES))
_SIDE = re.compile(r"(?<![^ ])(?:left|right)(?![^_])")  # at the start, as a separate word


def part_name(side: str, segment: str) -> str:
    """Return the name of a body part: left, hand -> left_hand; without a side the segment."""
    return f"{side}_{segment}" if side else segment


@dataclass(frozen=True)
class Anatomy:
    """The body part of each joint. The package's docstring lists the body parts."""

    names: tuple[str, ...]  # of the joints, as in the file
    body_parts: tuple[str | None, ...]  # None: not recognised; otherwise unique

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """The names of the joints without a recognised body part."""
        return tuple(name for name, part in zip(self.names, self.body_parts, strict=True) if part is None)

    def joint(self, name: str) -> int:
        """Return the index of the joint of a body part (``"left_forearm"``) or alias (``"left_elbow"``)."""
        joint = self._joint_of.get(_normalise_name(name))
        if joint is None:
            raise UnknownJoint(name, self._joint_of)
        return joint

    def joints(self, name: str) -> tuple[int, ...]:
        """Return the joints of a group (``"hands"``) in file order, or the one joint of a body part or alias."""
        part_or_group = _normalise_name(name)
        if part_or_group in self.groups:
            return self.groups[part_or_group]
        if part_or_group in self._joint_of:
            return (self._joint_of[part_or_group],)
        raise UnknownJoint(name, dict.fromkeys((*self.groups, *self._joint_of)))

    @cached_property
    def groups(self) -> Mapping[str, tuple[int, ...]]:
        """The groups that have any joint, each with its joints in file order.

        ``spine`` and ``head`` are groups here (the whole spine; head with neck) and single body parts in ``joint()``.
        ``arms`` start at the shoulder joint, ``torso`` includes the collars. ``body`` is without toes, fingers, faces
        and helpers. ``major`` is hips, elbows, wrists, knees and ankles. ``all`` is every joint, recognised or not.
        """
        groups = {
            group: tuple(j for j, part in enumerate(self.body_parts) if part is not None and pattern.fullmatch(part))
            for group, pattern in _GROUPS.items()
        }
        groups["major"] = tuple(sorted(self.major()))
        groups["all"] = tuple(range(len(self.names)))
        return MappingProxyType({group: joints for group, joints in groups.items() if joints})

    def feet(self) -> dict[str, tuple[int, ...]]:
        """Return the ankle and toe joints of each recognised foot by side; a foot may have only one of the two."""
        feet = {side: self._find_joints(f"{side}_foot", f"{side}_toes") for side in SIDES}
        return {side: joints for side, joints in feet.items() if joints}

    def vertical_pair(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return low and high joints of a standing figure: feet and head, or the next best.

        None if that is unknown, as for an animal with a tail, whose head is in front of rather than above its feet.
        """
        if any(part is not None and part.startswith(w.TAIL) for part in self.body_parts):
            return None
        hips = self._find_joints("hips")
        lows = (self._find_joints(f"left_{segment}", f"right_{segment}") for segment in ("foot", "toes", "shin"))
        low = next(filter(None, (*lows, hips)), ())
        high = next(filter(None, (self.groups.get(group, ())[-1:] for group in ("head", "spine"))), hips)
        return (low, high) if low and high and low != high else None

    def mirror_partners(self) -> tuple[int, ...]:
        """Return for each joint its partner on the other side; itself if it has none.

        Joints without a recognised body part are paired by their names.
        """
        spellings = [
            part if part is not None else f"? {parse_name(name).snake_name}"
            for name, part in zip(self.names, self.body_parts, strict=True)
        ]
        joint_of: dict[str, int] = {}
        for j, own in enumerate(spellings):
            joint_of[own] = j if own not in joint_of else -1  # -1: ambiguous, two joints of one spelling
        partners = []
        for j, own in enumerate(spellings):
            partner = joint_of.get(_swap_side(own), -1)
            partners.append(partner if partner >= 0 and joint_of[own] == j else j)
        return tuple(partners)

    def major(self) -> tuple[int, ...]:
        """Return hips, elbows, wrists, knees and ankles, those of these nine that exist, in this order."""
        return self._find_joints(*_MAJOR)

    @cached_property
    def _joint_of(self) -> dict[str, int]:
        """The joint of each body part and, unless a body part has that name, of each alias."""
        joints = {part: j for j, part in enumerate(self.body_parts) if part is not None}
        spine = [part for part in joints if _GROUPS["spine"].fullmatch(part)]
        side_aliases = ((part_name(s, a), part_name(s, p)) for s in (*SIDES, "") for a, p in _ALIASES.items())
        for alias, part in (("pelvis", "hips"), *(("chest", part) for part in spine[-1:]), *side_aliases):
            if part in joints:
                joints.setdefault(alias, joints[part])
        return joints

    def _find_joints(self, *parts: str) -> tuple[int, ...]:
        return tuple(self._joint_of[part] for part in parts if part in self._joint_of)


def _normalise_name(name: str) -> str:
    """Normalise a name: Left Hand, left-hand -> left_hand."""
    return "_".join(re.split(r"[\s_-]+", name.strip().lower()))


def _swap_side(name: str) -> str:
    """Swap the side: left_hand -> right_hand and back; names without a side are unchanged."""
    return _SIDE.sub(lambda found: SIDES[found[0] == SIDES[0]], name, count=1)
