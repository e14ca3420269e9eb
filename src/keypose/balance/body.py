"""The centre of mass of a figure, from the masses of its segments, and the support polygon of its feet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.anatomy.body_parts import SIDES
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.kinematics import up_axis
from keypose.model import FootContacts, Motion
from keypose.rotations import rotate

_REQUIRED_PARTS = tuple(
    f"{side}_{part}" for part in ("thigh", "shin", "foot", "upper_arm", "forearm") for side in SIDES
)
_KNUCKLES = ("middle1", "index1", "fingers", "palm")
BALL_AHEAD_MM = 130.0  # of the ankle, for a foot without toes
_MIN_LENGTH_RATIO = 1e-6  # of the height: shorter bones have no direction

# Skeletons have no ear canal. It is assumed at this share of the way from the base of the neck to the top of the head
# (the centre of mass of head and neck in Plagenhoef et al. 1983).
EAR_ALONG = 0.55
# A forearm or hand without an end is assumed to continue the bone before it, with this ratio of lengths (Winter's body
# segment lengths: upper arm 0.186, forearm 0.146, hand to the knuckles 0.054 of the height).
FOREARM_OF_UPPER_ARM, HAND_OF_FOREARM = 0.785, 0.370

# Of a foot, on a figure of 1.7 m.
WIDTH_MM = 90.0
HEEL_BEHIND_MM = 60.0  # the ankle
TOES_AHEAD_MM = 60.0  # of the ball, if the skeleton has no tip


class Ends(NamedTuple):
    """The two ends of a segment in the world, file units."""

    proximal: Floats  # (T, 3)
    distal: Floats  # (T, 3)


class Foot(NamedTuple):
    """Points of a foot in the world, file units."""

    ankle: Floats  # (T, 3)
    ball: Floats  # (T, 3)
    tip: Floats | None  # (T, 3) of the toes


def check_body(motion: Motion) -> None:
    """Raise OptionError if the masses of the figure are unknown."""
    anatomy = motion.skeleton.anatomy
    body_parts = set(anatomy.body_parts)
    missing = [part for part in _REQUIRED_PARTS if part not in body_parts]
    if not body_parts & {"neck", "head"}:
        missing.append("neck or head")
    if missing:
        raise OptionError(
            f"the centre of mass cannot be known, no {', '.join(missing)} is recognised",
            code="no_body",
            subject=motion.name,
            value=", ".join(missing),
        )
    if anatomy.vertical_pair() is None:
        raise OptionError(
            "the centre of mass cannot be known, an animal with a tail has other masses than a person",
            code="no_body",
            subject=motion.name,
            value="tail",
        )


def centre_of_mass(motion: Motion) -> Floats:
    """Return the centre of mass (T, 3) in the world, file units."""
    ends = segment_ends(motion)
    centre = np.zeros((motion.n_frames, 3))
    for segment in SEGMENTS:
        for name in [f"{side}_{segment.name}" for side in SIDES] if segment.is_paired else [segment.name]:
            proximal, distal = ends[name]
            centre += segment.mass * (proximal + segment.along * (distal - proximal))
    return centre


def segment_ends(motion: Motion) -> dict[str, Ends]:
    """Return the ends of all segments: ``"head"``, ``"trunk"``, ``"left_thigh"``, ..."""
    body = _Body(motion)
    shoulders, hips = ((body.at(f"left_{part}") + body.at(f"right_{part}")) / 2.0 for part in ("upper_arm", "thigh"))
    ends = {"trunk": Ends(shoulders, hips), "head": _head(body, shoulders)}
    for side in SIDES:
        hip, knee, shoulder, elbow = (body.at(f"{side}_{part}") for part in ("thigh", "shin", "upper_arm", "forearm"))
        foot = find_foot(motion, side)
        wrist = body.find(f"{side}_hand", end_site_of=f"{side}_forearm")
        wrist = elbow + FOREARM_OF_UPPER_ARM * (elbow - shoulder) if wrist is None else wrist
        knuckles = body.find(*(f"{side}_{part}" for part in _KNUCKLES), end_site_of=f"{side}_hand", away_from=wrist)
        knuckles = wrist + HAND_OF_FOREARM * (wrist - elbow) if knuckles is None else knuckles
        ends |= {
            f"{side}_upper_arm": Ends(shoulder, elbow),
            f"{side}_forearm": Ends(elbow, wrist),
            f"{side}_hand": Ends(wrist, knuckles),
            f"{side}_thigh": Ends(hip, knee),
            f"{side}_shin": Ends(knee, foot.ankle),
            f"{side}_foot": Ends(foot.ankle, foot.ball),
        }
    return ends


def find_foot(motion: Motion, side: str) -> Foot:
    """Return ankle, ball and tip of a foot; a missing ball is estimated ahead of the ankle."""
    body = _Body(motion)
    ankle = body.at(f"{side}_foot")
    ball = body.find(f"{side}_toes", end_site_of="", away_from=ankle)
    if ball is not None:
        return Foot(ankle, ball, body.find(end_site_of=f"{side}_toes"))
    tip = body.find(end_site_of=f"{side}_foot")
    if tip is None:
        return Foot(ankle, ankle + BALL_AHEAD_MM / motion.mm_per_unit * forward_directions(motion), None)
    return Foot(ankle, tip, tip)


def forward_directions(motion: Motion) -> Floats:
    """Return horizontal unit vectors (T, 3), perpendicular to the line through the hip joints."""
    axis, sign = up_axis(motion.up)
    body = _Body(motion)
    ahead = np.cross(sign * np.eye(3)[axis], body.at("right_thigh") - body.at("left_thigh"))
    length = np.linalg.norm(ahead, axis=-1, keepdims=True)
    fallback = np.eye(3)[(axis + 1) % 3]
    unit: Floats = np.where(length > 0, ahead / np.where(length > 0, length, 1.0), fallback)
    return unit


def _head(body: _Body, shoulders: Floats) -> Ends:
    neck = body.find("neck", end_site_of="")
    neck = shoulders if neck is None else neck
    top = body.find(end_site_of="head")
    if top is not None:
        return Ends(neck, neck + EAR_ALONG * (top - neck))
    head = body.find("head", end_site_of="neck")
    return Ends(neck, neck if head is None else head)


class _Body:
    """Positions of joints and end sites of a motion by body part."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self._joint_of = {part: j for j, part in enumerate(motion.skeleton.anatomy.body_parts) if part is not None}

    def at(self, part: str) -> Floats:
        """Return the positions (T, 3) of a recognised body part."""
        return self._motion.world_positions()[:, self._joint_of[part]]

    def find(self, *body_parts: str, end_site_of: str, away_from: Floats | None = None) -> Floats | None:
        """Return positions (T, 3) of the first existing body part, else of the farthest end site of ``end_site_of``.

        Joints at the position ``away_from`` (T, 3) are ignored.
        """
        for part in body_parts:
            if part in self._joint_of:
                position = self.at(part)
                if away_from is None or np.abs(position - away_from).max() > _MIN_LENGTH_RATIO * self._motion.height:
                    return position
        return self._find_end_site(self._joint_of.get(end_site_of, -1))

    def _find_end_site(self, joint: int) -> Floats | None:
        skeleton = self._motion.skeleton
        offsets = skeleton.end_offsets[skeleton.end_joints == joint]
        lengths = np.linalg.norm(offsets, axis=-1)
        if not len(offsets) or lengths.max() <= _MIN_LENGTH_RATIO * self._motion.height:
            return None
        rotations, positions = self._motion.world_rotations()[:, joint], self._motion.world_positions()[:, joint]
        return positions + rotate(rotations, offsets[int(lengths.argmax())])


