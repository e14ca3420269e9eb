"""The visible figure of a glTF file: a low-poly mannequin, each piece bound to one joint.

A tapered bone runs from each joint to each of its children and end sites, a ball sits on each joint.
Pieces are as thick as they are long, in proportion and within bounds; a head is round. Joints that hang
on nothing, as the markers of a C3D file, are small octahedra.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import Skeleton

SIDES = ("middle", "left", "right")

# Radii in parts of the bone's length and of the figure's size.
BONE_RADIUS_OF_LENGTH = 0.13
LEAST_RADIUS_OF_SIZE, MOST_RADIUS_OF_SIZE = 0.006, 0.032
MOST_RADIUS_OF_LENGTH = 0.35
HEAD_RADIUS_OF_LENGTH = 0.42
BALL_OF_BONE = 0.78
MARKER_OF_SIZE = 0.012
LEAST_LENGTH_OF_SIZE = 1e-4  # a shorter bone is not drawn

# Along a bone: where its rings are, and how thick it is there.
BONE_PROFILE = ((0.0, 0.45), (0.14, 1.0), (0.86, 0.62), (1.0, 0.34))
HEAD_PROFILE = ((0.0, 0.35), (0.12, 0.62), (0.38, 0.95), (0.66, 1.0), (0.88, 0.72), (1.0, 0.3))
RING_SIDES = 6


@dataclass(frozen=True)
class Figure:
    """A mesh in the bind pose; faces are flat, so each has its own vertices."""

    positions: Floats  # (V, 3) world, file units
    normals: Floats  # (V, 3)
    joints: Ints  # (V,) the one joint that each vertex follows
    triangles: dict[str, Ints]  # by side: (N, 3)


@dataclass(frozen=True)
class _Piece:
    """One piece of the figure: a shape from ``start`` to ``end``, bound to a joint."""

    shape: str
    joint: int
    start: Floats  # (3,)
    end: Floats  # (3,) for balls and markers: straight above the start
    radius: float


def build_figure(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> Figure:
    """The figure of a bind pose: joints at ``world`` (J, 3), end sites at ``ends`` (E, 3), ``size`` its height."""
    pieces = _pieces(skeleton, world, ends, size)
    positions, normals, joints, sides = [], [], [], []
    for shape, corners in SHAPES.items():
        own = [piece for piece in pieces if piece.shape == shape]
        if own:
            faces = _placed(corners, own)  # (pieces, faces, 4, 3)
            n_faces = faces.shape[1]
            flat = np.cross(faces[:, :, 1] - faces[:, :, 0], faces[:, :, 2] - faces[:, :, 0])
            flat /= np.linalg.norm(flat, axis=-1, keepdims=True)
            positions.append(faces.reshape(-1, 4, 3))
            normals.append(np.repeat(flat.reshape(-1, 1, 3), 4, axis=1))
            joints.append(np.repeat([piece.joint for piece in own], n_faces))
    joint_of_face = np.concatenate(joints)
    parts = skeleton.anatomy.parts
    sides = np.array([_side(part) for part in parts])[joint_of_face]
    corner = 4 * np.arange(len(joint_of_face))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return Figure(
        positions=np.concatenate(positions).reshape(-1, 3),
        normals=np.concatenate(normals).reshape(-1, 3),
        joints=np.repeat(joint_of_face, 4),
        triangles={side: corner[sides == side].reshape(-1, 3) for side in SIDES if (sides == side).any()},
    )


def _side(part: str | None) -> str:
    side = (part or "").split("_")[0]
    return side if side in SIDES else "middle"


def _pieces(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> list[_Piece]:
    parts = skeleton.anatomy.parts
    targets = [(p, world[j]) for j, p in enumerate(skeleton.parents.tolist()) if p >= 0]
    targets += list(zip(skeleton.end_joints.tolist(), ends, strict=True))
    below_hips = _strict_ancestors(skeleton, parts)
    pieces = []
    thickest = np.zeros(skeleton.n_joints)  # of the bones that start at each joint
    for joint, end in targets:
        length = float(np.linalg.norm(end - world[joint]))
        if length < LEAST_LENGTH_OF_SIZE * size or joint in below_hips:
            continue
        head = parts[joint] == "head"
        radius = HEAD_RADIUS_OF_LENGTH * length if head else _bone_radius(length, size)
        pieces.append(_Piece("head" if head else "bone", joint, world[joint], end, radius))
        thickest[joint] = max(thickest[joint], _bone_radius(length, size))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        up = world[joint] + (0.0, 1.0, 0.0)
        if thickest[joint] or (parent >= 0 and thickest[parent]):
            radius = BALL_OF_BONE * (thickest[joint] or 0.5 * thickest[parent])
            pieces.append(_Piece("ball", joint, world[joint], up, radius))
        elif joint not in below_hips:
            pieces.append(_Piece("marker", joint, world[joint], up, MARKER_OF_SIZE * size))
    return pieces


def _bone_radius(length: float, size: float) -> float:
    wanted = max(BONE_RADIUS_OF_LENGTH * length, LEAST_RADIUS_OF_SIZE * size)
    return min(wanted, MOST_RADIUS_OF_SIZE * size, MOST_RADIUS_OF_LENGTH * length)


def _strict_ancestors(skeleton: Skeleton, parts: tuple[str | None, ...]) -> set[int]:
    """The joints that the hips hang on: places of the figure in its scene, not limbs of its body."""
    if "hips" not in parts:
        return set()
    joint, found = parts.index("hips"), set()
    while (joint := int(skeleton.parents[joint])) >= 0:
        found.add(joint)
    return found


def _placed(corners: Floats, pieces: list[_Piece]) -> Floats:
    """The faces of a shape (N, 4, 3), y along the piece, brought to where the pieces are: (P, N, 4, 3)."""
    starts = np.array([piece.start for piece in pieces])
    along = np.array([piece.end for piece in pieces]) - starts
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    y = along / lengths
    # Any axis will do that is not along the piece; the one least along it keeps neighbours alike.
    least = np.eye(3)[np.argmin(np.abs(y), axis=1)]
    x = np.cross(y, least)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    z = np.cross(x, y)
    radii = np.array([[piece.radius] for piece in pieces])
    round_ = np.array([piece.shape in ("ball", "marker") for piece in pieces])[:, None]
    axes = np.stack((x * radii, y * np.where(round_, radii, lengths), z * radii), axis=1)  # (P, 3, 3) rows
    return starts[:, None, None] + np.einsum("nca,pad->pncd", corners, axes)


def _turned_profile(profile: tuple[tuple[float, float], ...]) -> Floats:
    """The faces of a profile of (place, radius) turned about the y axis, closed at both ends."""
    angles = 2.0 * np.pi * np.arange(RING_SIDES) / RING_SIDES
    circle = np.stack((np.cos(angles), np.zeros(RING_SIDES), -np.sin(angles)), axis=1)
    rings = [circle * radius + (0.0, y, 0.0) for y, radius in profile]
    faces = []
    for low, high in zip(rings[:-1], rings[1:], strict=True):
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
    return np.array(points) / np.hypot(1.0, golden)


SHAPES: dict[str, Floats] = {  # name: faces (N, 4, 3) of four corners, outside to the front; triangles repeat one
    "bone": _turned_profile(BONE_PROFILE),
    "head": _turned_profile(HEAD_PROFILE),
    "ball": _hull(_icosahedron()),
    "marker": _hull(np.concatenate((np.eye(3), -np.eye(3)))),
}
