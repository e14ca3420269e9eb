"""The visible figure of a glTF file: a low-poly mannequin, each piece bound to one joint.

A tapered bone runs from each joint to each of its children and end sites, a ball sits on each joint.
Pieces are as thick as they are long, in proportion and within bounds; a head is round. Joints that hang
on nothing, as the markers of a C3D file, are small octahedra.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import Skeleton

SIDES = ("middle", "left", "right")

# Radii in parts of the bone's length and of the figure's size.
BONE_RADIUS_OF_LENGTH = 0.13
LEAST_RADIUS_OF_SIZE, MOST_RADIUS_OF_SIZE = 0.011, 0.032
MOST_RADIUS_OF_LENGTH = 0.3  # so that fingers stay slender
HEAD_RADIUS_OF_LENGTH = 0.42
NECK_RADIUS_OF_SIZE = 0.02
TORSO_WIDTH_OF_SIZE, TORSO_DEPTH_OF_SIZE = 0.058, 0.038
PELVIS_RADIUS_OF_SIZE = 0.048
BALL_OF_BONE = 0.78
MARKER_OF_SIZE = 0.012
MOST_BONES = 2_000  # of more bones only the longest are drawn, and the joints that they start from
LEAST_SIZE = 1e-25  # what is smaller is drawn as a point is: the squares of its lengths would be nothing
LEAST_LENGTH_OF_SIZE = 1e-4  # a shorter bone is not drawn

# Along a piece: where its rings are, and how thick it is there.
BONE_PROFILE = ((0.0, 0.45), (0.14, 1.0), (0.86, 0.62), (1.0, 0.34))
TORSO_PROFILE = ((0.0, 0.72), (0.2, 0.95), (0.8, 1.0), (1.0, 0.78))
HEAD_PROFILE = ((0.0, 0.35), (0.12, 0.62), (0.38, 0.95), (0.66, 1.0), (0.88, 0.72), (1.0, 0.3))
RING_SIDES = 6


@dataclass(frozen=True)
class Figure:
    """A mesh in the bind pose; faces are flat, so each has its own vertices."""

    positions: Floats  # (V, 3) world, file units
    normals: Floats  # (V, 3)
    joints: Ints  # (V,) the one joint that each vertex follows
    triangles: dict[str, Ints]  # by side: (N, 3)


_Target = tuple[int, Floats, str | None]  # of a bone: the joint it starts from, where it ends (3,), the part there


@dataclass(frozen=True)
class _Piece:
    """One piece of the figure, bound to a joint: a shape between its ends, or about its start."""

    shape: str
    joint: int
    start: Floats  # (3,)
    along: Floats  # (3,) from the start to the end; for a shape about its start, of the length of its radius
    across: Floats  # (3,) roughly sideways, where width and depth differ
    width: float  # half of it
    depth: float


def build_figure(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> Figure:
    """The figure of a bind pose: joints at ``world`` (J, 3), end sites at ``ends`` (E, 3), ``size`` its height."""
    pieces = _pieces(skeleton, world, ends, size if size >= LEAST_SIZE else 1.0)
    placed, joint_of_face, has_four = [], [], []
    for shape, corners in SHAPES.items():
        own = [piece for piece in pieces if piece.shape == shape]
        if own:
            placed.append(_placed(corners, own).reshape(-1, 4, 3))
            joint_of_face.append(np.repeat([piece.joint for piece in own], len(corners)))
            has_four.append(np.tile((corners[:, 2] != corners[:, 3]).any(axis=1), len(own)))
    faces, joints, four = np.concatenate(placed), np.concatenate(joint_of_face), np.concatenate(has_four)
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    # Far from the origin a face may be rounded to nothing: it looks upward.
    normals = np.divide(normals, lengths, out=np.tile((0.0, 1.0, 0.0), (len(normals), 1)), where=lengths > 0)
    sides = np.array([_side(part) for part in skeleton.anatomy.parts])[joints]
    first = 4 * np.arange(len(faces))[:, None]
    halves = ((first + np.array((0, 1, 2)), np.ones_like(four)), (first + np.array((0, 2, 3)), four))
    return Figure(
        positions=faces.reshape(-1, 3),
        normals=np.repeat(normals, 4, axis=0),
        joints=np.repeat(joints, 4),
        triangles={
            side: np.concatenate([half[there & (sides == side)] for half, there in halves])
            for side in SIDES
            if (sides == side).any()
        },
    )


def _side(part: str | None) -> str:
    side = (part or "").split("_")[0]
    return side if side in SIDES else "middle"


def _pieces(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> list[_Piece]:
    parts = skeleton.anatomy.parts
    targets: list[_Target] = [(p, world[j], parts[j]) for j, p in enumerate(skeleton.parents.tolist()) if p >= 0]
    targets += [(j, end, None) for j, end in zip(skeleton.end_joints.tolist(), ends, strict=True)]
    if len(targets) > MOST_BONES:
        targets = _longest(targets, world)
    undrawn = _above_hips(skeleton, parts) | _in_head(skeleton, parts)
    crown = _crown(targets, world, parts)
    across = _sideways(world, parts)
    pieces = []
    thickest = np.zeros(skeleton.n_joints)  # of the bones that start at each joint
    for target, (joint, end, goal) in enumerate(targets):
        along = end - world[joint]
        length = float(np.linalg.norm(along))
        face = parts[joint] == "head" and target != crown
        if length < LEAST_LENGTH_OF_SIZE * size or joint in undrawn or face:
            continue
        shape, width, depth = _form(parts[joint], goal, length, size)
        pieces.append(_Piece(shape, joint, world[joint], along, across, width, depth))
        thickest[joint] = max(thickest[joint], _bone_radius(length, size))
    for joint in sorted(np.argsort(thickest == 0, kind="stable")[:MOST_BONES].tolist()):
        parent = int(skeleton.parents[joint])
        shape = "ball"
        if parts[joint] == "hips":
            radius = PELVIS_RADIUS_OF_SIZE * size
        elif thickest[joint] or (parent >= 0 and thickest[parent]):
            radius = BALL_OF_BONE * (thickest[joint] or 0.5 * thickest[parent])
        else:
            shape, radius = "marker", MARKER_OF_SIZE * size
        if joint not in undrawn:
            upward = np.array((0.0, radius, 0.0))
            pieces.append(_Piece(shape, joint, world[joint], upward, across, radius, radius))
    return pieces


def _longest(targets: list[_Target], world: Floats) -> list[_Target]:
    """The ``MOST_BONES`` bones that are seen best, in their order."""
    starts, ends = world[[joint for joint, _, _ in targets]], np.array([end for _, end, _ in targets])
    lengths = np.linalg.norm(ends - starts, axis=1)
    return [targets[k] for k in sorted(np.argsort(-lengths, kind="stable")[:MOST_BONES].tolist())]


def _form(part: str | None, goal: str | None, length: float, size: float) -> tuple[str, float, float]:
    """The shape of a bone from one body part to another, half its width and half its depth."""
    if part == "head":
        return "head", HEAD_RADIUS_OF_LENGTH * length, HEAD_RADIUS_OF_LENGTH * length
    if _in(part, "neck"):
        return "bone", NECK_RADIUS_OF_SIZE * size, NECK_RADIUS_OF_SIZE * size
    if _in(part, "hips", "spine", "chest") and _in(goal, "spine", "chest", "neck", "head"):
        return "torso", TORSO_WIDTH_OF_SIZE * size, TORSO_DEPTH_OF_SIZE * size
    radius = _bone_radius(length, size)
    return "bone", radius, radius


def _in(part: str | None, *kinds: str) -> bool:
    return part is not None and part.rstrip("0123456789") in kinds


def _bone_radius(length: float, size: float) -> float:
    wanted = max(BONE_RADIUS_OF_LENGTH * length, LEAST_RADIUS_OF_SIZE * size)
    return min(wanted, MOST_RADIUS_OF_SIZE * size, MOST_RADIUS_OF_LENGTH * length)


def _above_hips(skeleton: Skeleton, parts: tuple[str | None, ...]) -> set[int]:
    """The joints that the hips hang on: places of the figure in its scene, not limbs of its body."""
    if "hips" not in parts:
        return set()
    joint, found = parts.index("hips"), set()
    while (joint := int(skeleton.parents[joint])) >= 0:
        found.add(joint)
    return found


def _in_head(skeleton: Skeleton, parts: tuple[str | None, ...]) -> set[int]:
    """The joints of face and hair, which would make the head a hedgehog."""
    found: set[int] = set()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0 and (parts[parent] == "head" or parent in found):
            found.add(joint)
    return found


def _crown(targets: list[_Target], world: Floats, parts: tuple[str | None, ...]) -> int | None:
    """Of all that hangs on the head, the number of the farthest target: that is how tall the head is."""
    of_head = [k for k, (joint, _, _) in enumerate(targets) if parts[joint] == "head"]
    return max(of_head, key=lambda k: float(np.linalg.norm(targets[k][1] - world[targets[k][0]])), default=None)


def _sideways(world: Floats, parts: tuple[str | None, ...]) -> Floats:
    """From the right to the left of the body, as far as its parts are known; else any direction."""
    for part in ("thigh", "upper_arm"):
        if f"left_{part}" in parts and f"right_{part}" in parts:
            across: Floats = world[parts.index(f"left_{part}")] - world[parts.index(f"right_{part}")]
            if across.any():
                return np.asarray(across / np.linalg.norm(across))
    return np.array((1.0, 0.0, 0.0))


def _placed(corners: Floats, pieces: list[_Piece]) -> Floats:
    """The faces of a shape (N, 4, 3), y along the piece and x across, brought to where the pieces are: (P, N, 4, 3)."""
    along = np.array([piece.along for piece in pieces])
    y = along / np.linalg.norm(along, axis=1, keepdims=True)
    across = np.array([piece.across for piece in pieces])
    # What runs sideways itself takes the axis least along it for its own sideways.
    lengthwise = np.abs(np.einsum("pa,pa->p", across, y))[:, None] > 0.9
    across = np.where(lengthwise, np.eye(3)[np.argmin(np.abs(y), axis=1)], across)
    z = np.cross(across, y)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    x = np.cross(y, z)
    widths, depths = (np.array([[p.width] for p in pieces]), np.array([[p.depth] for p in pieces]))
    axes = np.stack((x * widths, along, z * depths), axis=1)  # (P, 3, 3) rows
    starts = np.array([piece.start for piece in pieces])
    faces: Floats = starts[:, None, None] + np.einsum("nca,pad->pncd", corners, axes)
    return faces


def _turned_profile(profile: tuple[tuple[float, float], ...]) -> Floats:
    """The faces of a profile of (place, radius) turned about the y axis, closed at both ends."""
    angles = 2.0 * np.pi * np.arange(RING_SIDES) / RING_SIDES
    circle = np.stack((np.cos(angles), np.zeros(RING_SIDES), -np.sin(angles)), axis=1)
    rings = [circle * radius + (0.0, y, 0.0) for y, radius in profile]
    faces = []
    for low, high in pairwise(rings):
        faces += [(low[k], low[k - RING_SIDES + 1], high[k - RING_SIDES + 1], high[k]) for k in range(RING_SIDES)]
    for ring, y, step in ((rings[0], profile[0][0], -1), (rings[-1], profile[-1][0], 1)):
        centre = np.array((0.0, y, 0.0))
        for k in range(RING_SIDES):
            pair = (ring[k], ring[k - RING_SIDES + 1])[::step]
            faces.append((*pair, centre, centre))
    return np.array(faces)


def _hull(points: Floats) -> Floats:
    """The triangles of a regular solid about the origin, given by its corners (N, 3)."""
    edge = np.sort(np.linalg.norm(points - points[0], axis=1))[1] * 1.01
    n = len(points)
    faces = []
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                corners = points[[a, b, c]]
                if max(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)) < edge:
                    outward = np.cross(corners[1] - corners[0], corners[2] - corners[0]) @ corners[0] > 0
                    faces.append(corners[[0, 1, 2, 2] if outward else [0, 2, 1, 1]])
    return np.array(faces)


def _icosahedron() -> Floats:
    golden = (1.0 + 5.0**0.5) / 2.0
    points = [np.roll((0.0, a, b), k) for k in range(3) for a in (-1.0, 1.0) for b in (-golden, golden)]
    corners: Floats = np.array(points) / np.hypot(1.0, golden)
    return corners


SHAPES: dict[str, Floats] = {  # name: faces (N, 4, 3) of four corners, outside to the front; triangles repeat one
    "bone": _turned_profile(BONE_PROFILE),
    "torso": _turned_profile(TORSO_PROFILE),
    "head": _turned_profile(HEAD_PROFILE),
    "ball": _hull(_icosahedron()),
    "marker": _hull(np.concatenate((np.eye(3), -np.eye(3)))),
}
