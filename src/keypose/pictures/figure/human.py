"""The solid body of a person or an animal, as far as anatomy knows its parts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.figure.body import Kind, Part, Side
from keypose.pictures.figure.sample import Sample, unit

SIDES: tuple[Side, ...] = ("left", "right")

# Radii and lengths in heights of the figure.
LIMBS = {
    ("thigh", "shin"): (0.047, 0.031),
    ("shin", "foot"): (0.032, 0.02),
    ("upper_arm", "forearm"): (0.031, 0.022),
    ("forearm", "hand"): (0.023, 0.0155),
}
PELVIS, WAIST, CHEST, SHOULDER, NECK_BASE, NECK = 0.056, 0.052, 0.062, 0.036, 0.036, 0.027
SKULL, JAW, NOSE = 0.053, 0.035, 0.011
HEAD_LENGTH, SNOUT = 0.118, 0.1
CROWN = (0.04, 0.15)  # least and greatest distance of the crown from the head's joint that is believed
LEVEL = 0.3  # how much of the way ahead must be square to that up: else nobody knows where a face is
HAND_LENGTH, HAND_RADII = 0.085, (0.016, 0.022, 0.011)
KNUCKLE, FINGER = 0.013, 0.009
FOOT_LENGTH, TOES = 0.09, 0.035  # from the ankle on, without toes; beyond the ball
FOOT_RADII = (0.021, 0.017, 0.018, 0.011)  # ankle, heel, ball, tip
HEEL_BACK, HEEL_DOWN = 0.022, 0.02
SOLE = 0.018  # how far the ball of a foot without toes lies below the ankle


@dataclass
class Draft:
    """Parts as they are found, the points that joints carry for them, and the points whose limbs they replace."""

    some: Sample
    parts: list[Part] = field(default_factory=list)
    carried: list[tuple[int, Floats]] = field(default_factory=list)  # joint, offset in its frame
    covered: set[int] = field(default_factory=set)

    def carry(self, joint: int, offset: Floats) -> int:
        """A new point that ``joint`` carries at ``offset``."""
        self.carried.append((joint, offset))
        return len(self.some.parents) + len(self.carried) - 1

    def add(self, points: list[int], radii: tuple[float, ...], side: Side, kind: Kind) -> None:
        """A part with radii in heights."""
        self.parts.append(Part(tuple(points), tuple(r * self.some.size for r in radii), side, kind))

    def cover(self, joint: int, above: int) -> None:
        """No limbs are drawn from ``above`` down to ``joint``."""
        self.covered.update(self.some.chain(joint, above))

    def cover_below(self, joint: int) -> None:
        """No limbs are drawn below ``joint``."""
        inside = {joint}
        for point, parent in enumerate(self.some.parents.tolist()):
            if parent in inside:
                inside.add(point)
        self.covered |= inside - {joint}


def draft_of(some: Sample) -> Draft:
    """The body of a figure that has hips and limbs; nothing for others, and for markers."""
    draft = Draft(some)
    joints = some.joints
    if "hips" not in joints or (some.skeleton.parents < 0).all():
        return draft
    above = some.chain(joints["hips"], -1)[1:]  # a scene's root lies on the floor, not in the body
    draft.covered.update({joints["hips"], *(c for j in above for c in some.children(j)), *above})
    _trunk(draft)
    for side in SIDES:
        _limbs(draft, side)
    if "head" in joints:
        _head(draft)
    return draft


def _trunk(draft: Draft) -> None:
    """Pelvis, waist, chest and neck: hulls around hip joints, column and shoulders."""
    joints = draft.some.joints
    hips, column = joints["hips"], draft.some.column
    base = next((joints[p] for p in ("neck", "neck1", "head") if p in joints), column[-1])
    thighs = [joints[f"{side}_thigh"] for side in ("left", "right") if f"{side}_thigh" in joints]
    shoulders = [joints[f"{side}_upper_arm"] for side in ("left", "right") if f"{side}_upper_arm" in joints]
    if base == hips:
        return
    middle = _middle(draft, hips, base)
    draft.add([hips, *thighs], (PELVIS, *[PELVIS * 0.94] * len(thighs)), "middle", "trunk")
    draft.add([hips, middle], (PELVIS, WAIST), "middle", "core")
    draft.add([middle, base, *shoulders], (CHEST, NECK_BASE, *[SHOULDER] * len(shoulders)), "middle", "trunk")
    for joint in (*thighs, *shoulders, base):
        draft.cover(joint, hips)
    if "head" in joints and base != joints["head"]:
        draft.add([base, joints["head"]], (NECK, NECK), "middle", "core")
        draft.cover(joints["head"], base)


def _middle(draft: Draft, hips: int, base: int) -> int:
    """The point half way up the trunk: a joint near there, else one that the hips carry."""
    some = draft.some
    whole = some.length(hips, base)
    between = [j for j in some.chain(base, hips) if 0.3 * whole < some.length(hips, j) < 0.7 * whole]
    if between:
        return min(between, key=lambda j: abs(some.length(hips, j) - 0.5 * whole))
    way = some.local(hips, some.world[:, base] - some.world[:, hips])
    return hips if way is None else draft.carry(hips, 0.5 * whole * way)


def _limbs(draft: Draft, side: Side) -> None:
    joints = draft.some.joints
    for (upper, lower), radii in LIMBS.items():
        a, b = joints.get(f"{side}_{upper}"), joints.get(f"{side}_{lower}")
        if a is not None and b is not None:
            draft.add([a, b], radii, side, "limb")
            draft.cover(b, a)
    if f"{side}_hand" in joints:
        _hand(draft, side, joints[f"{side}_hand"])
    if f"{side}_foot" in joints:
        _foot(draft, side, joints[f"{side}_foot"])


def _hand(draft: Draft, side: Side, wrist: int) -> None:
    """One solid shape: around the finger tips where there are fingers, else on from the forearm."""
    some = draft.some
    ends = [_tip(some, f"{side}_{finger}") for finger in ("index", "middle", "ring", "pinky")]
    tips = [tip for tip in ends if tip is not None]
    if len(tips) > 2:
        first = [f"{side}_{finger}1" for finger in ("index", "pinky")]
        knuckles = [some.joints[name] for name in first if name in some.joints]
        radii = (HAND_RADII[0], *[KNUCKLE] * len(knuckles), *[FINGER] * len(tips))
        draft.add([wrist, *knuckles, *tips], radii, side, "hand")
    else:
        below = [p for p in some.children(wrist) if some.length(wrist, p) > 0.01 * some.size]
        outward = sum((unit(some.world[:, p] - some.world[:, wrist]) for p in below), np.zeros(3))
        elbow = some.joints.get(f"{side}_forearm")
        way = some.local(wrist, outward) if below else None
        if way is None and elbow is not None:
            way = some.local(wrist, some.world[:, wrist] - some.world[:, elbow])
        if way is not None:
            palm, tip = (draft.carry(wrist, way * part * some.size) for part in (0.5 * HAND_LENGTH, HAND_LENGTH))
            draft.add([wrist, palm, tip], HAND_RADII, side, "hand")
    draft.cover_below(wrist)


def _tip(some: Sample, finger: str) -> int | None:
    """The last point of a finger with at least two joints."""
    joint = some.joints.get(f"{finger}2")
    if joint is None:
        return None
    while some.children(joint):
        joint = some.children(joint)[0]
    return joint


def _foot(draft: Draft, side: Side, ankle: int) -> None:
    """Ankle, heel, ball and tip; the heel lies below and behind the ankle, as shin and toes say."""
    some, size = draft.some, draft.some.size
    knee = some.joints.get(f"{side}_shin")
    down = None if knee is None else some.local(ankle, some.world[:, ankle] - some.world[:, knee])
    ball, ahead = _ball(draft, ankle, some.joints.get(f"{side}_toes"), down)
    if ball is None or ahead is None:
        return
    draft.cover_below(ankle)
    points, radii = [ankle, ball], [FOOT_RADII[0], FOOT_RADII[2]]
    if down is not None:
        heel = unit(down - ahead * (down @ ahead))
        points.append(draft.carry(ankle, size * (HEEL_DOWN * heel - HEEL_BACK * ahead)))
        radii.append(FOOT_RADII[1])
    if ball < len(some.parents):
        ends = [p for p in some.children(ball) if some.length(ball, p) > 0.015 * size]
        tip = ends[0] if ends else draft.carry(ankle, ahead * (some.length(ankle, ball) + TOES * size))
        points.append(tip)
        radii.append(FOOT_RADII[3])
    draft.add(points, tuple(radii), side, "foot")


def _ball(draft: Draft, ankle: int, toes: int | None, down: Floats | None) -> tuple[int | None, Floats | None]:
    """The ball of a foot and the way to it in the ankle's frame: toes, what else hangs there, or ahead of the body."""
    some = draft.some
    hanging = some.children(ankle) if toes is None else [toes, *some.children(ankle)]
    below = [p for p in hanging if some.length(ankle, p) > 0.02 * some.size]
    if below:
        return below[0], some.local(ankle, some.world[:, below[0]] - some.world[:, ankle])
    front = None if some.fronts is None else some.local(ankle, some.fronts)
    if front is None or down is None:
        return None, None
    ahead = unit(front - down * (front @ down))
    return draft.carry(ankle, some.size * (FOOT_LENGTH * ahead + SOLE * down)), ahead


