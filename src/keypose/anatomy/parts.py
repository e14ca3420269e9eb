"""The result of recognition: parts, groups, sides, and the questions that others ask of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from keypose.anatomy import words as w
from keypose.anatomy.names import read_name
from keypose.errors import UnknownJoint

SIDES = ("left", "right")

# Other names of a part: the anatomical joint it sits at, or what much software calls it.
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

_ANY = "(?:left_|right_)?"  # a limb without a side counts too
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
_SIDE = re.compile(r"(?<![^ ])(?:left|right)(?![^_])")  # at the start, as a word of its own


def part_name(side: str, segment: str) -> str:
    """left, hand -> left_hand; without a side the segment itself."""
    return f"{side}_{segment}" if side else segment


@dataclass(frozen=True)
class Anatomy:
    """Which body part each joint is. See the package's docstring for the parts and where they sit."""

    names: tuple[str, ...]  # of the joints, as the file wrote them
    parts: tuple[str | None, ...]  # None: not recognised; no part twice

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """The names of the joints that are no known part of a body."""
        return tuple(name for name, part in zip(self.names, self.parts, strict=True) if part is None)

    def joint(self, name: str) -> int:
        """The joint that is a part (``"left_forearm"``) or sits at a place (``"left_elbow"``)."""
        joint = self._joint_of.get(_tidy(name))
        if joint is None:
            raise UnknownJoint(name, self._joint_of)
        return joint

    def joints(self, name: str) -> tuple[int, ...]:
        """The joints of a group (``"hands"``) in file order, or the one joint of a part or place."""
        wanted = _tidy(name)
        if wanted in self.groups:
            return self.groups[wanted]
        if wanted in self._joint_of:
            return (self._joint_of[wanted],)
        raise UnknownJoint(name, dict.fromkeys((*self.groups, *self._joint_of)))

    @cached_property
    def groups(self) -> Mapping[str, tuple[int, ...]]:
        """The groups that have any joint here, each with its joints in file order.

        ``spine`` and ``head`` are groups here (the whole column; head with neck) and single parts to
        ``joint()``. ``arms`` start at the shoulder joint, ``torso`` holds the collars. ``body`` leaves out
        toes, fingers, faces and helpers. ``major`` is hips, elbows, wrists, knees and ankles. ``all`` is every joint,
        recognised or not.
        """
        groups = {
            group: tuple(j for j, part in enumerate(self.parts) if part is not None and pattern.fullmatch(part))
            for group, pattern in _GROUPS.items()
        }
        groups["major"] = tuple(sorted(self.major()))
        groups["all"] = tuple(range(len(self.names)))
        return MappingProxyType({group: joints for group, joints in groups.items() if joints})

    def feet(self) -> dict[str, tuple[int, ...]]:
        """Ankle and toe joints of each recognised foot, by side; a foot may have only one of the two."""
        feet = {side: self._present(f"{side}_foot", f"{side}_toes") for side in SIDES}
        return {side: joints for side, joints in feet.items() if joints}

    def vertical_pair(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Joints that are low and joints that are high on a standing figure: feet and head, or the next best.

        None where that cannot be told, as for an animal with a tail, whose head is rather before than
        above its feet.
        """
        if any(part is not None and part.startswith(w.TAIL) for part in self.parts):
            return None
        hips = self._present("hips")
        lows = (self._present(f"left_{segment}", f"right_{segment}") for segment in ("foot", "toes", "shin"))
        low = next(filter(None, (*lows, hips)), ())
        high = next(filter(None, (self.groups.get(group, ())[-1:] for group in ("head", "spine"))), hips)
        return (low, high) if low and high and low != high else None

    def mirrored(self) -> tuple[int, ...]:
        """For each joint its partner on the other side; itself if it has none or is on the middle.

        Joints that are no known part are paired by their names.
        """
        spelled = [
            part if part is not None else f"? {read_name(name).spelled}"
            for name, part in zip(self.names, self.parts, strict=True)
        ]
        joint_of: dict[str, int] = {}
        for j, own in enumerate(spelled):
            joint_of[own] = j if own not in joint_of else -1  # -1: two of one spelling, no telling which
        partners = []
        for j, own in enumerate(spelled):
            partner = joint_of.get(_other_side(own), -1)
            partners.append(partner if partner >= 0 and joint_of[own] == j else j)
        return tuple(partners)

    def major(self) -> tuple[int, ...]:
        """Hips, elbows, wrists, knees and ankles, as many of these nine as there are, in this order."""
        return self._present(*_MAJOR)

    @cached_property
    def _joint_of(self) -> dict[str, int]:
        """The joint of each part and, where no part has that name, of each alias."""
        joints = {part: j for j, part in enumerate(self.parts) if part is not None}
        spine = [part for part in joints if _GROUPS["spine"].fullmatch(part)]
        sided = ((part_name(s, a), part_name(s, p)) for s in (*SIDES, "") for a, p in _ALIASES.items())
        for alias, part in (("pelvis", "hips"), *(("chest", part) for part in spine[-1:]), *sided):
            if part in joints:
                joints.setdefault(alias, joints[part])
        return joints

    def _present(self, *parts: str) -> tuple[int, ...]:
        return tuple(self._joint_of[part] for part in parts if part in self._joint_of)


def _tidy(name: str) -> str:
    """Left Hand, left-hand -> left_hand."""
    return "_".join(re.split(r"[\s_-]+", name.strip().lower()))


def _other_side(spelled: str) -> str:
    """left_hand -> right_hand and back; what has no side stays."""
    return _SIDE.sub(lambda found: SIDES[found[0] == SIDES[0]], spelled, count=1)
