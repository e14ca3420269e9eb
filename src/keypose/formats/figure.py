"""A mesh for the skeleton, for formats with viewers that display only meshes: a low-poly mannequin and its bind
pose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Ints
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY

SIDES = ("middle", "left", "right")
# sRGB, also of strips and of the web pages. Left is warm and dark, right cold and light, so that the sides differ for
# the colour-blind and in greyscale.
SIDE_COLOURS = {"middle": "#868e96", "left": "#d9480f", "right": "#4dabf7"}
ROUGHNESS = 0.6  # of the materials with these colours

# Radii as fractions of the bone's length and of the figure's size.
BONE_RADIUS_OF_LENGTH = 0.13
MIN_RADIUS_OF_SIZE, MAX_RADIUS_OF_SIZE = 0.011, 0.032
MAX_RADIUS_OF_LENGTH = 0.3  # so that fingers stay slender
HEAD_RADIUS_OF_LENGTH = 0.42
HEAD_OF_SIZE, MIN_HEAD_OF_SIZE = 0.12, 0.02  # from its joint: of a head without a crown; the crown is further away
NECK_RADIUS_OF_SIZE = 0.02
TORSO_WIDTH_OF_SIZE, TORSO_DEPTH_OF_SIZE = 0.058, 0.038
PELVIS_RADIUS_OF_SIZE = 0.048
BALL_OF_BONE = 0.78
MARKER_OF_SIZE = 0.012
MAX_BONES = 2_000  # if there are more, only the longest are drawn, and the joints at which they start
MIN_SIZE = 1e-25  # a smaller figure is drawn like a point, as the squares of its lengths would be 0
MIN_LENGTH_OF_SIZE = 1e-4  # a shorter bone is not drawn

# (position along the piece, radius) of the rings of each shape.
BONE_PROFILE = ((0.0, 0.45), (0.14, 1.0), (0.86, 0.62), (1.0, 0.34))
TORSO_PROFILE = ((0.0, 0.72), (0.2, 0.95), (0.8, 1.0), (1.0, 0.78))
HEAD_PROFILE = ((0.0, 0.35), (0.12, 0.62), (0.38, 0.95), (0.66, 1.0), (0.88, 0.72), (1.0, 0.3))
RING_SIDES = 6
_Target = tuple[int, Floats, str | None]  # of a bone: start joint, end position (3,), body part at the end

SAMPLED_FRAMES = 64
SAME_POSITION_OF_HEIGHT = 1e-4  # a joint nearer to its offset is at its offset


@dataclass(frozen=True)
class Figure:
    """A mesh in the bind pose; faces are flat, so each has separate vertices."""

    positions: Floats  # (V, 3) world, file units
    normals: Floats  # (V, 3)
    joints: Ints  # (V,) the one joint that each vertex follows
    triangles: dict[str, Ints]  # by side: (N, 3)


@dataclass(frozen=True)
class _Piece:
    """One piece of the figure, bound to a joint: a shape between two points or around one."""

    shape: str
    joint: int
    start: Floats  # (3,)
    along: Floats  # (3,) from the start to the end; for a shape around its start, a vector as long as its radius
    across: Floats  # (3,) roughly sideways, for shapes with different width and depth
    width: float  # half of it
    depth: float  # half of it


def linear_colour(colour: str) -> tuple[float, float, float]:
    """Return the linear red, green and blue, as 3D formats store them, of an sRGB colour such as ``#d9480f``."""
    red, green, blue = (_linear(int(colour[k : k + 2], 16) / 255.0) for k in (1, 3, 5))
    return red, green, blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def build_figure(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> Figure:
    """Build the figure of a bind pose: joints at ``world`` (J, 3), end sites at ``ends`` (E, 3), height ``size``."""
    pieces = _build_pieces(skeleton, world, ends, size if size >= MIN_SIZE else 1.0)
    face_blocks, joint_of_face, has_four = [], [], []
    for shape, corners in SHAPES.items():
        shape_pieces = [piece for piece in pieces if piece.shape == shape]
        if shape_pieces:
            face_blocks.append(_place_faces(corners, shape_pieces).reshape(-1, 4, 3))
            joint_of_face.append(np.repeat([piece.joint for piece in shape_pieces], len(corners)))
            has_four.append(np.tile((corners[:, 2] != corners[:, 3]).any(axis=1), len(shape_pieces)))
    faces, joints, four = np.concatenate(face_blocks), np.concatenate(joint_of_face), np.concatenate(has_four)
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    # Far from the origin a face may be rounded to a line; its normal is then upward.
    normals = np.divide(normals, lengths, out=np.tile((0.0, 1.0, 0.0), (len(normals), 1)), where=lengths > 0)
    sides = np.array([_side(body_part) for body_part in skeleton.anatomy.body_parts])[joints]
    first = 4 * np.arange(len(faces))[:, None]
    halves = ((first + np.array((0, 1, 2)), np.ones_like(four)), (first + np.array((0, 2, 3)), four))
    return Figure(
        positions=faces.reshape(-1, 3),
        normals=np.repeat(normals, 4, axis=0),
        joints=np.repeat(joints, 4),
        triangles={
            side: np.concatenate([half[is_present & (sides == side)] for half, is_present in halves])
            for side in SIDES
            if (sides == side).any()
        },
    )


def _side(body_part: str | None) -> str:
    side = (body_part or "").split("_")[0]
    return side if side in SIDES else "middle"


def _build_pieces(skeleton: Skeleton, world: Floats, ends: Floats, size: float) -> list[_Piece]:
    body_parts = skeleton.anatomy.body_parts
    targets: list[_Target] = [(p, world[j], body_parts[j]) for j, p in enumerate(skeleton.parents.tolist()) if p >= 0]
    targets += [(j, end, None) for j, end in zip(skeleton.end_joints.tolist(), ends, strict=True)]
    if len(targets) > MAX_BONES:
        targets = _select_longest(targets, world)
    targets += _missing_crown(skeleton, targets, world, size)
    hidden = _above_hips(skeleton, body_parts) | _in_head(skeleton, body_parts)
    crown = _crown(targets, world, body_parts)
    across = _sideways(world, body_parts)
    pieces = []
    max_radii = np.zeros(skeleton.n_joints)  # of the bones that start at each joint
    for target, (joint, end, goal) in enumerate(targets):
        along = end - world[joint]
        length = float(np.linalg.norm(along))
        face = body_parts[joint] == "head" and target != crown
        if length < MIN_LENGTH_OF_SIZE * size or joint in hidden or face:
            continue
        shape, width, depth = _bone_shape(body_parts[joint], goal, length, size)
        pieces.append(_Piece(shape, joint, world[joint], along, across, width, depth))
        max_radii[joint] = max(max_radii[joint], _bone_radius(length, size))
    for joint in sorted(np.argsort(max_radii == 0, kind="stable")[:MAX_BONES].tolist()):
        parent = int(skeleton.parents[joint])
        shape = "ball"
        if body_parts[joint] == "hips":
            radius = PELVIS_RADIUS_OF_SIZE * size
        elif max_radii[joint] or (parent >= 0 and max_radii[parent]):
            radius = BALL_OF_BONE * (max_radii[joint] or 0.5 * max_radii[parent])
        else:
            shape, radius = "marker", MARKER_OF_SIZE * size
        if joint not in hidden:
            upward = np.array((0.0, radius, 0.0))
            pieces.append(_Piece(shape, joint, world[joint], upward, across, radius, radius))
    return pieces


def _select_longest(targets: list[_Target], world: Floats) -> list[_Target]:
    """Return the ``MAX_BONES`` longest bones, in their order."""
    starts, ends = world[[joint for joint, _, _ in targets]], np.array([end for _, end, _ in targets])
    lengths = np.linalg.norm(ends - starts, axis=1)
    return [targets[k] for k in sorted(np.argsort(-lengths, kind="stable")[:MAX_BONES].tolist())]


def _bone_shape(body_part: str | None, goal: str | None, length: float, size: float) -> tuple[str, float, float]:
    """Return the shape of a bone from one body part to another, half its width and half its depth."""
    if body_part == "head":
        return "head", HEAD_RADIUS_OF_LENGTH * length, HEAD_RADIUS_OF_LENGTH * length
    if _is_kind(body_part, "neck"):
        return "bone", NECK_RADIUS_OF_SIZE * size, NECK_RADIUS_OF_SIZE * size
    if _is_kind(body_part, "hips", "spine", "chest") and _is_kind(goal, "spine", "chest", "neck", "head"):
        return "torso", TORSO_WIDTH_OF_SIZE * size, TORSO_DEPTH_OF_SIZE * size
    radius = _bone_radius(length, size)
    return "bone", radius, radius


def _is_kind(body_part: str | None, *kinds: str) -> bool:
    return body_part is not None and body_part.rstrip("0123456789") in kinds


def _bone_radius(length: float, size: float) -> float:
    radius = max(BONE_RADIUS_OF_LENGTH * length, MIN_RADIUS_OF_SIZE * size)
    return min(radius, MAX_RADIUS_OF_SIZE * size, MAX_RADIUS_OF_LENGTH * length)


def _above_hips(skeleton: Skeleton, body_parts: tuple[str | None, ...]) -> set[int]:
    """Return the ancestors of the hips, which position the figure in its scene and are no limbs."""
    if "hips" not in body_parts:
        return set()
    joint, ancestors = body_parts.index("hips"), set()
    while (joint := int(skeleton.parents[joint])) >= 0:
        ancestors.add(joint)
    return ancestors


def _in_head(skeleton: Skeleton, body_parts: tuple[str | None, ...]) -> set[int]:
    """Return the joints of face and hair, which are not drawn."""
    joints: set[int] = set()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0 and (body_parts[parent] == "head" or parent in joints):
            joints.add(joint)
    return joints


def _missing_crown(skeleton: Skeleton, targets: list[_Target], world: Floats, size: float) -> list[_Target]:
    """Return a bone that continues the neck, if no bone shows the size of the head; else nothing."""
    crown = _crown(targets, world, skeleton.anatomy.body_parts)
    joint = skeleton.anatomy.body_parts.index("head") if "head" in skeleton.anatomy.body_parts else -1
    if joint < 0 or skeleton.parents[joint] < 0:
        return []
    if crown is not None and np.linalg.norm(targets[crown][1] - world[joint]) > MIN_HEAD_OF_SIZE * size:
        return []
    neck = world[joint] - world[skeleton.parents[joint]]
    length = float(np.linalg.norm(neck))
    return [(joint, world[joint] + HEAD_OF_SIZE * size / length * neck, None)] if length > 0 else []


def _crown(targets: list[_Target], world: Floats, body_parts: tuple[str | None, ...]) -> int | None:
    """Return the index of the target farthest from the head joint, the crown of the head."""
    of_head = [k for k, (joint, _, _) in enumerate(targets) if body_parts[joint] == "head"]
    return max(of_head, key=lambda k: float(np.linalg.norm(targets[k][1] - world[targets[k][0]])), default=None)


def _sideways(world: Floats, body_parts: tuple[str | None, ...]) -> Floats:
    """Return the direction (3,) from right to left of the body if its parts are known, else X."""
    for limb in ("thigh", "upper_arm"):
        if f"left_{limb}" in body_parts and f"right_{limb}" in body_parts:
            across: Floats = world[body_parts.index(f"left_{limb}")] - world[body_parts.index(f"right_{limb}")]
            if across.any():
                return np.asarray(across / np.linalg.norm(across))
    return np.array((1.0, 0.0, 0.0))


def _place_faces(corners: Floats, pieces: list[_Piece]) -> Floats:
    """Return the faces (N, 4, 3) of a shape, y along the piece and x across, placed at each piece: (P, N, 4, 3)."""
    along = np.array([piece.along for piece in pieces])
    y = along / np.linalg.norm(along, axis=1, keepdims=True)
    across = np.array([piece.across for piece in pieces])
    # For a piece along the sideways direction, "across" is the coordinate axis with the smallest component along it.
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


def _revolve_profile(profile: tuple[tuple[float, float], ...]) -> Floats:
    """Return the faces of a profile of (position, radius) revolved about the y axis, closed at both ends."""
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
    """Return the triangles of a regular solid around the origin with these corners (N, 3)."""
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
    "bone": _revolve_profile(BONE_PROFILE),
    "torso": _revolve_profile(TORSO_PROFILE),
    "head": _revolve_profile(HEAD_PROFILE),
    "ball": _hull(_icosahedron()),
    "marker": _hull(np.concatenate((np.eye(3), -np.eye(3)))),
}