def looking(some: Sample) -> Floats | None:
    """Where the head looks, a unit vector in its joint's frame: where the body faces, square to the way to the crown.

    None where there is no head, or where the body's sides or poses do not say it.
    """
    head = some.joints.get("head")
    up = None if head is None else _up(some, head)
    if head is None or up is None or some.fronts is None:
        return None
    ahead = some.local(head, some.fronts)
    if ahead is None or some.is_animal:
        return ahead
    _, up = _crown(some, head, up)
    level = ahead - up * (ahead @ up)
    return unit(level) if level @ level > LEVEL * LEVEL else None


def _up(some: Sample, head: int) -> Floats | None:
    """The way up through the head, in the frame of its joint."""
    neck = int(some.parents[head])
    has_neck = neck >= 0 and some.length(head, neck) > 0.01 * some.size
    stem = some.world[:, head] - some.world[:, neck] if has_neck else np.broadcast_to(some.upward, (len(some.world), 3))
    return some.local(head, stem)


def _head(draft: Draft) -> None:
    """An egg from crown to chin and a nose that shows where it looks; a skull and a snout for an animal."""
    some, head, size = draft.some, draft.some.joints["head"], draft.some.size
    up = _up(some, head)
    if up is None:
        return
    draft.cover_below(head)
    ahead = looking(some)
    if some.is_animal:
        skull = draft.carry(head, 0.3 * SKULL * size * up)
        snout = draft.carry(head, size * SNOUT * (up if ahead is None else unit(ahead - 0.25 * up)))
        draft.add([skull, snout], (0.8 * SKULL, 0.3 * SKULL), "middle", "head")
        return
    reach, up = _crown(some, head, up)
    forward = np.zeros(3) if ahead is None else ahead
    skull = draft.carry(head, size * ((reach - SKULL) * up + 0.012 * forward))
    jaw = draft.carry(head, size * ((reach - HEAD_LENGTH + JAW) * up + 0.03 * forward))
    draft.add([skull, jaw], (SKULL, JAW), "middle", "head")
    if ahead is not None:
        root = draft.carry(head, size * ((reach - 0.058) * up + 0.06 * ahead))
        tip = draft.carry(head, size * ((reach - 0.08) * up + 0.076 * ahead))
        draft.add([root, tip], (0.6 * NOSE, NOSE), "middle", "nose")


def _crown(some: Sample, head: int, up: Floats) -> tuple[float, Floats]:
    """How far the crown lies from the head's joint, in heights, and in which direction of its frame."""
    best, way = 0.0, up
    for point in some.children(head):
        local = some.local(head, some.world[:, point] - some.world[:, head])
        reach = some.length(head, point) / some.size
        if local is not None and local @ up > 0.8 and reach * (local @ up) > best:
            best, way = reach * float(local @ up), local
    return (best, way) if CROWN[0] < best < CROWN[1] else (0.1 if best < CROWN[0] else CROWN[1], way if best else up)