class Segment(NamedTuple):
    """One segment of a body; limbs have two of each."""

    name: str
    mass: float  # share of the body's mass
    along: float  # centre of mass, from the proximal end (0) to the distal end (1)
    is_paired: bool


SEGMENTS = (
    Segment("head", 0.081, 1.0, False),  # with the neck: from its base to the ear canal
    Segment("trunk", 0.497, 0.5, False),  # from between the shoulders to between the hip joints
    Segment("upper_arm", 0.028, 0.436, True),
    Segment("forearm", 0.016, 0.430, True),
    Segment("hand", 0.006, 0.506, True),  # from the wrist to the knuckles
    Segment("thigh", 0.100, 0.433, True),
    Segment("shin", 0.0465, 0.433, True),
    Segment("foot", 0.0145, 0.5, True),  # from the ankle to the ball of the foot
)


def ground_axes(motion: Motion) -> list[int]:
    """Return the two horizontal axes, in an order with the same orientation seen from above for every up axis."""
    axis, sign = up_axis(motion.up)
    return [(axis + 1) % 3, (axis + 2) % 3] if sign > 0 else [(axis + 2) % 3, (axis + 1) % 3]


def foot_outlines(motion: Motion, side: str) -> Floats:
    """Return the corners (T, 4, 2) of the outline of a foot on the ground: two beside the heel, two beside the toes.

    The outline is the vertical projection: it shortens as the foot tilts.
    """
    axes = ground_axes(motion)
    mm = 1.0 / motion.mm_per_unit
    foot = find_foot(motion, side)
    ankle = foot.ankle[:, axes]
    front = foot.ball if foot.tip is None else foot.tip
    length = np.linalg.norm(front - foot.ankle, axis=-1, keepdims=True)
    along = (front - foot.ankle)[:, axes] / np.where(length > 0, length, 1.0)  # shorter than 1 if it tilts
    heel = ankle - HEEL_BEHIND_MM * mm * along
    toes = front[:, axes] + (TOES_AHEAD_MM * mm * along if foot.tip is None else 0.0)
    flat = np.linalg.norm(along, axis=-1, keepdims=True)
    ahead = np.where(flat > 1e-6, along / np.where(flat > 1e-6, flat, 1.0), forward_directions(motion)[:, axes])
    aside = WIDTH_MM / 2 * mm * np.stack((-ahead[:, 1], ahead[:, 0]), axis=-1)
    return np.stack((heel - aside, toes - aside, toes + aside, heel + aside), axis=1)


