"""Recognise the body parts, groups and sides of the joints of a skeleton, by names and by the hierarchy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from types import MappingProxyType

from keypose.anatomy import names as w
from keypose.anatomy.names import Label, parse_name
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
_LIMB_OF_KIND = {"arm": "arm", "finger": "arm", "leg": "leg", "toe": "leg"}
_Fit = tuple[int, tuple[tuple[str, int], ...]]  # score of the words, and the joint of each segment


def part_name(side: str, segment: str) -> str:
    """Return the name of a body part: left, hand -> left_hand; without a side the segment."""
    return f"{side}_{segment}" if side else segment


@dataclass(frozen=True)
class Anatomy:
    """The body part of each joint of a skeleton; the docstring of the package lists all body parts."""

    names: tuple[str, ...]  # of the joints, as in the file
    body_parts: tuple[str | None, ...]  # None: not recognised; otherwise unique

    @property
    def unrecognised_joints(self) -> tuple[str, ...]:
        """The names of the joints without a recognised body part."""
        return tuple(name for name, part in zip(self.names, self.body_parts, strict=True) if part is None)

    @cached_property
    def auxiliary_joints(self) -> frozenset[int]:
        """Joints to which no limb leads: twist bones, controls, breasts."""
        return frozenset(
            j for j, part in enumerate(self.body_parts) if part and any(word in part for word in w.AUXILIARY_WORDS)
        )

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
        """Return the lowest and the highest joints of a standing figure: feet and head, or the nearest existing joints.

        None if unknown, as for an animal with a tail: its head is not above its feet but in front of them.
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
        name_variants = [
            part if part is not None else f"? {parse_name(name).snake_name}"
            for name, part in zip(self.names, self.body_parts, strict=True)
        ]
        joint_of: dict[str, int] = {}
        for j, own in enumerate(name_variants):
            joint_of[own] = j if own not in joint_of else -1  # -1: ambiguous, two joints of one spelling
        partners = []
        for j, own in enumerate(name_variants):
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


def recognise(names: Sequence[str], parents: Sequence[int]) -> Anatomy:
    """Return the body part of each joint; ``parents`` come before their children, -1 marks a root.

    Several points without a hierarchy are markers on the skin, not joints; none of them is recognised.
    """
    names = tuple(names)
    if len(names) > 1 and all(parent < 0 for parent in parents):
        return Anatomy(names, (None,) * len(names))
    labels = _refuse_impossible_limbs([parse_name(name) for name in names], parents)
    joint_of_part: dict[str, int] = {}
    for limb in w.LIMBS:
        for side in ("left", "right", ""):
            _find_limb(joint_of_part, labels, parents, limb, side)
    _find_column(joint_of_part, labels, parents)
    _find_fingers(joint_of_part, labels)
    body_parts: list[str | None] = [None] * len(names)
    for part, joint in joint_of_part.items():
        body_parts[joint] = part
    _name_other_joints(body_parts, labels)
    return Anatomy(names, tuple(body_parts))


def _refuse_impossible_limbs(labels: list[Label], parents: Sequence[int]) -> list[Label]:
    """Return the labels; a joint named like an arm or a finger below the hip joint, or like a leg or a toe below the
    shoulder joint, is of an unknown kind."""
    limbs: list[str] = []  # by joint: that of its outermost ancestor or itself, if any
    possible_labels = []
    for label, parent in zip(labels, parents, strict=True):
        limb = limbs[parent] if parent >= 0 else ""
        own_limb = _LIMB_OF_KIND.get(label.kind, "")
        if limb and own_limb and own_limb != limb:
            label = replace(label, kind="unknown")
        elif label.kind in w.LIMBS and label.key not in w.GIRDLE_KEYS:
            limb = label.kind
        limbs.append(limb)
        possible_labels.append(label)
    return possible_labels


def _find_limb(
    joint_of_part: dict[str, int], labels: list[Label], parents: Sequence[int], limb: str, side: str
) -> None:
    """Assign the segments of one arm or leg: first to the line of joints that fits best, then to the other joints."""
    members = [j for j, label in enumerate(labels) if label.kind == limb and label.side == side]
    if not members:
        return
    segments = w.LIMBS[limb]
    meanings = w.ARM_WORDS if limb == "arm" else w.LEG_WORDS
    fits: list[dict[int, _Fit]] = []  # by joint: fits of the line from the root to this joint
    best: _Fit = (0, ())
    for j, parent in enumerate(parents):
        fits.append(fits[parent] if parent >= 0 else {-1: (0, ())})
        label = labels[j]
        if label.kind == limb and label.side == side:
            fits[j] = _extend_fits(fits[j], j, meanings[label.key], segments)
            best = max(best, *fits[j].values(), key=itemgetter(0))
    for segment, joint in best[1]:
        joint_of_part[part_name(side, segment)] = joint
    line_joints = {joint for _, joint in best[1]}
    for joint in members:
        if joint not in line_joints:
            likeliest = next(iter(meanings[labels[joint].key]))
            joint_of_part.setdefault(part_name(side, likeliest), joint)


def _extend_fits(
    fits: dict[int, _Fit], joint: int, meaning: dict[str, int], segments: tuple[str, ...]
) -> dict[int, _Fit]:
    """Return the best fits of a line of joints extended by ``joint``, keyed by the outermost segment assigned so far.

    Segments are in order from the body outwards; a joint may have none.
    """
    extended = dict(fits)
    for k, segment in enumerate(segments):
        if segment in meaning:
            fit, assignments = max((fits[outermost] for outermost in fits if outermost < k), key=itemgetter(0))
            fit += meaning[segment]
            if k not in extended or fit > extended[k][0]:
                extended[k] = (fit, (*assignments, (segment, joint)))
    return extended


