"""A figure at rest as Blender wants it: bones with heads, tails and rolls, Z up, and a body to look at.

A bone's channels are relative to the axes in which it rests. Bones that run along limbs, as an animator expects
them, have axes of their own; quaternion curves only change by a linear map. Euler angles stay the joints' own only
in the joints' own axes, so bones with angles rest in these, all upright, and are drawn along their limbs by a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats
from keypose.formats.child import Arrays
from keypose.formats.figure.bind import bind_pose, placed
from keypose.formats.figure.mesh import SIDES, Figure, build_figure
from keypose.formats.orientation import UPRIGHT
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, from_matrix, multiply, rotate, to_matrix

LEAST_BONE_OF_SIZE = 1e-3  # a child that is nearer is at the same place
SHORT_BONE_OF_SIZE = 0.04  # of a joint with nothing to point at
TIP_OF_BONE = 0.5  # of a last joint without an end site: so much of the bone before it
MOST_TIP_OF_SIZE = 0.1


@dataclass(frozen=True)
class Rig:
    """A skeleton at rest in Blender's world, Z up."""

    skeleton: Skeleton
    rest: Pose  # the pose in which its bones rest, in the file's axes and unit
    scale: float  # Blender's units per file unit
    turns: Floats  # (J, 4) of the joints at rest
    heads: Floats  # (J, 3)
    tails: Floats  # (J, 3)
    normals: Floats  # (J, 3) the third axis of each bone
    limbs: Floats  # (J, 3) from each joint to the end of its limb: where the bone runs, if it runs along limbs
    body: Figure  # in Blender's world

    @property
    def sides(self) -> list[str]:
        """Which side of the body each joint is on."""
        return [_side(part) for part in self.skeleton.anatomy.parts]

    def arrays(self) -> Arrays:
        """What the script in the child needs to build it."""
        triangles = self.body.triangles
        materials = [np.full(len(own), k) for k, own in enumerate(triangles.values())]
        return {
            "heads": self.heads,
            "tails": self.tails,
            "normals": self.normals,
            "limbs": self.limbs,
            "turns": self.turns,
            "rest_turns": self.rest.rotations,
            "rest_places": self.rest.translations * self.scale,
            "corners": self.body.positions,
            "joint_of_corner": self.body.joints,
            "triangles": np.concatenate(list(triangles.values())),
            "material_of_triangle": np.concatenate(materials),
        }


def make_rig(motion: Motion, scale: float, *, along_limbs: bool, keep_angles: bool = False) -> Rig:
    """The rig of a motion at ``scale``; ``keep_angles``: joints rest unturned, so that angles stay what they are."""
    rest = _unturned(motion) if keep_angles else bind_pose(motion)
    s = motion.skeleton
    to_blender = upright(motion.up)
    world, turns, ends = placed(s, rest)
    size = (motion.height or float(np.ptp(np.concatenate((world, ends)), axis=0).max()) or 1.0 / scale) * scale
    body = build_figure(s, world, ends, size / scale)
    turns = multiply(to_blender, turns)
    heads, ends = rotate(to_blender, world) * scale, rotate(to_blender, ends) * scale
    limbs = _limbs(s, heads, ends, size)
    if along_limbs:
        axes, normals = limbs, _normals(limbs)
    else:
        lengths = np.linalg.norm(limbs, axis=1, keepdims=True)
        axes, normals = rotate(turns, np.array((0.0, 1.0, 0.0))) * lengths, rotate(turns, np.array((0.0, 0.0, 1.0)))
    return Rig(
        skeleton=s,
        rest=rest,
        scale=scale,
        turns=turns,
        heads=heads,
        tails=heads + axes,
        normals=normals,
        limbs=limbs,
        body=replace(body, positions=rotate(to_blender, body.positions) * scale),
    )


def upright(up: Up) -> Floats:
    """The turn (4,) that brings ``up`` to Blender's Z; what faces Z when Y is up faces Blender's front."""
    to_y, to_z = (np.rint(to_matrix(np.array(q))) for q in (UPRIGHT[up], UPRIGHT["-Z"]))
    return from_matrix(to_z @ to_y)


def _unturned(motion: Motion) -> Pose:
    """The pose with every rotation the identity, where the figure stands."""
    bind = bind_pose(replace(motion, reference_pose=None))
    return Pose(bind.translations, np.tile(IDENTITY, (motion.n_joints, 1)))


def _side(part: str | None) -> str:
    side = (part or "").split("_")[0]
    return side if side in SIDES else "middle"


def _limbs(skeleton: Skeleton, heads: Floats, ends: Floats, size: float) -> Floats:
    """From each joint (J, 3) to the joint or end site that its bone points at."""
    sides = [_side(part) for part in skeleton.anatomy.parts]
    targets: list[list[tuple[str, Floats]]] = [[] for _ in heads]
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            targets[parent].append((sides[j], heads[j] - heads[parent]))
    leaf = [not own for own in targets]
    for j, end in zip(skeleton.end_joints.tolist(), ends, strict=True):
        if leaf[j]:
            targets[j].append((sides[j], end - heads[j]))
    limbs = np.zeros(heads.shape)
    for j, parent in enumerate(skeleton.parents.tolist()):
        far = [(side, v) for side, v in targets[j] if np.linalg.norm(v) > LEAST_BONE_OF_SIZE * size]
        found = _towards(far, LEAST_BONE_OF_SIZE * size)
        limbs[j] = found if found is not None else _tip(limbs[parent] if parent >= 0 else None, leaf[j], size)
    return limbs


def _towards(targets: Sequence[tuple[str, Floats]], least: float) -> Floats | None:
    """Up the middle of the body where limbs branch off to both sides; else to the middle of all."""
    if not targets:
        return None
    middle = [v for side, v in targets if side == "middle"]
    if len(middle) == 1:
        return middle[0]
    mean = np.mean([v for _, v in targets], axis=0)
    return mean if np.linalg.norm(mean) > least else targets[0][1]


def _tip(before: Floats | None, is_leaf: bool, size: float) -> Floats:
    """Of a joint with nothing to point at: on from the bone before it, a root's upward."""
    if before is None:
        return np.array((0.0, 0.0, SHORT_BONE_OF_SIZE * size))
    length = float(np.linalg.norm(before))
    wanted = min(TIP_OF_BONE * length, MOST_TIP_OF_SIZE * size) if is_leaf else min(length, SHORT_BONE_OF_SIZE * size)
    return before / length * wanted


def _normals(axes: Floats) -> Floats:
    """The third axes (J, 3) of bones along ``axes``: the first is sideways, or the third upward."""
    y = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    z = np.cross((1.0, 0.0, 0.0), y)
    sideways = np.linalg.norm(z, axis=1, keepdims=True) < 0.5
    z = np.where(sideways, np.array((0.0, 0.0, 1.0)) - y[:, 2:] * y, z)
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))
