"""A motion as the paths of arms, legs and trunk, for the rules that find actions; and numbers of paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, find_peaks, freeze
from keypose.features import body_root
from keypose.kinematics import y_up
from keypose.model import FootContacts, Motion

Direction = Literal["forward", "back", "left", "right", "up", "down"]

RATE = 30.0  # frames a second
SIDES = ("left", "right")
_SEGMENTS = {"arm": ("upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot")}
_ENDS = {"hand": ("hand", "palm", "forearm"), "foot": ("foot", "toes")}  # the first existing one


@dataclass(frozen=True, eq=False)
class Limb(Frozen):
    """One arm or leg: its joints, and the paths of its points, (T, 3)."""

    name: str  # "right leg"
    joints: tuple[int, ...]  # from the body outwards, those that exist
    base: Floats  # shoulder or hip
    middle: Floats | None  # elbow or knee
    end: Floats  # wrist or ankle
    tip: Floats  # toes; as ``end`` where there are none
    length: float
    in_contact: Bools  # (T,) whether the foot is known to stay on the ground; False for hands

    @property
    def is_leg(self) -> bool:
        """Whether it is a leg."""
        return self.name.endswith("leg")

    @cached_property
    def foot_speed(self) -> Floats:
        """The speed (T,) of the ankle or the toes, whichever is slower; 0 in a contact with the ground."""
        return freeze(np.where(self.in_contact, 0.0, np.minimum(speeds(self.end), speeds(self.tip))))


@dataclass(frozen=True, eq=False)
class BodyMotion(Frozen):
    """A motion as limbs and trunk."""

    limbs: tuple[Limb, ...]
    root: Floats  # (T, 3) hips
    top: Floats | None  # (T, 3) base of the neck
    heading: Floats | None  # (T,) radians, unwrapped, grows to the left; None: unknown

    @property
    def n_frames(self) -> int:
        """The number of frames at ``RATE``."""
        return len(self.root)

    @property
    def legs(self) -> tuple[Limb, ...]:
        """The recognised legs."""
        return tuple(limb for limb in self.limbs if limb.is_leg)

    @cached_property
    def hand_paths(self) -> dict[str, tuple[Floats, Floats]]:
        """The path of each hand from its shoulder in the axes of the hips, (T, 3), and its speed (T,), by arm."""
        paths = {limb.name: self.to_body_axes(limb.end - limb.base) for limb in self.limbs if not limb.is_leg}
        return {name: (freeze(path), freeze(speeds(path))) for name, path in paths.items()}

    @cached_property
    def _cos_sin(self) -> tuple[Floats, Floats]:
        heading = np.zeros(self.n_frames) if self.heading is None else self.heading
        return freeze(np.cos(heading)), freeze(np.sin(heading))

    def to_body_axes(self, vectors: Floats, frames: slice | NDArray[np.intp] = slice(None)) -> Floats:
        """Return vectors (T, 3) of these frames in the axes of the hips: X to the left, Y up, Z ahead."""
        if self.heading is None:
            return vectors
        c, s = self._cos_sin
        c, s = c[frames], s[frames]
        x, y, z = vectors.T
        rotated = np.empty_like(vectors)
        rotated[:, 0], rotated[:, 1], rotated[:, 2] = c * x - s * z, y, s * x + c * z
        return rotated


def build_body_motion(motion: Motion, contacts: FootContacts | None = None) -> BodyMotion | None:
    """Return the limbs of a motion; None for a figure without height or without a recognised arm or leg.

    ``contacts`` are those of its feet, if they are known better than from its paths.
    """
    anatomy = motion.skeleton.anatomy
    joint_of = {part: joint for joint, part in enumerate(anatomy.body_parts) if part is not None}
    if motion.height <= 0:
        return None
    sampled = motion.at_fps(RATE)
    positions = y_up(sampled.world_positions(), motion.up) * (motion.mm_per_unit / 1000.0)
    frames = np.minimum(np.round(np.arange(len(positions)) * motion.fps / RATE).astype(int), motion.n_frames - 1)
    in_contact = {} if contacts is None else dict(zip(contacts.feet, contacts.in_contact[frames].T, strict=True))
    built = (_build_limb(positions, joint_of, side, kind, in_contact.get(side)) for side in SIDES for kind in _SEGMENTS)
    limbs = [limb for limb in built if limb is not None]
    if not limbs:
        return None
    thighs = [joint_of[f"{side}_thigh"] for side in SIDES if f"{side}_thigh" in joint_of]
    shoulders = [joint_of[f"{side}_upper_arm"] for side in SIDES if f"{side}_upper_arm" in joint_of]
    pair = next((pair for pair in (thighs, shoulders) if len(pair) == 2), None)
    heading = None
    if pair is not None:
        across = positions[:, pair[0]] - positions[:, pair[1]]
        heading = freeze(np.unwrap(np.arctan2(-across[:, 2], across[:, 0])))
    root = positions[:, thighs if len(thighs) == 2 else [body_root(motion.skeleton)]].mean(axis=1)
    spine = anatomy.groups.get("spine", ())
    top = joint_of.get("neck", spine[-1] if spine else None)
    if len(shoulders) == 2:
        top_path = positions[:, shoulders].mean(axis=1)
    else:
        top_path = None if top is None else positions[:, top]
    return BodyMotion(tuple(limbs), root, top_path, heading)


def _build_limb(
    positions: Floats, joint_of: dict[str, int], side: str, kind: str, in_contact: Bools | None
) -> Limb | None:
    """Return a limb that has at least its first and its last joint."""
    first, middle, last = _SEGMENTS[kind]
    base = joint_of.get(f"{side}_{first}")
    end = next((joint_of[f"{side}_{part}"] for part in _ENDS[last] if f"{side}_{part}" in joint_of), None)
    if base is None or end is None:
        return None
    between = joint_of.get(f"{side}_{middle}")
    if between == end:
        between = None
    tip = joint_of.get(f"{side}_toes", end) if kind == "leg" else end
    chain = [joint for joint in (base, between, end) if joint is not None]
    length = float(np.median(np.linalg.norm(np.diff(positions[:, chain], axis=1), axis=2), axis=0).sum())
    if length <= 0:
        return None
    if kind == "arm" or in_contact is None:
        in_contact = np.zeros(len(positions), bool)
    return Limb(
        f"{side} {kind}", tuple(chain), positions[:, base], None if between is None else positions[:, between],
        positions[:, end], positions[:, tip], length, freeze(in_contact),
    )  # fmt: skip


def speeds(points: Floats) -> Floats:
    """Return the speed (T,) of a point (T, 3) per second."""
    if len(points) < 2:
        return np.zeros(len(points))
    steps = points[1:] - points[:-1]
    velocities = np.concatenate((steps[:1], (steps[:-1] + steps[1:]) / 2, steps[-1:]))
    return _lengths(velocities) * RATE


def smooth(values: Floats, seconds: float) -> Floats:
    """Return the moving average of ``values`` (T,)."""
    half = round(seconds * RATE / 2)
    if half == 0:
        return values
    width = 2 * half + 1
    padded = np.concatenate((np.full(half, values[0]), values, np.full(half, values[-1])))
    return np.convolve(padded, np.full(width, 1 / width), "valid")


def turning_points(values: Floats, min_change: float) -> list[tuple[int, bool]]:
    """Return the frames of maxima (True) and minima between which ``values`` change by at least ``min_change``."""
    peaks = [(frame, True) for frame, _ in find_peaks(values, min_change)]
    return sorted(peaks + [(frame, False) for frame, _ in find_peaks(-values, min_change)])


def path_length(points: Floats) -> float:
    """Return the length of a path (T, 3)."""
    return float(_lengths(points[1:] - points[:-1]).sum())


def _lengths(vectors: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))


def main_direction(vector: Floats, *, level: bool = False) -> Direction:
    """Return the main direction of a vector in body axes: X to the left, Y up, Z ahead."""
    x, y, z = vector.tolist()
    if not level and abs(y) >= max(abs(x), abs(z)):
        return "up" if y > 0 else "down"
    if abs(z) >= abs(x):
        return "forward" if z > 0 else "back"
    return "left" if x > 0 else "right"


def angle_deg(a: Floats, b: Floats) -> Floats:
    """Return the angles (T,) between vectors (T, 3)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray(np.rad2deg(np.arccos(np.clip(np.sum(a * b, axis=1) / np.maximum(lengths, 1e-12), -1.0, 1.0))))