def support_hulls(motion: Motion, contacts: FootContacts) -> tuple[Floats, Ints]:
    """Return convex hulls (T, 8, 2) of the feet in contact, and their numbers of corners (T,); 0 in flight."""
    if not contacts.feet:
        return np.zeros((motion.n_frames, 8, 2)), np.zeros(motion.n_frames, np.int32)
    corners = np.stack([foot_outlines(motion, side) for side in contacts.feet], axis=1)  # (T, F, 4, 2)
    is_supported: Bools = np.asarray(contacts.in_contact.any(axis=1))
    # a foot in the air is replaced by one in contact, so it does not change the hull
    standing_foot = corners[np.arange(len(corners)), contacts.in_contact.argmax(axis=1)]
    points = np.where(contacts.in_contact[:, :, None, None], corners, standing_foot[:, None]).reshape(
        len(corners), -1, 2
    )
    return convex_hulls(points, is_supported)


def convex_hulls(points: Floats, is_wanted: Bools) -> tuple[Floats, Ints]:
    """Return the convex hulls (T, N, 2) of ``points`` (T, N, 2), by gift wrapping, and their numbers of corners (T,).

    Hulls are counter-clockwise; rows beyond the last corner repeat the first one. Frames that are not ``is_wanted``
    (T,) have no corners.
    """
    count = points.shape[1]
    # below the rounding of the coordinates points are collinear
    tolerance = 1e-12 * np.maximum(np.abs(points).max(axis=(1, 2)) * np.ptp(points, axis=1).max(axis=1), 1e-300)
    # the point farthest from the mean is a corner; the lowest point might lie on an edge within rounding
    off = points - points.mean(axis=1, keepdims=True)
    first = points[np.arange(len(points)), np.sum(off * off, axis=-1).argmax(axis=1)]
    hulls = np.repeat(first[:, None], count, axis=1)
    corners = np.where(is_wanted, 1, 0)
    current, is_open = first, is_wanted.copy()
    for corner in range(1, count):
        next_corner = _next_corners(points, current, tolerance)
        is_open = is_open & (next_corner != first).any(axis=1)
        hulls[is_open, corner] = next_corner[is_open]
        corners += is_open
        current = np.where(is_open[:, None], next_corner, current)
    return hulls, corners.astype(np.int32)


def _next_corners(points: Floats, current: Floats, tolerance: Floats) -> Floats:
    """Return the point of each frame (T, 2) such that all ``points`` (T, N, 2) lie to the left of the line to it from
    ``current`` (T, 2).

    If several are on one line within ``tolerance`` (T,), it is the farthest of them.
    """
    next_corner = current.copy()
    for n in range(points.shape[1]):
        candidate, best = points[:, n] - current, next_corner - current
        side = best[:, 0] * candidate[:, 1] - best[:, 1] * candidate[:, 0]
        farther = np.sum(candidate * candidate, axis=-1) > np.sum(best * best, axis=-1)
        is_better = (side < -tolerance) | ((np.abs(side) <= tolerance) & farther)
        next_corner = np.where(is_better[:, None], points[:, n], next_corner)
    return next_corner


def margins(points: Floats, hulls: Floats, corners: Ints) -> Floats:
    """Return the distances (T,) of ``points`` (T, 2) from the borders of convex ``hulls``: negative outside, NaN
    without corners."""
    edges = np.roll(hulls, -1, axis=1) - hulls
    squares = np.sum(edges * edges, axis=-1)
    off = points[:, None] - hulls
    is_edge = squares > 0
    safe = np.where(is_edge, squares, 1.0)
    fraction = np.clip(np.sum(off * edges, axis=-1) / safe, 0.0, 1.0)
    distances = np.linalg.norm(off - fraction[..., None] * edges, axis=-1).min(axis=1)
    left = edges[..., 0] * off[..., 1] - edges[..., 1] * off[..., 0]
    inside = (left >= 0).all(axis=1) & (corners > 2)
    signed_distances: Floats = np.where(corners > 0, np.where(inside, distances, -distances), np.nan)
    return signed_distances
