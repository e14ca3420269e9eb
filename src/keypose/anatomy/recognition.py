"""Recognise body parts by names; ambiguous names are resolved by the hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from keypose.anatomy import vocabulary as w
from keypose.anatomy.body_parts import Anatomy, part_name
from keypose.anatomy.names import Label, parse_name


def recognise(names: Sequence[str], parents: Sequence[int]) -> Anatomy:
    """Return the body part of each joint; ``parents`` come before their children, -1 marks a root.

    Several points without any hierarchy are markers on the skin, not joints: none is recognised.
    """
    names = tuple(names)
    if len(names) > 1 and all(parent < 0 for parent in parents):
        return Anatomy(names, (None,) * len(names))
    labels = [parse_name(name) for name in names]
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


def _find_limb(
    joint_of_part: dict[str, int], labels: list[Label], parents: Sequence[int], limb: str, side: str
) -> None:
    """Assign the segments of one arm or leg: first along its best line of joints, then the other joints."""
    members = [j for j, label in enumerate(labels) if label.kind == limb and label.side == side]
    if not members:
        return
    segments = w.LIMBS[limb]
    meanings = w.ARM_WORDS if limb == "arm" else w.LEG_WORDS
    fits: list[dict[int, _Fit]] = []  # by joint: of the line from the root to it
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


_Fit = tuple[int, tuple[tuple[str, int], ...]]  # score of the words, and the joint of each segment


def _extend_fits(
    fits: dict[int, _Fit], joint: int, meaning: dict[str, int], segments: tuple[str, ...]
) -> dict[int, _Fit]:
    """Return the best fits of a line extended by ``joint``, by the outermost segment assigned so far.

    Segments follow each other in order; a joint may get none.
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
    """Return whether a finger's first joint is its metacarpal: by a word, or without a number before a number 1."""
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
        # A joint whose words fit another joint better must not get the name of that part.
        base_name = label.snake_name if label.kind in ("helper", "face", "toe") else f"{label.snake_name}_helper"
        part = base_name
        while part in existing:
            copies[base_name] += 1
            part = f"{base_name}_{copies[base_name]}"
        body_parts[j] = part
        existing.add(part)
