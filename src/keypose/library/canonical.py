"""Any skeleton as the same seventeen joints of the same size at the same frame rate, so that all can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Floats, Frozen, freeze
from keypose.errors import OptionError
from keypose.kinematics import y_up
from keypose.model import Motion
from keypose.model.motion import frames_at_rate

FPS = 30.0
MAX_FRAMES = 1 << 18  # 2.4 hours at that rate: longer motions are not compared
CHUNK_FRAMES = 1 << 14
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
JOINTS = ("hips", "chest", "head", *(f"{side}_{limb}" for side in ("left", "right") for limb in LIMBS))
INDEX = {joint: k for k, joint in enumerate(JOINTS)}
PARTNERS = tuple(
    INDEX[{"left": "right_", "right": "left_"}[side] + limb] if limb in LIMBS else INDEX[joint]
    for joint in JOINTS
    for side, _, limb in (joint.partition("_"),)
)

# Substitutes of missing joints, in order towards the trunk; the first existing one is used.
_FALLBACKS = {
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
REQUIRED_JOINTS = ("left_shin", "right_shin")  # without both knees a body cannot be compared
MAX_MISSING = 8

# Rigs have hips and chest anywhere along the spine; the positions of thighs and shoulders are the same in every body.
_MIDPOINTS = {"hips": "thigh", "chest": "upper_arm"}

# From hip joint to knee to ankle and from hips to chest to head on a figure of 1.7 m: the median of CMU's figures.
BONES_M = 1.6
_LEG_BONES = tuple(
    (f"{side}_{a}", f"{side}_{b}") for side in ("left", "right") for a, b in (("thigh", "shin"), ("shin", "foot"))
)
_TRUNK_BONES = (("hips", "chest"), ("chest", "head"))
MIN_ACROSS_M = 0.05  # horizontal distance from right to left below which a body has no heading
MIN_RELATIVE_SIZE = 1e-9  # minimum ratio of bones to the distance from the origin; smaller ones are rounding noise


@dataclass(frozen=True, eq=False)
class CanonicalBody(Frozen):
    """A motion as seventeen joints at 30 fps: metres on a figure of 1.7 m, Y up, left is +X for a body that faces +Z.

    Floor and position are those of the file. ``missing`` are the joints that the skeleton does not have; each has the
    position of its nearest relative.
    """

    positions: Floats  # (T, 17, 3) in the order of JOINTS
    missing: tuple[str, ...] = ()

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.positions)

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.n_frames / FPS

    @property
    def root(self) -> Floats:
        """Positions of the hips, (T, 3)."""
        return self.positions[:, 0]

    @cached_property
    def heading(self) -> Floats:
        """Heading of the body, (T,) in radians, unwrapped: 0 is +Z, a quarter turn to the left is +X.

        It is perpendicular to hips and shoulders. While a body lies on its side, it has the last heading before.
        """
        p = self.positions
        across = sum(p[:, INDEX[f"left_{at}"]] - p[:, INDEX[f"right_{at}"]] for at in ("thigh", "upper_arm"))
        level = np.asarray(across)[:, (0, 2)]
        valid = np.flatnonzero(np.hypot(*level.T) > MIN_ACROSS_M)
        if not len(valid):
            return freeze(np.zeros(len(p)))
        angles = np.unwrap(np.arctan2(-level[valid, 1], level[valid, 0]))
        last = np.searchsorted(valid, np.arange(len(p)), side="right") - 1
        return freeze(angles[np.maximum(last, 0)])

    def mirror(self) -> CanonicalBody:
        """Return the body with left and right exchanged."""
        flipped = self.positions[:, PARTNERS] * np.array((-1.0, 1.0, 1.0))
        return CanonicalBody(freeze(flipped), tuple(sorted(JOINTS[PARTNERS[INDEX[joint]]] for joint in self.missing)))


def canonical_body(motion: Motion) -> CanonicalBody | None:
    """Return ``motion`` as a CanonicalBody; None without a recognisable body: markers, props, a face alone.

    Bodies are scaled by the lengths of legs and trunk, which no pose changes. Four-legged bodies are accepted too.
    """
    anatomy = motion.skeleton.anatomy
    joints, missing = _match_joints(anatomy)
    if len(missing) > MAX_MISSING or any(part in missing for part in REQUIRED_JOINTS):
        return None
    positions = _center_hips_and_chest(y_up(_positions_at_rate(motion, joints), motion.up), missing)
    bones = _bone_length_sum(positions)
    if not bones > MIN_RELATIVE_SIZE * np.abs(positions).max():
        return None
    return CanonicalBody(freeze(positions * (BONES_M / bones)), missing)


def _positions_at_rate(motion: Motion, joints: list[int]) -> Floats:
    """Return the positions of ``joints``, (T, 17, 3), at 30 fps; long motions in chunks, to save memory."""
    n_frames = motion.n_frames * FPS / motion.fps
    if n_frames > MAX_FRAMES:
        raise OptionError(
            f"lasts {motion.duration_s:.0f} s",
            code="too_long",
            subject=motion.name or "the motion",
            expected=f"at most {MAX_FRAMES / FPS:.0f} s of what is compared",
        )
    if n_frames <= CHUNK_FRAMES:
        return motion.at_fps(FPS).world_positions()[:, joints]
    frames = frames_at_rate(motion.n_frames, motion.n_joints, motion.fps, FPS)
    chunks = (frames[first : first + CHUNK_FRAMES] for first in range(0, len(frames), CHUNK_FRAMES))
    return np.concatenate([motion.at_frames(part).world_positions()[:, joints] for part in chunks])


def _match_joints(anatomy: Anatomy) -> tuple[list[int], tuple[str, ...]]:
    """Return the joint of the file for each of JOINTS, or its nearest relative, and the names of missing joints."""
    joint_of = {part: j for j, part in enumerate(anatomy.body_parts) if part is not None}
    if spine := anatomy.groups.get("spine"):
        joint_of["chest"] = spine[-1]
    missing = tuple(joint for joint in JOINTS if joint not in joint_of)
    return [_nearest_joint(joint, joint_of) for joint in JOINTS], missing


def _nearest_joint(joint: str, joint_of: dict[str, int]) -> int:
    """Return the joint of the file for a canonical joint, or the nearest relative; 0 if there is none."""
    if joint in joint_of:
        return joint_of[joint]
    side, _, limb = joint.partition("_")
    is_sided = limb in LIMBS
    for other in _FALLBACKS.get(limb if is_sided else joint, ()):
        candidate = f"{side}_{other}" if is_sided and other not in ("hips", "chest") else other
        if candidate in joint_of:
            return joint_of[candidate]
        if candidate in INDEX:
            return _nearest_joint(candidate, joint_of)
    return 0


def _center_hips_and_chest(positions: Floats, missing: tuple[str, ...]) -> Floats:
    """Return positions (T, 17, 3) with the hips between the thighs and the chest between the shoulders, where known."""
    centered = positions.copy()
    for middle, limb in _MIDPOINTS.items():
        sides = (f"left_{limb}", f"right_{limb}")
        if not any(side in missing for side in sides):
            centered[:, INDEX[middle]] = positions[:, [INDEX[side] for side in sides]].mean(axis=1)
    return centered


def _bone_length_sum(positions: Floats) -> float:
    """Return the length of leg plus trunk: medians over frames, the mean of both legs."""
    uppers, lowers = ([INDEX[bone[end]] for bone in (*_LEG_BONES, *_TRUNK_BONES)] for end in (0, 1))
    lengths = np.median(np.linalg.norm(positions[:, uppers] - positions[:, lowers], axis=-1), axis=0).tolist()
    *legs, lower_trunk, upper_trunk = lengths
    return float(sum(legs) / 2 + lower_trunk + upper_trunk)
