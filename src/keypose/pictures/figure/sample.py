"""Sampled poses of a motion: lengths and directions from which a figure is built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from keypose.anatomy.names import parse_name
from keypose.arrays import Floats, Ints
from keypose.kinematics import end_positions, forward, up_axis
from keypose.model import Motion, Skeleton
from keypose.pictures.figure.body import Side
from keypose.pictures.motion_cache import cache_per_motion
from keypose.rotations import to_matrix

N_POSES = 48  # of the motion, to measure figure, view and floor
MIN_AGREEMENT = 0.5  # length of the mean of unit vectors with a common direction
STATURE_SHARE = 0.85  # of the height: thigh, shin, and column from hips to head
MIN_LENGTH = 1e-300


@dataclass(frozen=True)
class Sample:
    """Poses spread over a motion, and the joints of its body parts."""

    skeleton: Skeleton
    world: Floats  # (F, J + E, 3) joints, then end sites
    rotations: Floats  # (F, J, 4)
    parents: Ints  # (J + E,)
    joints: dict[str, int]  # by body part
    upward: Floats  # (3,)
    size: float

    def mean_distance(self, a: int, b: int) -> float:
        """Return the mean distance of two points."""
        differences = self.world[:, a] - self.world[:, b]
        return float(np.sqrt(np.einsum("fk,fk->f", differences, differences)).mean())

    def local_direction(self, joint: int, vectors: Floats) -> Floats | None:
        """Return the mean direction of world ``vectors`` (F, 3) in the frame of ``joint``; None if they disagree."""
        inside = normalise(np.einsum("fij,fi->fj", self._axes[:, joint], vectors)).mean(axis=0)
        return normalise(inside) if inside @ inside > MIN_AGREEMENT * MIN_AGREEMENT else None

    def children(self, point: int) -> list[int]:
        """Return the child joints and end sites of a joint."""
        return self._children.get(point, [])

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for point, parent in enumerate(self.parents.tolist()):
            children.setdefault(parent, []).append(point)
        return children

    def chain(self, joint: int, above: int) -> list[int]:
        """Return the joint and those between it and ``above`` (excluded); empty if it is no descendant."""
        line = []
        while joint >= 0 and joint != above:
            line.append(joint)
            joint = int(self.parents[joint])
        return line if joint == above else []

    @cached_property
    def column(self) -> list[int]:
        """Existing joints of hips, spine, neck and head."""
        names = [part for part in self.joints if part.rstrip("0123456789") in ("spine", "neck")]
        body_parts = ("hips", *sorted(names, key=self.joints.__getitem__), "head")
        return [self.joints[name] for name in body_parts if name in self.joints]

    @property
    def is_animal(self) -> bool:
        """Whether the body has a tail: then its column is level and its head in front."""
        return any(part.startswith("tail") for part in self.joints)

    @cached_property
    def _axes(self) -> Floats:
        """World-from-joint matrices (F, J, 3, 3)."""
        return to_matrix(self.rotations)

    @cached_property
    def fronts(self) -> Floats | None:
        """Direction the body faces in each pose, unit vectors (F, 3); None without sides or column.

        The cross product of the directions to its left and up its column; for an animal, along its column.
        """
        world, joints = self.world, self.joints
        pairs = [(joints[f"left_{p}"], joints[f"right_{p}"]) for p in ("thigh", "upper_arm", "shin", "forearm")
                 if f"left_{p}" in joints and f"right_{p}" in joints]  # fmt: skip
        column = self.column
        if not pairs or len(column) < 2:
            return None
        along = world[:, column[-1]] - world[:, column[0]]
        if self.is_animal:
            return normalise(along)
        left = sum((normalise(world[:, a] - world[:, b]) for a, b in pairs[:2]), np.zeros(3))
        return normalise(np.cross(left, along))


@cache_per_motion
def sample_motion(motion: Motion) -> Sample:
    """Return evenly spread poses of ``motion``."""
    s = motion.skeleton
    rows = np.unique(np.linspace(0, motion.n_frames - 1, N_POSES).round().astype(int))
    world, rotations = forward(s.parents, motion.translations[rows], motion.rotations[rows])
    if len(s.end_joints):
        world = np.concatenate((world, end_positions(world, rotations, s.end_joints, s.end_offsets)), axis=1)
    joints = {part: j for j, part in enumerate(s.anatomy.body_parts) if part is not None}
    axis, sign = up_axis(motion.up)
    parents = np.concatenate((s.parents, s.end_joints))
    sample = Sample(s, world, rotations, parents, joints, sign * np.eye(3)[axis], 1.0)
    return replace(sample, size=_estimate_size(sample))


def _estimate_size(sample: Sample) -> float:
    """Return the height implied by legs and column; without them the extent of the poses."""
    column = sample.column
    legs = [
        sample.mean_distance(sample.joints[f"{side}_thigh"], sample.joints[f"{side}_shin"])
        + sample.mean_distance(sample.joints[f"{side}_shin"], sample.joints[f"{side}_foot"])
        for side in ("left", "right")
        if all(f"{side}_{p}" in sample.joints for p in ("thigh", "shin", "foot"))
    ]
    extent = float(np.median(np.ptp(sample.world, axis=1).max(axis=-1)))
    if legs and len(column) > 2:
        column_length = sum(sample.mean_distance(a, b) for a, b in pairwise(column))
        size = (max(legs) + column_length) / STATURE_SHARE
        if 0.3 * extent < size < 3 * extent:
            return size
    return extent if extent > MIN_LENGTH else 1.0


def normalise(vectors: Floats) -> Floats:
    """Return unit vectors (..., 3); zero vectors stay unchanged."""
    lengths = np.sqrt(np.einsum("...k,...k->...", vectors, vectors))[..., None]
    unit_vectors: Floats = vectors / np.where(lengths > MIN_LENGTH, lengths, 1.0)
    return unit_vectors


def joint_sides(skeleton: Skeleton) -> list[Side]:
    """Return the side of each joint: from its body part, its name, or a partner name that differs only in L and R."""
    names = set(skeleton.names)
    return [_side(part, name, names) for part, name in zip(skeleton.anatomy.body_parts, skeleton.names, strict=True)]


def _side(body_part: str | None, name: str, names: set[str]) -> Side:
    side = (body_part or "").partition("_")[0] if body_part else parse_name(name).side
    if side in ("left", "right"):
        return "left" if side == "left" else "right"
    start = name.rfind(":") + 1
    letter = name[start : start + 1]
    other = {"L": "R", "R": "L"}.get(letter)
    if body_part is None and other and name[:start] + other + name[start + 1 :] in names:
        return "left" if letter == "L" else "right"
    return "middle"
