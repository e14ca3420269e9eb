"""Any skeleton as the same seventeen joints of the same size at the same rate, so that all can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Floats, Frozen, give_away
from keypose.errors import OptionError
from keypose.kinematics import Up, up_axis
from keypose.model import Motion
from keypose.model.motion import frames_at_rate

FPS = 30.0
MOST_FRAMES = 1 << 18  # at that rate, 2.4 hours: what is longer is not compared
FRAMES_AT_ONCE = 1 << 14
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
JOINTS = ("hips", "chest", "head", *(f"{side}_{limb}" for side in ("left", "right") for limb in LIMBS))
INDEX = {joint: k for k, joint in enumerate(JOINTS)}
PARTNERS = tuple(
    INDEX[{"left": "right_", "right": "left_"}[side] + limb] if limb in LIMBS else INDEX[joint]
    for joint in JOINTS
    for side, _, limb in (joint.partition("_"),)
)

# Where a missing joint is taken from: the first of these that there is, inwards.
_NEXT = {
    "hips": ("spine", "root"),
    "chest": ("neck", "hips"),
    "head": ("neck1", "neck", "chest"),
    "hand": ("palm", "forearm"),
    "forearm": ("upper_arm",),
    "upper_arm": ("collar", "chest"),
    "toes": ("foot",),
    "foot": ("shin",),
    "shin": ("thigh",),
    "thigh": ("hip_joint", "hips"),
}
NEEDED = ("left_shin", "right_shin")  # without both knees it is no body that could be compared
MOST_MISSING = 8

# Rigs put hips and chest anywhere along the spine; what they hold together is where it is in every body.
_BETWEEN = {"hips": "thigh", "chest": "upper_arm"}

# From hip joint to knee to ankle and from hips to chest to head on a figure of 1.7 m: the median of CMU's figures.
BONES_M = 1.6
_BONES = (("thigh", "shin"), ("shin", "foot"))
LEAST_ACROSS_M = 0.05  # level distance from right to left below which a body has no heading of its own
LEAST_SIZE = 1e-9  # of bones, against the distance from the origin: what is smaller is noise of the numbers


@dataclass(frozen=True, eq=False)
class Canonical(Frozen):
    """A motion as seventeen joints at 30 fps: metres on a figure of 1.7 m, Y up, left is +X for one that faces +Z.

    The floor and the place are the file's own. ``missing`` names the joints that the skeleton lacks; each is where its
    nearest relative is.
    """

    positions: Floats  # (T, 17, 3) in the order of JOINTS
    missing: tuple[str, ...] = ()

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.positions)

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / FPS

    @property
    def root(self) -> Floats:
        """Where the hips are, (T, 3)."""
        return self.positions[:, 0]

    @cached_property
    def heading(self) -> Floats:
        """Where the body faces, (T,) in radians without jumps: 0 is +Z, a quarter turn to the left is +X.

        Square to hips and shoulders; a body that lies on its side keeps the heading that it had.
        """
        p = self.positions
        across = sum(p[:, INDEX[f"left_{at}"]] - p[:, INDEX[f"right_{at}"]] for at in ("thigh", "upper_arm"))
        level = np.asarray(across)[:, (0, 2)]
        known = np.flatnonzero(np.hypot(*level.T) > LEAST_ACROSS_M)
        if not len(known):
            return give_away(np.zeros(len(p)))
        angles = np.unwrap(np.arctan2(-level[known, 1], level[known, 0]))
        last = np.searchsorted(known, np.arange(len(p)), side="right") - 1
        return give_away(angles[np.maximum(last, 0)])

    def mirrored(self) -> Canonical:
        """The same seen in a mirror: left is right."""
        flipped = self.positions[:, PARTNERS] * np.array((-1.0, 1.0, 1.0))
        return Canonical(give_away(flipped), tuple(sorted(JOINTS[PARTNERS[INDEX[joint]]] for joint in self.missing)))


def canonical(motion: Motion) -> Canonical | None:
    """``motion`` as a Canonical; None without a recognisable body: markers, props, a face alone.

    Bodies are scaled by the lengths of legs and trunk, which no pose changes. Four-legged ones count as bodies too.
    """
    anatomy = motion.skeleton.anatomy
    joints, missing = _joints(anatomy)
    if len(missing) > MOST_MISSING or any(part in missing for part in NEEDED):
        return None
    positions = _settled(y_up(_at_rate(motion, joints), motion.up), missing)
    bones = _bones(positions)
    if not bones > LEAST_SIZE * np.abs(positions).max():
        return None
    return Canonical(give_away(positions * (BONES_M / bones)), missing)


def _at_rate(motion: Motion, joints: list[int]) -> Floats:
    """Where ``joints`` are, (T, 17, 3), at 30 fps; of long motions a part at a time, as all joints take much memory."""
    n_frames = motion.n_frames * FPS / motion.fps
    if n_frames > MOST_FRAMES:
        raise OptionError(f"{motion.name or 'the motion'} lasts {motion.duration_s:.0f} s, expected at most "
                          f"{MOST_FRAMES / FPS:.0f} s of what is compared")  # fmt: skip
    if n_frames <= FRAMES_AT_ONCE:
        return motion.at_fps(FPS).world_positions()[:, joints]
    frames = frames_at_rate(motion.n_frames, motion.n_joints, motion.fps, FPS)
    parts = (frames[first : first + FRAMES_AT_ONCE] for first in range(0, len(frames), FRAMES_AT_ONCE))
    return np.concatenate([motion.at_frames(part).world_positions()[:, joints] for part in parts])


def _joints(anatomy: Anatomy) -> tuple[list[int], tuple[str, ...]]:
    """The joint of the file for each of JOINTS or its nearest relative, and which of JOINTS the file lacks."""
    joint_of = {part: j for j, part in enumerate(anatomy.parts) if part is not None}
    if spine := anatomy.groups.get("spine"):
        joint_of["chest"] = spine[-1]
    missing = tuple(joint for joint in JOINTS if joint not in joint_of)
    return [_nearest(joint, joint_of) for joint in JOINTS], missing


def _nearest(joint: str, joint_of: dict[str, int]) -> int:
    """The file's joint for a canonical one or the nearest that there is; the first one where none is."""
    if joint in joint_of:
        return joint_of[joint]
    side, _, limb = joint.partition("_")
    sided = limb in LIMBS
    for other in _NEXT.get(limb if sided else joint, ()):
        own = f"{side}_{other}" if sided and other not in ("hips", "chest") else other
        if own in joint_of:
            return joint_of[own]
        if own in INDEX:
            return _nearest(own, joint_of)
    return 0


