"""Solid body of a person or an animal, for the parts that anatomy recognises."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.figure.body import Hull, Kind, Side
from keypose.pictures.figure.paint import Sample, normalise

SIDES: tuple[Side, ...] = ("left", "right")

# Radii and lengths in heights of the figure.
LIMB_RADII = {
    ("thigh", "shin"): (0.047, 0.031),
    ("shin", "foot"): (0.032, 0.02),
    ("upper_arm", "forearm"): (0.031, 0.022),
    ("forearm", "hand"): (0.023, 0.0155),
}
PELVIS, WAIST, CHEST, SHOULDER, NECK_BASE, NECK = 0.056, 0.052, 0.062, 0.036, 0.036, 0.027
SKULL, JAW, NOSE = 0.053, 0.035, 0.011
HEAD_LENGTH, SNOUT = 0.118, 0.1
CROWN = (0.04, 0.15)  # plausible distances of the crown from the head joint
MIN_LEVEL_SHARE = 0.3  # minimum share of the forward direction perpendicular to up; below it the gaze is unknown
HAND_LENGTH, HAND_RADII = 0.085, (0.016, 0.022, 0.011)
KNUCKLE, FINGER = 0.013, 0.009
FOOT_LENGTH, TOES = 0.09, 0.035  # length without toe joints; toes beyond the ball
FOOT_RADII = (0.021, 0.017, 0.018, 0.011)  # ankle, heel, ball, tip
HEEL_BACK, HEEL_DOWN = 0.022, 0.02
SOLE = 0.018  # of a ball without toe joints, below the ankle


@dataclass
class BodyBuilder:
    """Collects hulls, the points that move with joints, and the points without plain limbs."""

    sample: Sample
    hulls: list[Hull] = field(default_factory=list)
    carried_points: list[tuple[int, Floats]] = field(default_factory=list)  # joint, offset in its frame
    hidden_points: set[int] = field(default_factory=set)

    def add_carried_point(self, joint: int, offset: Floats) -> int:
        """Add a point that moves with ``joint`` at ``offset``, and return its index."""
        self.carried_points.append((joint, offset))
        return len(self.sample.parents) + len(self.carried_points) - 1

    def add(self, points: list[int], radii: tuple[float, ...], side: Side, kind: Kind) -> None:
        """Add a hull with radii in heights."""
        self.hulls.append(Hull(tuple(points), tuple(r * self.sample.size for r in radii), side, kind))

    def hide_limbs(self, joint: int, above: int) -> None:
        """Draw no plain limbs from ``above`` down to ``joint``."""
        self.hidden_points.update(self.sample.chain(joint, above))

    def hide_limbs_below(self, joint: int) -> None:
        """Draw no plain limbs below ``joint``."""
        inside = {joint}
        for point, parent in enumerate(self.sample.parents.tolist()):
            if parent in inside:
                inside.add(point)
        self.hidden_points |= inside - {joint}


def build_human(sample: Sample) -> BodyBuilder:
    """Return the body of a figure that has hips and limbs; empty for others and for markers."""
    builder = BodyBuilder(sample)
    joints = sample.joints
    if "hips" not in joints or (sample.skeleton.parents < 0).all():
        return builder
    above = sample.chain(joints["hips"], -1)[1:]  # a root of the scene on the floor is not part of the body
    builder.hidden_points.update({joints["hips"], *(c for j in above for c in sample.children(j)), *above})
    _add_trunk(builder)
    for side in SIDES:
        _add_limbs(builder, side)
    if "head" in joints:
        _add_head(builder)
    return builder


def _add_trunk(builder: BodyBuilder) -> None:
    """Add pelvis, waist, chest and neck: hulls around hip joints, column and shoulders."""
    joints = builder.sample.joints
    hips, column = joints["hips"], builder.sample.column
    base = next((joints[p] for p in ("neck", "neck1", "head") if p in joints), column[-1])
    thighs = [joints[f"{side}_thigh"] for side in ("left", "right") if f"{side}_thigh" in joints]
    shoulders = [joints[f"{side}_upper_arm"] for side in ("left", "right") if f"{side}_upper_arm" in joints]
    if base == hips:
        return
    middle = _trunk_middle(builder, hips, base)
    builder.add([hips, *thighs], (PELVIS, *[PELVIS * 0.94] * len(thighs)), "middle", "trunk")
    builder.add([hips, middle], (PELVIS, WAIST), "middle", "core")
    builder.add([middle, base, *shoulders], (CHEST, NECK_BASE, *[SHOULDER] * len(shoulders)), "middle", "trunk")
    for joint in (*thighs, *shoulders, base):
        builder.hide_limbs(joint, hips)
    if "head" in joints and base != joints["head"]:
        builder.add([base, joints["head"]], (NECK, NECK), "middle", "core")
        builder.hide_limbs(joints["head"], base)


def _trunk_middle(builder: BodyBuilder, hips: int, base: int) -> int:
    """Return the point half way up the trunk: a joint near there, else a point carried by the hips."""
    sample = builder.sample
    trunk_length = sample.mean_distance(hips, base)
    between = [
        j for j in sample.chain(base, hips) if 0.3 * trunk_length < sample.mean_distance(hips, j) < 0.7 * trunk_length
    ]
    if between:
        return min(between, key=lambda j: abs(sample.mean_distance(hips, j) - 0.5 * trunk_length))
    direction = sample.local_direction(hips, sample.world[:, base] - sample.world[:, hips])
    return hips if direction is None else builder.add_carried_point(hips, 0.5 * trunk_length * direction)


def _add_limbs(builder: BodyBuilder, side: Side) -> None:
    joints = builder.sample.joints
    for (upper, lower), radii in LIMB_RADII.items():
        a, b = joints.get(f"{side}_{upper}"), joints.get(f"{side}_{lower}")
        if a is not None and b is not None:
            builder.add([a, b], radii, side, "limb")
            builder.hide_limbs(b, a)
    if f"{side}_hand" in joints:
        _add_hand(builder, side, joints[f"{side}_hand"])
    if f"{side}_foot" in joints:
        _add_foot(builder, side, joints[f"{side}_foot"])


def _add_hand(builder: BodyBuilder, side: Side, wrist: int) -> None:
    """Add a hand: up to the finger tips if there are fingers, else in the direction of the forearm."""
    sample = builder.sample
    ends = [_finger_tip(sample, f"{side}_{finger}") for finger in ("index", "middle", "ring", "pinky")]
    tips = [tip for tip in ends if tip is not None]
    if len(tips) > 2:
        first = [f"{side}_{finger}1" for finger in ("index", "pinky")]
        knuckles = [sample.joints[name] for name in first if name in sample.joints]
        radii = (HAND_RADII[0], *[KNUCKLE] * len(knuckles), *[FINGER] * len(tips))
        builder.add([wrist, *knuckles, *tips], radii, side, "hand")
    else:
        below = [p for p in sample.children(wrist) if sample.mean_distance(wrist, p) > 0.01 * sample.size]
        outward = sum((normalise(sample.world[:, p] - sample.world[:, wrist]) for p in below), np.zeros(3))
        elbow = sample.joints.get(f"{side}_forearm")
        direction = sample.local_direction(wrist, outward) if below else None
        if direction is None and elbow is not None:
            direction = sample.local_direction(wrist, sample.world[:, wrist] - sample.world[:, elbow])
        if direction is not None:
            palm, tip = (
                builder.add_carried_point(wrist, direction * length * sample.size)
                for length in (0.5 * HAND_LENGTH, HAND_LENGTH)
            )
            builder.add([wrist, palm, tip], HAND_RADII, side, "hand")
    builder.hide_limbs_below(wrist)


def _finger_tip(sample: Sample, finger: str) -> int | None:
    """Return the last point of a finger with at least two joints, else None."""
    joint = sample.joints.get(f"{finger}2")
    if joint is None:
        return None
    while sample.children(joint):
        joint = sample.children(joint)[0]
    return joint


def _add_foot(builder: BodyBuilder, side: Side, ankle: int) -> None:
    """Add a foot of ankle, heel, ball and tip; the heel is below and behind the ankle, given by shin and toes."""
    sample, size = builder.sample, builder.sample.size
    knee = sample.joints.get(f"{side}_shin")
    down = None if knee is None else sample.local_direction(ankle, sample.world[:, ankle] - sample.world[:, knee])
    ball, ahead = _find_ball(builder, ankle, sample.joints.get(f"{side}_toes"), down)
    if ball is None or ahead is None:
        return
    builder.hide_limbs_below(ankle)
    points, radii = [ankle, ball], [FOOT_RADII[0], FOOT_RADII[2]]
    if down is not None:
        heel = normalise(down - ahead * (down @ ahead))
        points.append(builder.add_carried_point(ankle, size * (HEEL_DOWN * heel - HEEL_BACK * ahead)))
        radii.append(FOOT_RADII[1])
    if ball < len(sample.parents):
        ends = [p for p in sample.children(ball) if sample.mean_distance(ball, p) > 0.015 * size]
        tip = (
            ends[0]
            if ends
            else builder.add_carried_point(ankle, ahead * (sample.mean_distance(ankle, ball) + TOES * size))
        )
        points.append(tip)
        radii.append(FOOT_RADII[3])
    builder.add(points, tuple(radii), side, "foot")


def _find_ball(
    builder: BodyBuilder, ankle: int, toes: int | None, down: Floats | None
) -> tuple[int | None, Floats | None]:
    """Return the ball of a foot and its direction in the ankle's frame, from toes, children or the front."""
    sample = builder.sample
    candidates = sample.children(ankle) if toes is None else [toes, *sample.children(ankle)]
    below = [p for p in candidates if sample.mean_distance(ankle, p) > 0.02 * sample.size]
    if below:
        return below[0], sample.local_direction(ankle, sample.world[:, below[0]] - sample.world[:, ankle])
    front = None if sample.fronts is None else sample.local_direction(ankle, sample.fronts)
    if front is None or down is None:
        return None, None
    ahead = normalise(front - down * (front @ down))
    return builder.add_carried_point(ankle, sample.size * (FOOT_LENGTH * ahead + SOLE * down)), ahead


