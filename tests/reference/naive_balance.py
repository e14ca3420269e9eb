"""Slow, obvious twins of the functions of balance."""

from __future__ import annotations

import math

# Winter's table: mass, centre along the segment.
TABLE = {
    "upper_arm": (0.028, 0.436),
    "forearm": (0.016, 0.430),
    "hand": (0.006, 0.506),
    "thigh": (0.100, 0.433),
    "shin": (0.0465, 0.433),
    "foot": (0.0145, 0.500),
}
TRUNK, HEAD = (0.497, 0.5), (0.081, 0.55)
CHAIN = {"upper_arm": "forearm", "forearm": "hand", "hand": "index1", "thigh": "shin", "shin": "foot", "foot": "toes"}


def centre_of_mass(motion, frame):
    """Return the centre of mass of a figure with all joints and a top of the head."""
    at, ends = motion.world_positions()[frame], motion.end_positions()[frame]

    def joint(part):
        return at[motion.joint(part)]

    def between(a, b, along):
        return [p + along * (d - p) for p, d in zip(a, b, strict=True)]

    def middle(part):
        return between(joint(f"left_{part}"), joint(f"right_{part}"), 0.5)

    top = ends[motion.skeleton.end_joints.tolist().index(motion.joint("head"))]
    weighted_sum = [
        (TRUNK[0], between(middle("upper_arm"), middle("thigh"), TRUNK[1])),
        (HEAD[0], between(joint("neck"), top, HEAD[1])),
    ]
    for side in ("left", "right"):
        for segment, (mass, along) in TABLE.items():
            weighted_sum.append((mass, between(joint(f"{side}_{segment}"), joint(f"{side}_{CHAIN[segment]}"), along)))
    return [sum(mass * place[axis] for mass, place in weighted_sum) for axis in range(3)]


def velocity(positions, frame, fps):
    reach = max(1, round(0.05 * fps))
    a, b = max(0, frame - reach), min(len(positions) - 1, frame + reach)
    return [0.0 if a == b else (q - p) * fps / (b - a) for p, q in zip(positions[a], positions[b], strict=True)]


def leg_length(motion):
    """Return the leg length of a figure whose bones have constant length."""
    offsets = motion.skeleton.offsets
    legs = [
        sum(math.hypot(*offsets[motion.joint(f"{side}_{part}")]) for part in ("shin", "foot"))
        for side in ("left", "right")
    ]
    return sum(legs) / 2


def foot_corners(motion, side, frame):
    """Return x and z of the four corners of a foot with toes and end sites, Y up."""
    at, ends = motion.world_positions()[frame], motion.end_positions()[frame]
    ankle = at[motion.joint(f"{side}_foot")]
    tip = ends[motion.skeleton.end_joints.tolist().index(motion.joint(f"{side}_toes"))]
    length = math.dist(ankle, tip)
    x, z = (tip[0] - ankle[0]) / length, (tip[2] - ankle[2]) / length
    mm = motion.height / 1700
    heel = ankle[0] - 60 * mm * x, ankle[2] - 60 * mm * z
    aside = 45 * mm * z / math.hypot(x, z), -45 * mm * x / math.hypot(x, z)
    return [
        (px + sign * aside[0], pz + sign * aside[1]) for px, pz in (heel, (tip[0], tip[2])) for sign in (1, -1)
    ]  # fmt: skip


def hull_edges(points):
    """Return all pairs of points with no point to the right of the line between them; none if all are equal."""
    size = max(max(abs(c) for c in p) for p in points) or 1.0
    return [
        (a, b)
        for a in points
        for b in points
        if math.dist(a, b) > 1e-9 and all(_left(a, b, p) >= -1e-11 * size**2 for p in points)
    ]


def margin(point, points):
    """Return the distance of ``point`` from the border of the convex hull of ``points``, negative outside; NaN if empty."""
    if not points:
        return math.nan
    edges = hull_edges(points)
    if not edges:
        return -math.dist(point, points[0])
    away = min(_to_segment(point, a, b) for a, b in edges)
    is_flat = all(_is_near(a, b, p) for a, b in edges[:1] for p in points)
    return away if not is_flat and all(_left(a, b, point) >= 0 for a, b in edges) else -away


def _is_near(a, b, p):
    """Return whether a point is on the line through two others."""
    return abs(_left(a, b, p)) < 1e-9


def _left(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def _to_segment(p, a, b):
    square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
    part = ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / square
    part = min(1.0, max(0.0, part))
    return math.dist(p, (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])))


def tipping_frames(best_before, best_after, fps, worse_mm):
    """Return the frames in which the edited figure tips, whatever the duration; NaN: in flight."""
    reach, frames = max(1, round(0.5 * fps)), []
    for frame, now in enumerate(best_after):
        around = [m for m in best_before[max(0, frame - reach) : frame + reach + 1] if not math.isnan(m)]
        is_known = not math.isnan(now) and not math.isnan(best_before[frame])
        frames.append(is_known and now < 0 and now < min(around) - worse_mm)
    return frames
