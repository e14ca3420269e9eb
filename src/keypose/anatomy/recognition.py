"""From names and hierarchy to body parts: what a name leaves open is decided by its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from keypose.anatomy import words as w
from keypose.anatomy.names import Label, read_name
from keypose.anatomy.parts import Anatomy, part_name


def recognise(names: Sequence[str], parents: Sequence[int]) -> Anatomy:
    """The body part of each joint; ``parents`` come before their children, -1 marks a root.

    Several points without any hierarchy are markers on the skin, not joints: none is recognised, whatever
    its name.
    """
    names = tuple(names)
    if len(names) > 1 and all(parent < 0 for parent in parents):
        return Anatomy(names, (None,) * len(names))
    labels = [read_name(name) for name in names]
    found: dict[str, int] = {}
    for limb in w.LIMBS:
        for side in ("left", "right", ""):
            _find_limb(found, labels, parents, limb, side)
    _find_column(found, labels, parents)
    _find_fingers(found, labels)
    parts: list[str | None] = [None] * len(names)
    for part, joint in found.items():
        parts[joint] = part
    _spell_the_rest(parts, labels)
    return Anatomy(names, tuple(parts))


def _find_limb(found: dict[str, int], labels: list[Label], parents: Sequence[int], limb: str, side: str) -> None:
    """Names the segments of one arm or leg: along its best line of joints, then what hangs elsewhere."""
    members = [j for j, label in enumerate(labels) if label.kind == limb and label.side == side]
    if not members:
        return
    segments = w.LIMBS[limb]
    meanings = w.ARM_WORDS if limb == "arm" else w.LEG_WORDS
    fits: list[dict[int, _Fit]] = []  # of the line from the root to each joint
    best: _Fit = (0, ())
    for j, parent in enumerate(parents):
        fits.append(fits[parent] if parent >= 0 else {-1: (0, ())})
        label = labels[j]
        if label.kind == limb and label.side == side:
            fits[j] = _extended(fits[j], j, meanings[label.key], segments)
            best = max(best, *fits[j].values(), key=itemgetter(0))
    for segment, joint in best[1]:
        found[part_name(side, segment)] = joint
    named = {joint for _, joint in best[1]}
    for joint in members:
        if joint not in named:
            likeliest = next(iter(meanings[labels[joint].key]))
            found.setdefault(part_name(side, likeliest), joint)


_Fit = tuple[int, tuple[tuple[str, int], ...]]  # how well the words fit, and the joint of each segment


def _extended(fits: dict[int, _Fit], joint: int, meaning: dict[str, int], segments: tuple[str, ...]) -> dict[int, _Fit]:
    """The best fits of a line that goes on with ``joint``, by the outermost segment given out so far.

    Segments follow each other in order; a joint may get none.
    """
    extended = dict(fits)
    for k, segment in enumerate(segments):
        if segment in meaning:
            fit, given = max((fits[outermost] for outermost in fits if outermost < k), key=itemgetter(0))
            fit += meaning[segment]
            if k not in extended or fit > extended[k][0]:
                extended[k] = (fit, (*given, (segment, joint)))
    return extended


def _find_column(found: dict[str, int], labels: list[Label], parents: Sequence[int]) -> None:
    """Names hips, spine, neck and head."""

    def called(kind: str) -> list[int]:
        return [j for j, label in enumerate(labels) if label.kind == kind and not label.side]

    hips = called("hips")[:1] or _fork(found, parents, w.LEG)
    spine, necks, heads = ([j for j in called(kind) if j not in hips] for kind in ("spine", "neck", "head"))
    shoulders = _fork(found, parents, w.ARM)
    if not necks and shoulders and shoulders[0] in spine:
        # Rigify numbers on from the spine into neck and head.
        past = spine.index(shoulders[0]) + 1
        spine, necks = spine[:past], spine[past:]
        if necks and not heads:
            heads = [necks.pop()]
    if necks and not heads:
        heads = [j for j, label in enumerate(labels) if label.key == "face" and parents[j] == necks[-1]]
    if not heads and len(necks) > 1 and necks[-1] not in parents:
        heads = [necks.pop()]  # two neck joints and nothing on the upper one: it carries the head
    line = _way_to_root((heads[:1] or necks[-1:] or shoulders or [-1])[0], parents)
    spine = [j for j in spine if j in line] or spine
    for part, joints in (("hips", hips[:1]), ("head", heads[:1])):
        found.update((part, j) for j in joints)
    for part, joints in (("spine", spine), ("neck", necks)):
        found.update((f"{part}{k or ''}", j) for k, j in enumerate(joints))
    for part in ("jaw", "root"):
        found.update((part, j) for j in called(part)[:1] if j not in hips)
    for side in ("left", "right", ""):
        eyes = [j for j, label in enumerate(labels) if label.kind == "eye" and label.side == side]
        found.update((part_name(side, "eye"), j) for j in eyes[:1])


def _way_to_root(joint: int, parents: Sequence[int]) -> set[int]:
    way = set()
    while joint >= 0:
        way.add(joint)
        joint = parents[joint]
    return way


def _fork(found: dict[str, int], parents: Sequence[int], limb: tuple[str, ...]) -> list[int]:
    """The joint from which the left and right limb branch off: a list of one, or of none."""
    inner = [next((found[f"{side}_{s}"] for s in limb if f"{side}_{s}" in found), -1) for side in ("left", "right")]
    left, right = inner
    if min(inner) < 0:
        return []
    while left != right:  # parents come before their children: the later joint is never the shared ancestor
        if left > right:
            left = parents[left]
        else:
            right = parents[right]
    return [left] if left >= 0 and left not in found.values() else []


def _find_fingers(found: dict[str, int], labels: list[Label]) -> None:
    """Numbers the joints of each finger from the palm outwards: 1, 2, 3, with 0 for a metacarpal bone."""
    of_fingers = [j for j, label in enumerate(labels) if label.kind == "finger"]
    # Biped counts fingers from 0, others from 1; the thumb is always the first.
    counts = [labels[j].numbers[0] for j in of_fingers if labels[j].numbers and "finger" in labels[j].words]
    first = 0 if any(count.startswith("0") for count in counts) else 1
    fingers: dict[tuple[str, str], list[int]] = {}
    for j in of_fingers:
        finger = _finger(labels[j], first)
        if finger is not None:
            fingers.setdefault((labels[j].side, finger), []).append(j)
    for (side, finger), joints in fingers.items():
        start = 0 if finger != "thumb" and _starts_in_palm([labels[j] for j in joints]) else 1
        found.update((part_name(side, f"{finger}{k}"), j) for k, j in enumerate(joints, start))


def _finger(label: Label, first: int) -> str | None:
    """The finger that a name says in words or, as Finger0 or Finger12, by its first digit."""
    for word in label.words:
        if word in w.FINGER_WORDS:
            return w.FINGER_WORDS[word]
    place = int(label.numbers[0][0]) - first if label.numbers else -1
    return w.FINGERS[place] if 0 <= place < len(w.FINGERS) else None


def _starts_in_palm(joints: list[Label]) -> bool:
    """Whether a finger's first joint is its metacarpal: called so, or numberless before a number 1."""
    if not w.METACARPAL_WORDS.isdisjoint(joints[0].words):
        return True
    return not joints[0].numbers and len(joints) > 1 and joints[1].numbers[:1] in (("1",), ("01",))


def _spell_the_rest(parts: list[str | None], labels: list[Label]) -> None:
    """Gives joints that are understood but are no main part a part spelled from their own name."""
    taken = {part for part in parts if part is not None}
    copies: Counter[str] = Counter()
    for j, label in enumerate(labels):
        if parts[j] is not None or label.kind == "unknown":
            continue
        # A joint whose word was better said of another joint must not look like that part.
        spelled = label.spelled if label.kind in ("helper", "face", "toe") else f"{label.spelled}_helper"
        part = spelled
        while part in taken:
            copies[spelled] += 1
            part = f"{spelled}_{copies[spelled]}"
        parts[j] = part
        taken.add(part)
