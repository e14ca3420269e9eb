"""Lossless coding of a skeleton: as a CMU skeleton, or joint by joint."""

from __future__ import annotations

import numpy as np

from keypose.limits import Limits
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import ORDERS
from keypose.storage.groups import CodingError
from keypose.storage.header import cmu
from keypose.storage.header.coder import EVEN_START, Coder, LimitExceeded
from keypose.storage.header.names import code_joint_names
from keypose.storage.header.vectors import Vector, code_vectors

CHANNELS = POSITION_CHANNELS + ROTATION_CHANNELS
LISTED_CHANNELS = 3  # codes 0 to 2 are the common channels; others are listed


def code_skeleton(c: Coder, value: Skeleton | None, limits: Limits) -> Skeleton:
    """Code a skeleton with all its fields; end sites count as joints in the limits."""
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