def _find_column(joint_of_part: dict[str, int], labels: list[Label], parents: Sequence[int]) -> None:
    """Assign hips, spine, neck and head."""

    def joints_of_kind(kind: str) -> list[int]:
        return [j for j, label in enumerate(labels) if label.kind == kind and not label.side]

    hips = joints_of_kind("hips")[:1] or _find_fork(joint_of_part, parents, w.LEG)
    spine, necks, heads = ([j for j in joints_of_kind(kind) if j not in hips] for kind in ("spine", "neck", "head"))
    shoulders = _find_fork(joint_of_part, parents, w.ARM)
    if not necks and shoulders and shoulders[0] in spine:
        # Rigify numbers spine, neck and head continuously.
        split = spine.index(shoulders[0]) + 1
        spine, necks = spine[:split], spine[split:]
        if necks and not heads:
            heads = [necks.pop()]
    if necks and not heads:
        heads = [j for j, label in enumerate(labels) if label.key == "face" and parents[j] == necks[-1]]
    if not heads and len(necks) > 1 and necks[-1] not in parents:
        heads = [necks.pop()]  # two neck joints without children: the upper one is the head
    ancestors = _path_to_root((heads[:1] or necks[-1:] or shoulders or [-1])[0], parents)
    spine = [j for j in spine if j in ancestors] or spine
    for part, joints in (("hips", hips[:1]), ("head", heads[:1])):
        joint_of_part.update((part, j) for j in joints)
    for part, joints in (("spine", spine), ("neck", necks)):
        joint_of_part.update((f"{part}{k or ''}", j) for k, j in enumerate(joints))
    for part in ("jaw", "root"):
        joint_of_part.update((part, j) for j in joints_of_kind(part)[:1] if j not in hips)
    for side in ("left", "right", ""):
        eyes = [j for j, label in enumerate(labels) if label.kind == "eye" and label.side == side]
        joint_of_part.update((part_name(side, "eye"), j) for j in eyes[:1])


def _path_to_root(joint: int, parents: Sequence[int]) -> set[int]:
    path = set()
    while joint >= 0:
        path.add(joint)
        joint = parents[joint]
    return path


def _find_fork(joint_of_part: dict[str, int], parents: Sequence[int], limb: tuple[str, ...]) -> list[int]:
    """Return the joint from which the left and right limb branch off, as a list of one or none."""
    inner = [
        next((joint_of_part[f"{side}_{s}"] for s in limb if f"{side}_{s}" in joint_of_part), -1)
        for side in ("left", "right")
    ]
    left, right = inner
    if min(inner) < 0:
        return []
    while left != right:  # parents come before their children: the later joint is not the common ancestor
        if left > right:
            left = parents[left]
        else:
            right = parents[right]
    return [left] if left >= 0 and left not in joint_of_part.values() else []


def _find_fingers(joint_of_part: dict[str, int], labels: list[Label]) -> None:
    """Number the joints of each finger from the palm outwards: 1, 2, 3, with 0 for a metacarpal bone."""
    finger_joints = [j for j, label in enumerate(labels) if label.kind == "finger"]
    # Biped counts fingers from 0, others from 1; the thumb is always first.
    counts = [labels[j].numbers[0] for j in finger_joints if labels[j].numbers and "finger" in labels[j].words]
    first = 0 if any(count.startswith("0") for count in counts) else 1
    fingers: dict[tuple[str, str], list[int]] = {}
    for j in finger_joints:
        finger = _find_finger(labels[j], first)
        if finger is not None:
            fingers.setdefault((labels[j].side, finger), []).append(j)
    for (side, finger), joints in fingers.items():
        start = 0 if finger != "thumb" and _starts_in_palm([labels[j] for j in joints]) else 1
        joint_of_part.update((part_name(side, f"{finger}{k}"), j) for k, j in enumerate(joints, start))


def _find_finger(label: Label, first: int) -> str | None:
    """Return the finger by a word of the name or, as in Finger0 or Finger12, by its first digit; None if unknown."""
    for word in label.words:
        if word in w.FINGER_WORDS:
            return w.FINGER_WORDS[word]
    position = int(label.numbers[0][0]) - first if label.numbers else -1
    return w.FINGERS[position] if 0 <= position < len(w.FINGERS) else None


def _starts_in_palm(joints: list[Label]) -> bool:
    """Return whether the first joint of a finger is its metacarpal: its name has a word for it, or no number while the
    next joint has the number 1."""
    if not w.METACARPAL_WORDS.isdisjoint(joints[0].words):
        return True
    return not joints[0].numbers and len(joints) > 1 and joints[1].numbers[:1] in (("1",), ("01",))


def _name_other_joints(body_parts: list[str | None], labels: list[Label]) -> None:
    """Give other recognised joints a body part made from their own name."""
    existing = {part for part in body_parts if part is not None}
    copies: Counter[str] = Counter()
    for j, label in enumerate(labels):
        if body_parts[j] is not None or label.kind == "unknown":
            continue
        # A body part belongs to the joint that fits it best; another joint must not have the same name.
        base_name = label.snake_name if label.kind in ("helper", "face", "toe") else f"{label.snake_name}_helper"
        part = base_name
        while part in existing:
            copies[base_name] += 1
            part = f"{base_name}_{copies[base_name]}"
        body_parts[j] = part
        existing.add(part)
