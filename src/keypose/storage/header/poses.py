"""Lossless coding of the reference pose, which usually has whole degrees."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.model import Pose, Skeleton
from keypose.rotations import AXES, IDENTITY, to_euler
from keypose.storage.header import cmu
from keypose.storage.header.coder import EVEN_START, RARE_START, Coder
from keypose.storage.header.numbers import code_decimals, code_number, code_raw_float
from keypose.storage.header.vectors import code_vectors

MAX_ANGLE_DECIMALS = 6  # of angles in degrees
Angles = tuple[float, ...]


def code_pose(c: Coder, skeleton: Skeleton, value: Pose | None) -> Pose:
    """Code a pose of the skeleton."""
    return Pose(_code_translations(c, skeleton, value), _code_rotations(c, skeleton, value))


def _code_translations(c: Coder, skeleton: Skeleton, value: Pose | None) -> Floats:
    """Code the translations: offsets, except for some joints such as the hips."""
    result = skeleton.offsets.copy()
    differs = None if value is None else (value.translations != skeleton.offsets).any(axis=1)
    moved_joints = []
    for j, parent in enumerate(skeleton.parents.tolist()):
        start = EVEN_START if parent < 0 else RARE_START
        if c.code_flag(("moved", parent < 0), None if differs is None else bool(differs[j]), start):
            moved_joints.append(j)
    rows = None if value is None else [tuple(row) for row in value.translations[moved_joints].tolist()]
    if moved_joints:
        result[moved_joints] = code_vectors(c, len(moved_joints), rows)
    return result


def _code_rotations(c: Coder, skeleton: Skeleton, value: Pose | None) -> Floats:
    """Code rotations as angles in degrees if these are exact, else as quaternions."""
    angles = None if value is None else exact_angles(value.rotations, skeleton.rotation_orders)
    if cmu.match_numbers(skeleton) is not None and c.code_flag(
        "usual turns", None if angles is None else angles == cmu.t_pose_degrees(), EVEN_START
    ):
        return rotations_from_degrees(cmu.t_pose_degrees(), skeleton.rotation_orders)
    n_decimals = code_decimals(c, None if angles is None else [x for row in angles if row is not None for x in row])
    result: list[Angles | None] = []
    quaternions: dict[int, Angles] = {}
    is_rotated = False
    for j in range(skeleton.n_joints):
        joint_angles = None if angles is None else angles[j]
        is_rotated = c.code_flag(
            ("turned", is_rotated), None if angles is None else joint_angles is None or any(joint_angles), EVEN_START
        )
        if not is_rotated:
            result.append((0.0, 0.0, 0.0))
        elif c.code_flag("as quaternion", None if angles is None else joint_angles is None):
            components = None if value is None else value.rotations[j].tolist()
            quaternions[j] = tuple(
                code_raw_float(c, "quaternion", None if components is None else components[k]) for k in range(4)
            )
            result.append(None)
        else:
            result.append(
                tuple(
                    code_number(c, ("angle", k), None if joint_angles is None else joint_angles[k], n_decimals)
                    for k in range(3)
                )
            )
    rotations = rotations_from_degrees(
        [(0.0, 0.0, 0.0) if row is None else row for row in result], skeleton.rotation_orders
    )
    for j, quaternion in quaternions.items():
        rotations[j] = quaternion
    return rotations


def exact_angles(rotations: Floats, orders: tuple[str, ...]) -> list[Angles | None]:
    """Return angles in degrees (J, 3) with the fewest decimals that give exactly ``rotations`` (J, 4); None: none."""
    unrounded = [np.rad2deg(to_euler(q, order)) for q, order in zip(rotations, orders, strict=True)]
    result: list[Angles | None] = [(0.0, 0.0, 0.0) if (q == IDENTITY).all() else None for q in rotations]
    for n_decimals in range(MAX_ANGLE_DECIMALS + 1):
        rounded: list[Angles] = [tuple((np.round(row, n_decimals) + 0.0).tolist()) for row in unrounded]
        same = (rotations_from_degrees(rounded, orders) == rotations).all(axis=1)
        for j in np.flatnonzero(same).tolist():
            result[j] = result[j] or rounded[j]
    return result


def rotations_from_degrees(angles: list[Angles], orders: tuple[str, ...]) -> Floats:
    """Return the rotations (J, 4) of angles in degrees (J, 3), computed as by the BVH reader."""
    joints = len(orders)
    columns = np.arange(3 * joints, dtype=np.int32).reshape(joints, 3)
    axes = np.array([[AXES.index(axis) for axis in order] for order in orders], np.int32)
    row = np.array(angles, np.float64).reshape(1, -1)
    _, rotations = _core.poses_from_channels(row, np.full_like(columns, -1), columns, axes, np.zeros((joints, 3)))
    return np.array(rotations[0])
