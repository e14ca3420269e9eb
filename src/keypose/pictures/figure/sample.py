"""A few poses of a motion, measured: lengths and directions that a figure is built from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from keypose.anatomy.names import read_name
from keypose.arrays import Floats, Ints
from keypose.kinematics import end_positions, forward, up_axis
from keypose.model import Motion, Skeleton
from keypose.pictures.figure.body import Side
from keypose.pictures.remember import remembered
from keypose.rotations import to_matrix

POSES = 48  # of the whole motion that a figure, its view and its floor are measured on
SURE = 0.5  # mean length of unit vectors, from which on they count as one direction
STATURE = 0.85  # of a person's height: thigh, shin, and the column from hips to head
LEAST = 1e-300


@dataclass(frozen=True)
class Sample:
    """Poses spread over a motion, and where the parts of its figure are."""

    skeleton: Skeleton
    world: Floats  # (F, J + E, 3) joints, then end sites
    turns: Floats  # (F, J, 4)
    parents: Ints  # (J + E,)
    joints: dict[str, int]  # by part
    upward: Floats  # (3,)
    size: float

    def length(self, a: int, b: int) -> float:
        """The usual distance of two points."""
        apart = self.world[:, a] - self.world[:, b]
        return float(np.sqrt(np.einsum("fk,fk->f", apart, apart)).mean())

    def local(self, joint: int, vectors: Floats) -> Floats | None:
        """The unit direction that world ``vectors`` (F, 3) have in the frame of ``joint``, if they agree."""
        inside = unit(np.einsum("fij,fi->fj", self._axes[:, joint], vectors)).mean(axis=0)
        return unit(inside) if inside @ inside > SURE * SURE else None

    def children(self, point: int) -> list[int]:
        """The joints and end sites that hang on a joint."""
        return self._children.get(point, [])

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for point, parent in enumerate(self.parents.tolist()):
            found.setdefault(parent, []).append(point)
        return found

    def chain(self, joint: int, above: int) -> list[int]:
        """The joint and those between it and ``above``, which is not counted; empty if it does not hang there."""
        line = []
        while joint >= 0 and joint != above:
            line.append(joint)
            joint = int(self.parents[joint])
        return line if joint == above else []

    @cached_property
    def column(self) -> list[int]:
        """Hips, spine and neck, up to the head, as far as there are any."""
        names = [part for part in self.joints if part.rstrip("0123456789") in ("spine", "neck")]
        wanted = ("hips", *sorted(names, key=self.joints.__getitem__), "head")
        return [self.joints[name] for name in wanted if name in self.joints]

    @property
    def is_animal(self) -> bool:
        """Whether it has a tail: then its column lies, and its head is before rather than above."""
        return any(part.startswith("tail") for part in self.joints)

    @cached_property
    def _axes(self) -> Floats:
        """World-from-joint matrices (F, J, 3, 3)."""
        return to_matrix(self.turns)

    @cached_property
    def fronts(self) -> Floats | None:
        """Where the body faces in each pose, unit vectors (F, 3); None for one without sides or column.

        The cross product of the ways to its left and up its column is ahead; an animal's column itself leads there.
        """
        world, joints = self.world, self.joints
        pairs = [(joints[f"left_{p}"], joints[f"right_{p}"]) for p in ("thigh", "upper_arm", "shin", "forearm")
                 if f"left_{p}" in joints and f"right_{p}" in joints]  # fmt: skip
        column = self.column
        if not pairs or len(column) < 2:
            return None
        along = world[:, column[-1]] - world[:, column[0]]
        if self.is_animal:
            return unit(along)
        left = sum((unit(world[:, a] - world[:, b]) for a, b in pairs[:2]), np.zeros(3))
        return unit(np.cross(left, along))


@remembered
def sample_of(motion: Motion) -> Sample:
    """Some poses of ``motion``, evenly spread."""
    s = motion.skeleton
    rows = np.unique(np.linspace(0, motion.n_frames - 1, POSES).round().astype(int))
    world, turns = forward(s.parents, motion.translations[rows], motion.rotations[rows])
    if len(s.end_joints):
        world = np.concatenate((world, end_positions(world, turns, s.end_joints, s.end_offsets)), axis=1)
    joints = {part: j for j, part in enumerate(s.anatomy.parts) if part is not None}
    axis, sign = up_axis(motion.up)
    parents = np.concatenate((s.parents, s.end_joints))
    some = Sample(s, world, turns, parents, joints, sign * np.eye(3)[axis], 1.0)
    return replace(some, size=_size(some))


def _size(some: Sample) -> float:
    """The height that a figure with these legs and this column has; without them the extent of its poses."""
    column = some.column
    legs = [
        some.length(some.joints[f"{side}_thigh"], some.joints[f"{side}_shin"])
        + some.length(some.joints[f"{side}_shin"], some.joints[f"{side}_foot"])
        for side in ("left", "right")
        if all(f"{side}_{p}" in some.joints for p in ("thigh", "shin", "foot"))
    ]
    extent = float(np.median(np.ptp(some.world, axis=1).max(axis=-1)))
    if legs and len(column) > 2:
        tall = sum(some.length(a, b) for a, b in pairwise(column))
        size = (max(legs) + tall) / STATURE
        if 0.3 * extent < size < 3 * extent:
            return size
    return extent if extent > LEAST else 1.0


def unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) of length one; those of no length stay as they are."""
    lengths = np.sqrt(np.einsum("...k,...k->...", vectors, vectors))[..., None]
    scaled: Floats = vectors / np.where(lengths > LEAST, lengths, 1.0)
    return scaled


def sides_of(skeleton: Skeleton) -> list[Side]:
    """The side of each joint: of its part, else of its name, else by a partner whose name differs only in L and R."""
    names = set(skeleton.names)
    return [_side(part, name, names) for part, name in zip(skeleton.anatomy.parts, skeleton.names, strict=True)]


def _side(part: str | None, name: str, names: set[str]) -> Side:
    said = (part or "").partition("_")[0] if part else read_name(name).side
    if said in ("left", "right"):
        return "left" if said == "left" else "right"
    start = name.rfind(":") + 1
    own = name[start : start + 1]
    other = {"L": "R", "R": "L"}.get(own)
    if part is None and other and name[:start] + other + name[start + 1 :] in names:
        return "left" if own == "L" else "right"
    return "middle"
