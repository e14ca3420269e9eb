"""Ends of body segments in every frame, and the centre of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from keypose.anatomy.body_parts import SIDES
from keypose.arrays import Floats
from keypose.balance.segments import EAR_ALONG, FOREARM_OF_UPPER_ARM, HAND_OF_FOREARM, SEGMENTS
from keypose.errors import OptionError
from keypose.kinematics import up_axis
from keypose.model import Motion
from keypose.rotations import rotate

_REQUIRED_PARTS = tuple(
    f"{side}_{part}" for part in ("thigh", "shin", "foot", "upper_arm", "forearm") for side in SIDES
)
_KNUCKLES = ("middle1", "index1", "fingers", "palm")
BALL_AHEAD_MM = 130.0  # of the ankle, for a foot without toes
_MIN_LENGTH_RATIO = 1e-6  # of the height: shorter bones have no direction


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
    """Raise OptionError for figures whose masses are unknown."""
    anatomy = motion.skeleton.anatomy
    body_parts = set(anatomy.body_parts)
    missing = [part for part in _REQUIRED_PARTS if part not in body_parts]
    if not body_parts & {"neck", "head"}:
        missing.append("neck or head")
    if missing:
        raise OptionError(f"{motion.name}: the centre of mass cannot be known, no {', '.join(missing)} is recognised")
    if anatomy.vertical_pair() is None:
        raise OptionError(f"{motion.name}: the centre of mass cannot be known, an animal with a tail "
                          "has other masses than a person")  # fmt: skip


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
        """Return positions (T, 3) of the first existing body part, else the farthest end site of ``end_site_of``.

        Joints at the position ``away_from`` (T, 3) do not count.
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