def bind_pose(motion: Motion) -> Pose:
    """Return the reference pose if there is one, else the rest pose if that is one upright figure, else frame 0."""
    s = motion.skeleton
    if motion.reference_pose is not None:
        return motion.reference_pose
    if len(s.roots) > 1 or not s.is_upright(motion.up):
        return Pose(motion.translations[0], motion.rotations[0])
    first = Pose(motion.translations[0], motion.rotations[0])
    sampled = motion.translations[:: max(1, motion.n_frames // SAMPLED_FRAMES)]
    median = np.median(sampled, axis=0)
    # Position channels may move a joint away from its offset; the bones of the figure are at the joints.
    is_displaced = np.abs(median - s.offsets).max(axis=1, keepdims=True) > SAME_POSITION_OF_HEIGHT * motion.height
    translations = np.where(is_displaced, median, s.offsets)
    translations[0] = first.translations[0]
    rest = Pose(translations, np.tile(IDENTITY, (s.n_joints, 1)))
    # The figure is at the position and height of frame 0.
    axis, sign = kinematics.up_axis(motion.up)
    lift = _min_height(s, first, motion.up) - _min_height(s, rest, motion.up)
    translations[0, axis] += sign * lift
    return Pose(translations, rest.rotations)


def world_pose(skeleton: Skeleton, pose: Pose) -> tuple[Floats, Floats, Floats]:
    """Return world positions (J, 3), rotations (J, 4) and end sites (E, 3) of one pose."""
    world, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    ends = kinematics.end_positions(world, rotations, skeleton.end_joints, skeleton.end_offsets)
    return world[0], rotations[0], ends[0]


def _min_height(skeleton: Skeleton, pose: Pose, up: kinematics.Up) -> float:
    world, _, ends = world_pose(skeleton, pose)
    return float(kinematics.heights_above(np.concatenate((world, ends)), up).min())
