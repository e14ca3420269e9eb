"""Lossless coding of a skeleton, as a CMU skeleton or joint by joint, and of the reference pose."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.limits import Limits
from keypose.model import Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import AXES, IDENTITY, ORDERS, to_euler
from keypose.storage.groups import CodingError
from keypose.storage.header import cmu
from keypose.storage.header.coder import EVEN_START, RARE_START, Coder, LimitExceeded
from keypose.storage.header.names import code_joint_names
from keypose.storage.header.numbers import Vector, code_decimals, code_number, code_raw_float, code_vectors

CHANNELS = POSITION_CHANNELS + ROTATION_CHANNELS
LISTED_CHANNELS = 3  # codes 0 to 2 are the common channels; others are listed

MAX_ANGLE_DECIMALS = 6  # of angles in degrees
Angles = tuple[float, ...]


def code_skeleton(c: Coder, value: Skeleton | None, limits: Limits) -> Skeleton:
    """Code a skeleton with all its fields; for the limits, end sites are joints."""
    numbers = None if value is None else cmu.match_numbers(value)
    if c.code_flag("usual skeleton", None if value is None else numbers is not None, EVEN_START):
        return cmu.build_skeleton(cmu.code_numbers(c, numbers))
    n = c.code_natural("joints", None if value is None else value.n_joints - 1) + 1
    if n > limits.joints:
        raise LimitExceeded(n, "joints")
    names, parents = code_joint_names(
        c, n, None if value is None else value.names, None if value is None else value.parents.tolist()
    )
    _check_depth(parents, limits.depth)
    orders, channels = _code_orders_and_channels(c, n, parents, value)
    end_joints = _code_end_joints(c, parents, None if value is None else value.end_joints.tolist(), limits.joints)
    offsets = code_vectors(c, n + len(end_joints), None if value is None else _vectors(value))
    return Skeleton(
        tuple(names),
        np.array(parents, np.int32),
        np.array(offsets[:n]),
        tuple(orders),
        tuple(channels),
        end_joints=np.array(end_joints, np.int32),
        end_offsets=np.array(offsets[n:]).reshape(-1, 3),
    )


def _check_depth(parents: list[int], max_depth: int) -> None:
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    if max(depths) > max_depth:
        raise LimitExceeded(max(depths), "levels of joints (depth)")


def _vectors(s: Skeleton) -> list[Vector]:
    return [tuple(vector) for vector in s.offsets.tolist() + s.end_offsets.tolist()]


def _code_orders_and_channels(
    c: Coder, count: int, parents: list[int], value: Skeleton | None
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Code the rotation order and the channels of each joint."""
    orders: list[str] = []
    channels: list[tuple[str, ...]] = []
    channels_code = 0
    for j in range(count):
        order = None if value is None else value.rotation_orders[j]
        same = j > 0 and not c.code_flag("other order", None if order is None else order != orders[-1])
        orders.append(orders[-1] if same else _code_order(c, order))
        common = _common_channels(orders[-1])
        joint_channels = None if value is None else value.channels[j]
        kind = (
            None
            if joint_channels is None
            else common.index(joint_channels)
            if joint_channels in common
            else LISTED_CHANNELS
        )
        channels_code = c.code_symbol(("channels", parents[j] < 0, channels_code), 2, kind)
        channels.append(
            common[channels_code] if channels_code < LISTED_CHANNELS else _code_listed_channels(c, joint_channels)
        )
    return orders, channels


def _code_order(c: Coder, order: str | None) -> str:
    code = c.code_symbol("order", 3, None if order is None else ORDERS.index(order))
    if code >= len(ORDERS):
        raise CodingError(f"rotation order {code} of {len(ORDERS)}")
    return ORDERS[code]


def _common_channels(order: str) -> tuple[tuple[str, ...], ...]:
    """Return the common channels: three rotations; three positions and three rotations; none."""
    rotation_channels = tuple(f"{axis}rotation" for axis in order)
    return rotation_channels, POSITION_CHANNELS + rotation_channels, ()


def _code_listed_channels(c: Coder, channels: tuple[str, ...] | None) -> tuple[str, ...]:
    count = c.code_symbol("channels", 3, None if channels is None else len(channels))
    codes = [
        c.code_symbol("channel", 3, None if channels is None else CHANNELS.index(channels[k])) for k in range(count)
    ]
    if any(channel >= len(CHANNELS) for channel in codes):
        raise CodingError(f"a channel beyond {len(CHANNELS)}")
    return tuple(CHANNELS[channel] for channel in codes)


def _code_end_joints(c: Coder, parents: list[int], end_joints: list[int] | None, max_joints: int) -> list[int]:
    """Code the joint of each end site; by default each joint without children has one."""
    if c.code_flag("end sites in another order", None if end_joints is None else end_joints != sorted(end_joints)):
        return _code_listed_end_joints(c, len(parents), end_joints, max_joints)
    with_children = set(parents)
    counts = None if end_joints is None else np.bincount(np.array(end_joints, int), minlength=len(parents)).tolist()
    result: list[int] = []
    for j in range(len(parents)):
        default = int(j not in with_children)
        count = default
        if c.code_flag(("other end sites", default), None if counts is None else counts[j] != default):
            count = c.code_natural("end sites", None if counts is None else counts[j])
        if len(parents) + len(result) + count > max_joints:
            raise LimitExceeded(len(parents) + len(result) + count, "joints")
        result += [j] * count
    return result


def _code_listed_end_joints(c: Coder, n_joints: int, end_joints: list[int] | None, max_joints: int) -> list[int]:
    count = c.code_natural("end sites", None if end_joints is None else len(end_joints))
    if n_joints + count > max_joints:
        raise LimitExceeded(n_joints + count, "joints")
    return [c.code_plain(n_joints.bit_length(), None if end_joints is None else end_joints[k]) for k in range(count)]


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
    """Code rotations as angles in degrees if that is exact, else as quaternions."""
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