def gaze_direction(sample: Sample) -> Floats | None:
    """Return the gaze as a unit vector in the head's frame: the front, perpendicular to the crown.

    None if there is no head or the body has no clear front.
    """
    head = sample.joints.get("head")
    up = None if head is None else _head_up(sample, head)
    if head is None or up is None or sample.fronts is None:
        return None
    ahead = sample.local_direction(head, sample.fronts)
    if ahead is None or sample.is_animal:
        return ahead
    _, up = _find_crown(sample, head, up)
    level = ahead - up * (ahead @ up)
    return normalise(level) if level @ level > MIN_LEVEL_SHARE * MIN_LEVEL_SHARE else None


def _head_up(sample: Sample, head: int) -> Floats | None:
    """Return the up direction of the head in the frame of its joint."""
    neck = int(sample.parents[head])
    has_neck = neck >= 0 and sample.mean_distance(head, neck) > 0.01 * sample.size
    stem = (
        sample.world[:, head] - sample.world[:, neck]
        if has_neck
        else np.broadcast_to(sample.upward, (len(sample.world), 3))
    )
    return sample.local_direction(head, stem)


def _add_head(builder: BodyBuilder) -> None:
    """Add an egg from crown to chin and a nose; a skull and a snout for an animal."""
    sample, head, size = builder.sample, builder.sample.joints["head"], builder.sample.size
    up = _head_up(sample, head)
    if up is None:
        return
    builder.hide_limbs_below(head)
    ahead = gaze_direction(sample)
    if sample.is_animal:
        skull = builder.add_carried_point(head, 0.3 * SKULL * size * up)
        snout = builder.add_carried_point(head, size * SNOUT * (up if ahead is None else normalise(ahead - 0.25 * up)))
        builder.add([skull, snout], (0.8 * SKULL, 0.3 * SKULL), "middle", "head")
        return
    reach, up = _find_crown(sample, head, up)
    forward = np.zeros(3) if ahead is None else ahead
    skull = builder.add_carried_point(head, size * ((reach - SKULL) * up + 0.012 * forward))
    jaw = builder.add_carried_point(head, size * ((reach - HEAD_LENGTH + JAW) * up + 0.03 * forward))
    builder.add([skull, jaw], (SKULL, JAW), "middle", "head")
    if ahead is not None:
        root = builder.add_carried_point(head, size * ((reach - 0.058) * up + 0.06 * ahead))
        tip = builder.add_carried_point(head, size * ((reach - 0.08) * up + 0.076 * ahead))
        builder.add([root, tip], (0.6 * NOSE, NOSE), "middle", "nose")


def _find_crown(sample: Sample, head: int, up: Floats) -> tuple[float, Floats]:
    """Return the distance of the crown from the head joint in heights, and its direction in the joint's frame."""
    best, direction = 0.0, up
    for point in sample.children(head):
        local = sample.local_direction(head, sample.world[:, point] - sample.world[:, head])
        reach = sample.mean_distance(head, point) / sample.size
        if local is not None and local @ up > 0.8 and reach * (local @ up) > best:
            best, direction = reach * float(local @ up), local
    return (
        (best, direction)
        if CROWN[0] < best < CROWN[1]
        else (0.1 if best < CROWN[0] else CROWN[1], direction if best else up)
    )