def _settled(positions: Floats, missing: tuple[str, ...]) -> Floats:
    """Positions (T, 17, 3) with the hips between the thighs and the chest between the shoulders, where these are."""
    settled = positions.copy()
    for middle, limb in _BETWEEN.items():
        sides = (f"left_{limb}", f"right_{limb}")
        if not any(side in missing for side in sides):
            settled[:, INDEX[middle]] = positions[:, [INDEX[side] for side in sides]].mean(axis=1)
    return settled


def y_up(points: Floats, up: Up) -> Floats:
    """Points (..., 3) of a right-handed world turned so that Y is up."""
    axis, sign = up_axis(up)
    turned = np.roll(points, 1 - axis, axis=-1)  # X -> Y or Z -> Y by a cycle of the axes: handedness stays
    return turned if sign > 0 else turned * np.array((-1.0, -1.0, 1.0))


def _bones(positions: Floats) -> float:
    """How long leg and trunk are together: medians over frames, the mean of both legs."""
    legs = [_length(positions, f"{side}_{a}", f"{side}_{b}") for side in ("left", "right") for a, b in _BONES]
    return sum(legs) / 2 + _length(positions, "hips", "chest") + _length(positions, "chest", "head")


def _length(positions: Floats, a: str, b: str) -> float:
    return float(np.median(np.linalg.norm(positions[:, INDEX[a]] - positions[:, INDEX[b]], axis=-1)))
